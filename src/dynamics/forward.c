/* Forward dynamics by articulated bodies, which is the quickest way at every size we measured: see
 * docs/design/dynamics.md. Three sweeps over the links:
 *
 *     root to tips    pose, velocity, inertia, bias wrench        (D.1) to (D.5)
 *     tips to root    P and z                                     (D.10) to (D.12)
 *     root to tips    accelerations                               (D.13)
 */
#include "dynamics/forward.h"

#include <string.h>

#include "base/arena.h"
#include "dynamics/gauge.h"
#include "dynamics/kinematics_link.h"
#include "dynamics/tendon.h"
#include "dynamics/tendon_inertia.h"
#include "rattleback/dynamics.h"

#ifdef RB_FORWARD_AVX2
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

void rb_forward_place(const rb_model *m, rb_data *d)
{
    rb_forward_place_felt(m, d, NULL);
}

void rb_forward_place_felt(const rb_model *m, rb_data *d, const unsigned char *felt)
{
    (void)felt;
#ifdef RB_FORWARD_AVX2
    if (has_avx2()) {
        d->placed = 0;
        rb_place_world(m, d);
        rb_stop_world(d);
        rb_hinge_sines(m, d);
        rb_forward_out_avx2(m, d);
        if (m->nspatial > 0) rb_tendons_of(m, d, felt);
        rb_gauges(m, d);
        return;
    }
#endif
    rb_kinematics_plain(m, d);
    rb_velocity(m, d);
}

void rb_forward_restart(const rb_model *m, rb_data *d)
{
    (void)m, (void)d;
#ifdef RB_FORWARD_AVX2
    if (has_avx2() && !rb_tendon_inertia_any(m)) rb_forward_restart_avx2(m, d);
#endif
}

void rb_forward_poses(const rb_model *m, rb_data *d)
{
    rb_forward_links(m, d);
    if (m->nspatial > 0) rb_tendons(m, d);
}

void rb_forward_links(const rb_model *m, rb_data *d)
{
#ifdef RB_FORWARD_AVX2
    if (has_avx2()) {
        d->placed = 0;
        rb_place_world(m, d);
        rb_hinge_sines(m, d);
        rb_forward_poses_avx2(m, d);
        return;
    }
#endif
    rb_links_plain(m, d);
}

void rb_kinematics(const rb_model *m, rb_data *d)
{
    rb_forward_poses(m, d);
}

static rb_status solve_plain(const rb_model *m, rb_data *d, const rb_forward_extra *extra,
                             const double *tau, double *qdd)
{
    rb_mark mark = rb_arena_mark(d->arena);
    size_t n = 6 * (size_t)m->nlink;
    double *I = extra->link ? rb_push(d->arena, double, n) : NULL;
    if (extra->link && !I) return RB_NOMEM;
    if (I) {
        memcpy(I, d->link_I, n * sizeof *I);
        for (size_t i = 0; i < n; i++) d->link_I[i] += extra->link[i];
    }
    rb_status status = rb_aba_factor(m, d, extra->dof, NULL);
    if (I) memcpy(d->link_I, I, n * sizeof *I);
    if (status == RB_OK) rb_aba_solve(m, d, tau, qdd);
    rb_arena_reset(d->arena, mark);
    return status;
}

/* Tendons couple joints of a branch: by the mass matrix (D.24). M, its factor and c are
 * restored. */
static rb_status solve_coupled(const rb_model *m, rb_data *d, const double *extra,
                               const double *tau, double *qdd)
{
    rb_mark mark = rb_arena_mark(d->arena);
    size_t bytes = (size_t)m->nM * sizeof(double);
    double *M = rb_push(d->arena, double, m->nM), *L = rb_push(d->arena, double, m->nM);
    double *c = rb_push(d->arena, double, m->nv);
    if (!M || !L || !c) return RB_NOMEM;
    memcpy(M, d->M, bytes);
    memcpy(L, d->L, bytes);
    rb_inverse(m, d, NULL, c);
    rb_mass(m, d);
    for (int j = 0; j < m->nv && extra; j++) d->M[m->dof_Madr[j]] += extra[j];
    rb_status status = rb_mass_factor(m, d);
    for (int j = 0; j < m->nv; j++) qdd[j] = tau[j] - c[j];
    if (status == RB_OK) rb_mass_solve(m, d, qdd);
    memcpy(d->M, M, bytes);
    memcpy(d->L, L, bytes);
    rb_arena_reset(d->arena, mark);
    return status;
}

rb_status rb_forward_solve(const rb_model *m, rb_data *d, const rb_forward_extra *extra,
                           const double *tau, double *qdd)
{
    const rb_forward_extra none = { NULL, NULL };
    if (!extra) extra = &none;
    if (rb_tendon_inertia_any(m)) return solve_coupled(m, d, extra->dof, tau, qdd);
#ifdef RB_FORWARD_AVX2
    if (has_avx2()) {
        if (extra->link) rb_forward_add_avx2(m, d, extra->link);
        if (!rb_forward_in_avx2(m, d, extra->dof, tau, qdd)) return RB_SINGULAR;
        rb_forward_accelerations_avx2(m, d, qdd);
        return RB_OK;
    }
#endif
    return solve_plain(m, d, extra, tau, qdd);
}

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_forward_place(m, d);
    return rb_forward_solve(m, d, NULL, tau, qdd);
}
