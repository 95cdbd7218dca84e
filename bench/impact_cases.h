/* Random impacts of two bodies, by family and seed: shared by tests and `rattleback bench impacts`.
 */
#ifndef RATTLEBACK_BENCH_IMPACT_CASES_H
#define RATTLEBACK_BENCH_IMPACT_CASES_H

#include "rattleback/impact.h"

/* "free", "fixed", "rod", "planar", "sphere", "graze", "stuck", "extreme", "held"; NULL: no more.
 */
const char *impact_family_name(int family);

/* The impact of a seed; law and restitution are set by the caller where it wants others. */
void impact_case(int family, uint64_t seed, rb_impact *in);

#endif
