/* What two surfaces are to each other (F.1). MJCF's rules: the geom of higher priority decides,
 * else the larger number of each; an explicit pair outweighs both, what rb.NAME/GEOM1/GEOM2 says
 * outweighs that; options of the run outweigh all. */
#include <math.h>

#include "contact/contact.h"

/* NAN is "not said". */
static double larger(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

static double given_or(double first, double otherwise)
{
    return isnan(first) ? otherwise : first;
}

/* A surface without a static coefficient of its own holds by the kinetic one. */
static double larger_static(const rb_material *a, const rb_material *b)
{
    if (isnan(a->friction_static) && isnan(b->friction_static)) return NAN;
    return larger(given_or(a->friction_static, a->friction),
                  given_or(b->friction_static, b->friction));
}

/* The larger of both; the grain is left to the caller. */
static void combine(const rb_material *a, const rb_material *b, rb_material *out)
{
    out->friction = larger(a->friction, b->friction);
    out->friction_static = larger_static(a, b);
    out->friction_torsion = larger(a->friction_torsion, b->friction_torsion);
    out->friction_roll = larger(a->friction_roll, b->friction_roll);
    out->friction_viscous = larger(a->friction_viscous, b->friction_viscous);
    out->stribeck_speed = larger(a->stribeck_speed, b->stribeck_speed);
    out->restitution = larger(a->restitution, b->restitution);
    out->relax_stiffness = larger(a->relax_stiffness, b->relax_stiffness);
    out->relax_damping = larger(a->relax_damping, b->relax_damping);
    out->bristle_stiffness = larger(a->bristle_stiffness, b->bristle_stiffness);
    out->bristle_damping = larger(a->bristle_damping, b->bristle_damping);
    out->paradigm = larger(a->paradigm, b->paradigm);
}

/* What the pair says outweighs `out`. */
static void override(const rb_material *pair, rb_material *out)
{
    out->friction = given_or(pair->friction, out->friction);
    if (!isnan(pair->friction)) { /* that of the geoms is no more */
        out->friction_static = NAN;
        out->polygon = -1;
    }
    if (pair->polygon >= 0) out->polygon = pair->polygon;
    out->friction_static = given_or(pair->friction_static, out->friction_static);
    out->friction_torsion = given_or(pair->friction_torsion, out->friction_torsion);
    out->friction_roll = given_or(pair->friction_roll, out->friction_roll);
    out->friction_across = given_or(pair->friction_across, out->friction_across);
    out->friction_viscous = given_or(pair->friction_viscous, out->friction_viscous);
    out->stribeck_speed = given_or(pair->stribeck_speed, out->stribeck_speed);
    out->restitution = given_or(pair->restitution, out->restitution);
    out->relax_stiffness = given_or(pair->relax_stiffness, out->relax_stiffness);
    out->relax_damping = given_or(pair->relax_damping, out->relax_damping);
    out->bristle_stiffness = given_or(pair->bristle_stiffness, out->bristle_stiffness);
    out->bristle_damping = given_or(pair->bristle_damping, out->bristle_damping);
    out->paradigm = given_or(pair->paradigm, out->paradigm);
}

/* A grain of a pair is in the frame of the geom it names first. */
static void take_pair(const rb_model *m, int pair, rb_material *out, int *grain_geom)
{
    const rb_material *x = &m->pair_material[pair];
    override(x, out);
    if (isnan(x->grain[0])) return;
    for (int i = 0; i < 3; i++) out->grain[i] = x->grain[i];
    *grain_geom = m->pair_geom1[pair];
}

/* The last pair of these geoms that is (1) or is not (0) about materials only; -1: none. */
static int find_pair(const rb_model *m, int geom1, int geom2, int only_material)
{
    for (int i = m->npair - 1; i >= 0; i--) {
        int a = m->pair_geom1[i], b = m->pair_geom2[i];
        if (m->pair_only_material[i] != only_material) continue;
        if ((a == geom1 && b == geom2) || (a == geom2 && b == geom1)) return i;
    }
    return -1;
}

/* What the geoms say: the one of higher priority, or the larger of both, and the grain of the one
 * that has one, the first before the second. */
static int of_geoms(const rb_model *m, int geom1, int geom2, rb_material *out, int *grain_geom)
{
    const rb_material *a = &m->geom_material[geom1], *b = &m->geom_material[geom2];
    int first = m->geom_priority[geom1], second = m->geom_priority[geom2];
    int c1 = m->geom_condim[geom1], c2 = m->geom_condim[geom2];
    if (first != second) {
        *grain_geom = first > second ? geom1 : geom2;
        *out = m->geom_material[*grain_geom];
        out->restitution = larger(a->restitution, b->restitution);
        return m->geom_condim[*grain_geom];
    }
    int second_has_one = isnan(a->friction_across) && !isnan(b->friction_across);
    if (a->polygon >= 0 || b->polygon >= 0) second_has_one = a->polygon < 0;
    *grain_geom = second_has_one ? geom2 : geom1;
    *out = m->geom_material[*grain_geom];
    combine(a, b, out);
    return c1 > c2 ? c1 : c2;
}

double rb_pair_friction(const rb_model *m, int geom1, int geom2, const rb_step_opts *opts)
{
    rb_material material;
    rb_step_opts usual;
    int grain_geom;
    if (!opts) usual = rb_step_opts_default();
    rb_pair_material(m, geom1, geom2, opts ? opts : &usual, &material, &grain_geom);
    return material.friction;
}

int rb_pair_material(const rb_model *m, int geom1, int geom2, const rb_step_opts *o,
                     rb_material *out, int *grain_geom)
{
    int condim = of_geoms(m, geom1, geom2, out, grain_geom);
    int pair = m->npair > 0 ? find_pair(m, geom1, geom2, 0) : -1;
    if (pair >= 0) {
        take_pair(m, pair, out, grain_geom);
        condim = m->pair_condim[pair];
    }
    pair = m->npair > 0 ? find_pair(m, geom1, geom2, 1) : -1;
    if (pair >= 0) take_pair(m, pair, out, grain_geom);

    out->friction = given_or(o->friction, out->friction);
    out->friction_static = given_or(o->friction, given_or(out->friction_static, out->friction));
    if (!isnan(o->friction)) {
        out->friction_across = out->friction_viscous = NAN;
        out->polygon = -1;
    }
    out->restitution = given_or(o->restitution, given_or(out->restitution, 0.0));
    out->friction_torsion = given_or(out->friction_torsion, 0.0);
    out->friction_roll = given_or(out->friction_roll, 0.0);
    return condim;
}
