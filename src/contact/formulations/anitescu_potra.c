/* Velocity level, always solvable [Anitescu & Potra 1997]: contacts that are closed may not close
 * further, open ones within reach keep their gap, and overlap is never turned into velocity (F.26).
 * Two texts write the same problem in their own way and keep their names:
 *
 *     dart   unknowns are forces, E and mu scaled by the step, A_ii (1 + eps)      [Tan 2012]
 *     jain   unknowns grouped by contact, loop closures as free rows               [Jain 2012] */
#include "contact/formulations/polyhedral.h"

static rb_status write_impulses(const rb_island *island, const rb_step_opts *o, rb_arena *arena,
                                rb_written *out)
{
    rb_poly way = { .order = RB_POLY_STACKED, .regularise = o->regularise };
    return rb_poly_write(island, o, &way, arena, out);
}

static rb_status write_forces(const rb_island *island, const rb_step_opts *o, rb_arena *arena,
                              rb_written *out)
{
    rb_poly way = { .order = RB_POLY_STACKED,
                    .regularise = o->regularise,
                    .force_step = island->h };
    return rb_poly_write(island, o, &way, arena, out);
}

static rb_status write_grouped(const rb_island *island, const rb_step_opts *o, rb_arena *arena,
                               rb_written *out)
{
    rb_poly way = { .order = RB_POLY_GROUPED };
    return rb_poly_write(island, o, &way, arena, out);
}

const rb_formulation rb_formulation_anitescu_potra = {
    .name = "anitescu-potra",
    .summary = "velocity level, polyhedral cone, always solvable",
    .kind = RB_LCP,
    .write = write_impulses,
    .read = rb_poly_read,
};

const rb_formulation rb_formulation_dart = {
    .name = "dart",
    .summary = "anitescu-potra as the DART note writes it: forces, scaled, regularised",
    .kind = RB_LCP,
    .write = write_forces,
    .read = rb_poly_read,
};

const rb_formulation rb_formulation_jain = {
    .name = "jain",
    .summary = "anitescu-potra grouped by contact, loop closures in the same mixed LCP",
    .kind = RB_LCP,
    .write = write_grouped,
    .read = rb_poly_read,
};
