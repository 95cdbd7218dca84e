#include "rattleback/base.h"

uint64_t rb_hash(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++) seed = (seed ^ b[i]) * UINT64_C(0x100000001b3);
    return seed;
}
