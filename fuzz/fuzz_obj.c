/* libFuzzer: any bytes as a OBJ file, then its convex hull. */
#define FUZZ_BEFORE_NUMBER " /"
#include "fuzz_mesh.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mesh_fuzz("obj", bytes, size);
    return 0;
}
