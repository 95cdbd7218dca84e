/* A mutator that knows numbers. Bytes flipped at random hardly ever leave valid JSON behind, so
 * that the solvers would see little; every second mutation replaces one number token by another
 * one. */
#ifndef RATTLEBACK_FUZZ_MUTATE_H
#define RATTLEBACK_FUZZ_MUTATE_H

#include <stdio.h>
#include <string.h>

#include "rattleback/base.h"

/* What may stand in front of a number. */
#ifndef FUZZ_BEFORE_NUMBER
#define FUZZ_BEFORE_NUMBER "[,: "
#endif

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

static inline int in_number(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* Where number token `wanted` begins and ends; returns how many tokens there are up to it. A token
 * begins behind a bracket, comma, colon or space, so that letters in keys are left alone. */
static inline int find_number(const uint8_t *bytes, size_t size, int wanted, size_t *begin,
                              size_t *end)
{
    int count = 0;
    for (size_t k = 1; k < size && count <= wanted; k++) {
        int starts = (bytes[k] >= '0' && bytes[k] <= '9') || bytes[k] == '-';
        if (!starts || !strchr(FUZZ_BEFORE_NUMBER, bytes[k - 1]) || !bytes[k - 1]) continue;
        *begin = k;
        while (k < size && in_number(bytes[k])) k++;
        *end = k;
        count++;
    }
    return count;
}

/* Numbers at which something changes: zeros, extremes, near ties, else any of modest size. */
static inline int make_number(rb_rng *rng, char *text, size_t room)
{
    static const char *const special[] = {
        "0",      "1",      "-1",     "1e-16",  "1.0000000000000002",
        "1e308",  "1e-308", "5e-324", "-1e308", "1e154",
        "-1e-17", "1e17",   "2",      "0.5",    "-0.5"
    };
    enum { NSPECIAL = sizeof special / sizeof *special };
    if (rb_rng_next(rng) % 2)
        return snprintf(text, room, "%s", special[rb_rng_next(rng) % NSPECIAL]);
    if (rb_rng_next(rng) % 2) return snprintf(text, room, "%d", (int)(rb_rng_next(rng) % 9) - 4);
    return snprintf(text, room, "%.3g", rb_rng_normal(rng));
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    rb_rng rng = rb_rng_make(seed);
    size_t begin = 0, end = 0;
    int count = find_number(bytes, size, 1 << 20, &begin, &end);
    if (count == 0 || rb_rng_next(&rng) % 2) return LLVMFuzzerMutate(bytes, size, most);

    find_number(bytes, size, (int)(rb_rng_next(&rng) % (unsigned)count), &begin, &end);
    char text[40];
    size_t length = (size_t)make_number(&rng, text, sizeof text);
    if (size - (end - begin) + length > most) return LLVMFuzzerMutate(bytes, size, most);
    memmove(bytes + begin + length, bytes + end, size - end);
    memcpy(bytes + begin, text, length);
    return size - (end - begin) + length;
}

#endif
