/* What two surfaces are to each other (F.1). MJCF's rules: the geom of higher priority decides,
 * else the larger number of each; an explicit pair outweighs both; options of the run outweigh all.
 */
#include <math.h>

#include "contact/contact.h"

/* NAN is "not said". */
static double larger(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

static double said(double first, double otherwise)
{
    return isnan(first) ? otherwise : first;
}

/* A surface without a static coefficient of its own holds by the kinetic one. */
static double larger_static(const rb_material *a, const rb_material *b)
{
    if (isnan(a->friction_static) && isnan(b->friction_static)) return NAN;
    return larger(said(a->friction_static, a->friction), said(b->friction_static, b->friction));
}

static rb_material combine(const rb_material *a, const rb_material *b)
{
    rb_material out = *a;
    out.friction = larger(a->friction, b->friction);
    out.friction_static = larger_static(a, b);
    out.friction_torsion = larger(a->friction_torsion, b->friction_torsion);
    out.friction_roll = larger(a->friction_roll, b->friction_roll);
    out.restitution = larger(a->restitution, b->restitution);
    out.relax_stiffness = larger(a->relax_stiffness, b->relax_stiffness);
    out.relax_damping = larger(a->relax_damping, b->relax_damping);
    out.bristle_stiffness = larger(a->bristle_stiffness, b->bristle_stiffness);
    out.bristle_damping = larger(a->bristle_damping, b->bristle_damping);

    /* grain belongs to the surface that has one */
    if (isnan(a->friction_across)) {
        out.friction_across = b->friction_across;
        for (int i = 0; i < 3; i++) out.grain[i] = b->grain[i];
    }
    return out;
}

/* What the pair says outweighs `out`. */
static void override(const rb_material *pair, rb_material *out)
{
    out->friction = said(pair->friction, out->friction);
    if (!isnan(pair->friction)) out->friction_static = NAN; /* that of the geoms is no more */
    out->friction_static = said(pair->friction_static, out->friction_static);
    out->friction_torsion = said(pair->friction_torsion, out->friction_torsion);
    out->friction_roll = said(pair->friction_roll, out->friction_roll);
    out->friction_across = said(pair->friction_across, out->friction_across);
    out->restitution = said(pair->restitution, out->restitution);
    out->relax_stiffness = said(pair->relax_stiffness, out->relax_stiffness);
    out->relax_damping = said(pair->relax_damping, out->relax_damping);
    out->bristle_stiffness = said(pair->bristle_stiffness, out->bristle_stiffness);
    out->bristle_damping = said(pair->bristle_damping, out->bristle_damping);
}

static int explicit_pair(const rb_model *m, int geom1, int geom2)
{
    for (int i = 0; i < m->npair; i++) {
        int a = m->pair_geom1[i], b = m->pair_geom2[i];
        if ((a == geom1 && b == geom2) || (a == geom2 && b == geom1)) return i;
    }
    return -1;
}

int rb_pair_material(const rb_model *m, int geom1, int geom2, const rb_step_opts *o,
                     rb_material *out)
{
    const rb_material *a = &m->geom_material[geom1], *b = &m->geom_material[geom2];
    int first = m->geom_priority[geom1], second = m->geom_priority[geom2], condim;
    if (first != second) {
        int geom = first > second ? geom1 : geom2;
        *out = m->geom_material[geom];
        condim = m->geom_condim[geom];
        out->restitution = larger(a->restitution, b->restitution);
    } else {
        *out = combine(a, b);
        int c1 = m->geom_condim[geom1], c2 = m->geom_condim[geom2];
        condim = c1 > c2 ? c1 : c2;
    }

    int pair = explicit_pair(m, geom1, geom2);
    if (pair >= 0) {
        override(&m->pair_material[pair], out);
        condim = m->pair_condim[pair];
    }
    out->friction = said(o->friction, out->friction);
    out->friction_static = said(o->friction, said(out->friction_static, out->friction));
    if (!isnan(o->friction)) out->friction_across = NAN;
    out->restitution = said(o->restitution, said(out->restitution, 0.0));
    out->friction_torsion = said(out->friction_torsion, 0.0);
    out->friction_roll = said(out->friction_roll, 0.0);
    return condim;
}
