/* libFuzzer: any bytes as one line of a lcp file. */
#include "fuzz_common.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_line(RB_FORMAT_LCP, bytes, size, 1e-9);
    return 0;
}
