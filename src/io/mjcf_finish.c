/* What is left when everything is read: the flags of <option>, and numbers that are said in terms
 * of the inertia of the finished model at its reference configuration. */
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

#include "rattleback/dynamics.h"
#include "rattleback/model.h"

/* ---- flags ----------------------------------------------------------------------------------- */

static void silence_joints(rb_mjcf *r)
{
    const rb_mjcf_flags *f = &r->flags;
    int n = rb_spec_count(r->spec, RB_KIND_JOINT);
    for (int k = 0; k < n; k++) {
        rb_joint_def *joint = rb_spec_joint(r->spec, k);
        if (f->no_limit) joint->limited = 0;
        if (f->no_frictionloss) joint->frictionloss = 0.0;
        if (f->no_spring) joint->stiffness = 0.0;
        if (f->no_damper) joint->damping = 0.0;
    }
}

static void silence_tendons(rb_mjcf *r)
{
    const rb_mjcf_flags *f = &r->flags;
    int n = rb_spec_count(r->spec, RB_KIND_TENDON);
    for (int k = 0; k < n; k++) {
        rb_tendon_def *tendon = rb_spec_tendon(r->spec, k);
        if (f->no_limit) tendon->limited = 0;
        if (f->no_frictionloss) tendon->frictionloss = 0.0;
        if (f->no_spring) tendon->stiffness = 0.0;
        if (f->no_damper) tendon->damping = 0.0;
    }
}

static void apply_flags(rb_mjcf *r)
{
    const rb_mjcf_flags *f = &r->flags;
    rb_option *option = rb_spec_option(r->spec);
    if (f->no_gravity) memset(option->gravity, 0, sizeof option->gravity);
    if (f->no_contact) option->contact = 0;
    if (f->no_filterparent) option->filter_parent = 0;
    silence_joints(r);
    silence_tendons(r);

    int nequality = rb_spec_count(r->spec, RB_KIND_EQUALITY);
    for (int k = 0; k < nequality && f->no_equality; k++) rb_spec_equality(r->spec, k)->active = 0;
    int nactuator = rb_spec_count(r->spec, RB_KIND_ACTUATOR);
    for (int k = 0; k < nactuator && f->no_clamp; k++)
        rb_spec_actuator(r->spec, k)->ctrl_limited = 0;
}

/* ---- numbers that need the inertia ----------------------------------------------------------- */

/* The model as it is read so far, its mass matrix factored at the reference configuration. */
typedef struct finished {
    rb_model *m;
    rb_data *d;
    double *x; /* scratch (2 nv_all) */
} finished;

/* Stiffness and damping that give a joint this time constant and damping ratio, with the inertia
 * that the joint alone would feel: the inverse of its diagonal entry of M^-1. */
static void set_springdamper(rb_mjcf *r, const finished *f, const rb_mjcf_later *later)
{
    const rb_model *m = f->m;
    double time_constant = later->numbers[0], ratio = later->numbers[1];
    int dof = m->jnt_dofadr[later->index], ndof = 0;
    double inverse = 0.0;
    for (int i = dof; i < m->nv && m->dof_jnt[i] == later->index; i++, ndof++) {
        memset(f->x, 0, (size_t)m->nv * sizeof *f->x);
        f->x[i] = 1.0;
        rb_mass_solve(m, f->d, f->x);
        inverse += f->x[i];
    }
    double inertia = ndof / fmax(RB_MJCF_MIN_DIVISOR, inverse);
    rb_joint_def *joint = rb_spec_joint(r->spec, later->index);
    joint->stiffness =
        inertia / fmax(RB_MJCF_MIN_DIVISOR, time_constant * time_constant * ratio * ratio);
    joint->damping = 2.0 * inertia / fmax(RB_MJCF_MIN_DIVISOR, time_constant);
}

/* x := row of the actuator, or of an axis of an orientation; row M^-1 row'. */
static double compliance_of(const finished *f, int actuator, int axis)
{
    double *row = f->x + f->m->nv_all, sum = 0.0;
    if (axis < 0)
        rb_actuator_row(f->m, f->d, actuator, f->x);
    else
        rb_actuator_axis(f->m, f->d, actuator, axis, f->x);
    memcpy(row, f->x, (size_t)f->m->nv * sizeof *row);
    rb_mass_solve(f->m, f->d, f->x);
    for (int i = 0; i < f->m->nv; i++) sum += row[i] * f->x[i];
    return sum;
}

