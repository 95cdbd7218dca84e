/* libFuzzer: any bytes as a STL file, then its convex hull. */
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mesh_fuzz("stl", bytes, size);
    return 0;
}
