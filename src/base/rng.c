#include "rattleback/base.h"

rb_rng rb_rng_make(uint64_t seed)
{
    rb_rng rng = { 0, (seed << 1) | 1 };
    rb_rng_next(&rng);
    rng.state += seed * UINT64_C(0x9e3779b97f4a7c15);
    rb_rng_next(&rng);
    return rng;
}

/* PCG-XSH-RR 64/32 [O'Neill 2014]. */
uint32_t rb_rng_next(rb_rng *rng)
{
    uint64_t old = rng->state;
    rng->state = old * UINT64_C(6364136223846793005) + rng->stream;
    uint32_t x = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return (x >> turn) | (x << ((32 - turn) & 31));
}

double rb_rng_uniform(rb_rng *rng, double lo, double hi)
{
    uint64_t high = rb_rng_next(rng) >> 5, low = rb_rng_next(rng) >> 6;
    double unit = (double)(high * 67108864 + low) * (1.0 / 9007199254740992.0);
    return lo + unit * (hi - lo);
}

/* Sum of twelve uniforms: light tails, but the same bits everywhere. */
double rb_rng_normal(rb_rng *rng)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += rb_rng_uniform(rng, 0.0, 1.0);
    return sum;
}
