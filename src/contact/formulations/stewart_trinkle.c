/* Stewart and Trinkle: position level, polyhedral cone [Stewart & Trinkle 1996]. Rows are taken
 * where the step would end without contact, q + h v; the gap there, linearised, must not be
 * negative at the end of the step (F.25). The nonlinear form takes them again at the position found
 * until it converges. */
#include "contact/formulations/polyhedral.h"

static rb_status write(const rb_island *island, const rb_step_opts *o, rb_arena *arena,
                       rb_written *out)
{
    rb_poly way = { .order = RB_POLY_STACKED };
    return rb_poly_write(island, o, &way, arena, out);
}

const rb_formulation rb_formulation_stewart_trinkle = {
    .name = "stewart-trinkle",
    .summary = "position level, polyhedral cone, one LCP",
    .kind = RB_LCP,
    .push_out = 1,
    .ahead = 1,
    .write = write,
    .read = rb_poly_read,
};

const rb_formulation rb_formulation_stewart_trinkle_nonlinear = {
    .name = "stewart-trinkle-nonlinear",
    .summary = "the same, with the geometry iterated at the new position",
    .kind = RB_LCP,
    .push_out = 1,
    .ahead = 1,
    .nonlinear = 1,
    .write = write,
    .read = rb_poly_read,
};