/* kv = 2 ratio sqrt(kp mass) of a servo, mass = 1 / (J M^-1 J') what it feels, of an orientation
 * that of the mean over its axes. */
static void set_dampratio(rb_mjcf *r, const finished *f, const rb_mjcf_later *later)
{
    rb_actuator_def *act = rb_spec_actuator(r->spec, later->index);
    double inverse = 0.0;
    if (act->gain_law == RB_LAW_ORIENTATION)
        for (int a = 0; a < 3; a++) inverse += compliance_of(f, later->index, a) / 3.0;
    else
        inverse = compliance_of(f, later->index, -1);
    double mass = 1.0 / fmax(RB_MJCF_MIN_DIVISOR, inverse);
    act->bias[2] = -2.0 * later->numbers[0] * sqrt(fmax(0.0, -act->bias[1] * mass));
}

/* force = scale / |M^-1 J'|, the acceleration of a unit force. */
static void set_muscle_force(rb_mjcf *r, const finished *f, const rb_mjcf_later *later)
{
    rb_actuator_def *act = rb_spec_actuator(r->spec, later->index);
    double sum = 0.0;
    rb_actuator_row(f->m, f->d, later->index, f->x);
    rb_mass_solve(f->m, f->d, f->x);
    for (int i = 0; i < f->m->nv; i++) sum += f->x[i] * f->x[i];
    double acceleration = fmax(RB_MJCF_MIN_DIVISOR, sqrt(sum));
    if (act->gain_muscle.force < 0.0)
        act->gain_muscle.force = act->gain_muscle.scale / acceleration;
    if (act->bias_muscle.force < 0.0)
        act->bias_muscle.force = act->bias_muscle.scale / acceleration;
}

/* Meshes whose inertia is that of their hull need it now. */
static rb_status make_hulls(rb_mjcf *r)
{
    int n = rb_spec_count(r->spec, RB_KIND_MESH), convex = 0;
    for (int k = 0; k < n; k++) convex |= rb_spec_mesh(r->spec, k)->inertia == RB_MESH_CONVEX;
    return convex ? rb_spec_hulls(r->spec, r->err) : RB_OK;
}

static rb_status prepare(rb_mjcf *r, const rb_xml_node *root, finished *f)
{
    const rb_alloc *a = &r->doc->alloc;
    RB_TRY(make_hulls(r));
    f->m = rb_spec_compile(r->spec, a, r->err);
    if (!f->m) return r->err->status;
    f->d = rb_data_new(f->m, a);
    f->x = rb_xml_take(r->doc, 2 * (size_t)f->m->nv_all + 1, sizeof *f->x);
    if (!f->d || !f->x) return rb_mjcf_nomem(r, root);
    rb_kinematics(f->m, f->d);
    rb_mass(f->m, f->d);
    if (rb_mass_factor(f->m, f->d) == RB_OK) return RB_OK;
    return rb_xml_refuse(root, NULL, r->err, RB_SINGULAR,
                         "springdamper and dampratio need an inertia at every joint; one has none");
}

static rb_status read_later(rb_mjcf *r, const rb_xml_node *root)
{
    finished f = { NULL, NULL, NULL };
    const rb_alloc *a = &r->doc->alloc;
    rb_status status = prepare(r, root, &f);
    for (const rb_mjcf_later *later = r->later; later && status == RB_OK; later = later->next) {
        if (later->kind == RB_MJCF_SPRINGDAMPER)
            set_springdamper(r, &f, later);
        else if (later->kind == RB_MJCF_MUSCLE_FORCE)
            set_muscle_force(r, &f, later);
        else if (later->kind == RB_MJCF_LENGTH_RANGE)
            status = rb_mjcf_length_range(r, root, f.m, f.d, later->index);
        else
            set_dampratio(r, &f, later);
    }
    rb_data_free(f.d);
    if (f.m) rb_model_free(f.m, a);
    return status;
}

rb_status rb_mjcf_finish(rb_mjcf *r, const rb_xml_node *root)
{
    rb_spec_option(r->spec)->rough_axes = 1;
    if (r->later) RB_TRY(read_later(r, root));
    if (r->compiler.discardvisual) {
        RB_TRY(make_hulls(r));
        RB_TRY(rb_mjcf_discard_visual(r));
    }
    apply_flags(r);
    return RB_OK;
}
