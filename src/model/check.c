/* The numbers of a spec, before anything is computed from them. What an element may not be is said
 * here, one function per kind; what a body may not weigh is said in masses.c and links.c, where the
 * masses are known. */
#include "model/build.h"

#include <math.h>

#include "base/constants.h"

/* The element under inspection. */
typedef struct subject {
    const rb_spec *spec;
    const void *def;
    rb_kind kind;
    int i;
    rb_error *err;
} subject;

#define REFUSE(s, ...) rb_refuse((s)->def, (s)->kind, (s)->i, (s)->err, __VA_ARGS__)

/* A check returns at the first thing that is wrong. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        rb_status try_status = (call);                                                             \
        if (try_status != RB_OK) return try_status;                                                \
    } while (0)

/* ---- small checks -----------------------------------------------------------------------------
 */

static rb_status finite(const subject *s, const char *word, const double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        if (fabs(x[i]) <= RB_MAX_NUMBER) continue;
        if (n == 1)
            return REFUSE(s, "%s = %g: expected a number, at most %g", word, x[i], RB_MAX_NUMBER);
        return REFUSE(s, "%s[%td] = %g: expected a number, at most %g", word, i, x[i],
                      RB_MAX_NUMBER);
    }
    return RB_OK;
}

static rb_status not_negative(const subject *s, const char *word, double x)
{
    if (x >= 0.0 && x <= RB_MAX_NUMBER) return RB_OK;
    return REFUSE(s, "%s = %g: expected a number >= 0", word, x);
}

static rb_status positive(const subject *s, const char *word, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.0 && x[i] <= RB_MAX_NUMBER) continue;
        return REFUSE(s, "%s[%d] = %g: expected a number > 0", word, i, x[i]);
    }
    return RB_OK;
}

/* NAN means "not said"; otherwise lo .. hi. */
static rb_status open_or_within(const subject *s, const char *word, double x, double lo, double hi)
{
    if (isnan(x) || (x >= lo && x <= hi)) return RB_OK;
    return REFUSE(s, "%s = %g: expected a number from %g to %g", word, x, lo, hi);
}

/* An infinite bound is none; both ends are compared only where the range is used. */
static rb_status range(const subject *s, const char *word, int used, const double x[2])
{
    if (!used || x[0] < x[1]) return RB_OK;
    return REFUSE(s, "%s is %g to %g: expected the lower end below the upper one", word, x[0],
                  x[1]);
}

/* Long enough to be normalised with all digits. */
static rb_status direction(const subject *s, const char *word, const double *x, int n)
{
    double most = 0.0;
    TRY(finite(s, word, x, n));
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    if (most >= 1.0 / RB_MAX_NUMBER) return RB_OK;
    return REFUSE(s, "%s has no length", word);
}

static rb_status pose(const subject *s, const rb_pose *x)
{
    TRY(finite(s, "pos", x->pos, 3));
    return direction(s, "quat", x->quat, 4);
}

/* The origin is outside of the hull of the points where some vertex a bounds a half plane that has
 * all of them, those on its edge on the side of a. */
static int holds_origin(const double *x, int n)
{
    for (int i = 0; i < 2 * n; i++) {
        const double *a = x + 2 * (i / 2);
        double sign = i % 2 ? 1.0 : -1.0;
        int outside = 1;
        for (int k = 0; k < n && outside; k++) {
            double across = sign * (a[0] * x[2 * k + 1] - a[1] * x[2 * k]);
            double along = a[0] * x[2 * k] + a[1] * x[2 * k + 1];
            outside = across < 0.0 || (across == 0.0 && along > 0.0);
        }
        if (outside) return 0;
    }
    return 1;
}

static rb_status polygon(const subject *s, int index)
{
    if (index == -1) return RB_OK;
    const rb_list *customs = &s->spec->list[RB_KIND_CUSTOM];
    if (index < -1 || index >= customs->count)
        return REFUSE(s, "polygon = %d is no custom entry", index);
    const rb_custom_def *def = (const rb_custom_def *)customs->items + index;
    if (def->text || def->ndata < 6 || def->ndata % 2 != 0 || def->ndata > RB_POLYGON_NUMBERS)
        return REFUSE(s, "polygon: expected x and y of 3 to %d vertices, there are %d numbers",
                      RB_POLYGON_NUMBERS / 2, def->text ? 0 : def->ndata);
    TRY(finite(s, "polygon", def->data, def->ndata));
    if (holds_origin(def->data, def->ndata / 2)) return RB_OK;
    return REFUSE(s, "polygon: expected vertices around the origin: no friction is allowed too");
}

static rb_status material(const subject *s, const rb_material *m)
{
    const struct {
        const char *word;
        double x, hi;
    } numbers[] = {
        { "friction", m->friction, RB_MAX_NUMBER },
        { "friction_static", m->friction_static, RB_MAX_NUMBER },
        { "friction_torsion", m->friction_torsion, RB_MAX_NUMBER },
        { "friction_roll", m->friction_roll, RB_MAX_NUMBER },
        { "friction_across", m->friction_across, RB_MAX_NUMBER },
        { "friction_viscous", m->friction_viscous, RB_MAX_NUMBER },
        { "restitution", m->restitution, 1.0 },
        { "relax_stiffness", m->relax_stiffness, RB_MAX_NUMBER },
        { "relax_damping", m->relax_damping, RB_MAX_NUMBER },
        { "bristle_stiffness", m->bristle_stiffness, RB_MAX_NUMBER },
        { "bristle_damping", m->bristle_damping, RB_MAX_NUMBER },
        { "paradigm", m->paradigm, RB_PARADIGM_CONSTRAINT },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        TRY(open_or_within(s, numbers[i].word, numbers[i].x, 0.0, numbers[i].hi));
    }
    if (!isnan(m->stribeck_speed) && !(m->stribeck_speed > 0.0))
        return REFUSE(s, "stribeck_speed = %g: expected a speed > 0", m->stribeck_speed);
    return polygon(s, m->polygon);
}

static rb_status contact_dimension(const subject *s, int condim)
{
    if (condim == 1 || condim == 3 || condim == 4 || condim == 6) return RB_OK;
    return REFUSE(s, "condim = %d: expected 1, 3, 4 or 6", condim);
}

/* ---- one function per kind --------------------------------------------------------------------
 */

static rb_status check_body(const subject *s)
{
    const rb_body_def *def = s->def;
    TRY(pose(s, &def->pose));
    TRY(finite(s, "gravcomp", &def->gravcomp, 1));
    if (def->inertia_source < RB_INERTIA_AUTO || def->inertia_source > RB_INERTIA_FROM_GEOMS) {
        return REFUSE(s, "inertia_source = %d is no rb_inertia_source", (int)def->inertia_source);
    }
    if (def->inertia_source != RB_INERTIA_FROM_GEOMS) {
        TRY(not_negative(s, "mass", def->mass));
        TRY(finite(s, "com", def->com, 3));
        TRY(finite(s, "inertia", def->inertia, 6));
    }
    TRY(finite(s, "motion.velocity", def->motion.velocity, 6));
    TRY(finite(s, "motion.amplitude", def->motion.amplitude, 6));
    TRY(finite(s, "motion.frequency", def->motion.frequency, 6));
    TRY(finite(s, "motion.phase", def->motion.phase, 6));
    if (def->mocap && (s->i == 0 || def->parent != 0)) {
        return REFUSE(s, "is mocap: expected a child of the world");
    }
    return RB_OK;
}

/* Joints of one body are checked together in tree.c. */
static rb_status check_joint(const subject *s)
{
    const rb_joint_def *def = s->def;
    const rb_body_def *body = (const rb_body_def *)s->spec->list[RB_KIND_BODY].items + def->body;
    int scalar = def->type == RB_JOINT_SLIDE || def->type == RB_JOINT_HINGE;
    TRY(finite(s, "pos", def->pos, 3));
    if (scalar) TRY(direction(s, "axis", def->axis, 3));
    TRY(finite(s, "ref", &def->ref, 1));
    TRY(finite(s, "springref", &def->springref, 1));
    TRY(finite(s, "stiffness", &def->stiffness, 1));
    TRY(finite(s, "damping", &def->damping, 1));
    TRY(finite(s, "stiffness_poly", def->stiffness_poly, 2));
    TRY(finite(s, "damping_poly", def->damping_poly, 2));
    TRY(not_negative(s, "armature", def->armature));
    TRY(not_negative(s, "frictionloss", def->frictionloss));
    TRY(range(s, "range", def->limited, def->range));
    TRY(range(s, "force_range", def->force_limited, def->force_range));
    if (body->mocap) return REFUSE(s, "is on a mocap body, which has no joints");
    if (def->type == RB_JOINT_FREE) {
        if (body->parent != 0) return REFUSE(s, "is free: expected on a child of the world");
        if (def->limited) return REFUSE(s, "is free and limited: a free joint has no limits");
    }
    if (def->type == RB_JOINT_BALL && def->limited && def->range[0] != 0.0) {
        return REFUSE(s, "is a ball with range from %g: expected 0, the range bounds the angle",
                      def->range[0]);
    }
    return RB_OK;
}

static rb_status check_geom(const subject *s)
{
    static const int nsize[] = {
        [RB_GEOM_SPHERE] = 0,   [RB_GEOM_CAPSULE] = 2, [RB_GEOM_ELLIPSOID] = 3,
        [RB_GEOM_CYLINDER] = 2, [RB_GEOM_BOX] = 3,     [RB_GEOM_MESH] = 0
    };
    const rb_geom_def *def = s->def;
    TRY(pose(s, &def->pose));
    TRY(finite(s, "size", def->size, 3));
    TRY(positive(s, "size", def->size, nsize[def->type]));

    /* a sphere without radius is a point: robots give the corners of their feet that way */
    if (def->type == RB_GEOM_SPHERE) TRY(not_negative(s, "size", def->size[0]));
    TRY(open_or_within(s, "mass", def->mass, 0.0, RB_MAX_NUMBER));
    TRY(not_negative(s, "density", def->density));
    TRY(contact_dimension(s, def->condim));
    if (def->type == RB_GEOM_PLANE || def->type == RB_GEOM_HFIELD) {
        TRY(not_negative(s, "size", fmin(def->size[0], def->size[1])));
    }
    TRY(finite(s, "fluid_coef", def->fluid_coef, 5));
    TRY(finite(s, "surface_velocity", def->surface_velocity, 6));
    TRY(finite(s, "adhesion", &def->adhesion, 1));
    TRY(not_negative(s, "adhesion", def->adhesion));
    if (!isnan(def->material.friction_across) || def->material.polygon >= 0)
        TRY(direction(s, "grain", def->material.grain, 3));
    if (isnan(def->material.friction)) return REFUSE(s, "friction = nan: expected a number >= 0");
    return material(s, &def->material);
}

static rb_status check_site(const subject *s)
{
    const rb_site_def *def = s->def;
    if (def->type < RB_GEOM_SPHERE || def->type > RB_GEOM_BOX)
        return rb_refuse(def, RB_KIND_SITE, s->i, s->err,
                         "type = %d: expected a sphere, capsule, ellipsoid, cylinder or box",
                         (int)def->type);
    TRY(finite(s, "size", def->size, 3));
    return pose(s, &def->pose);
}

static rb_status check_sensor(const subject *s)
{
    const rb_sensor_def *def = s->def;
    const double times[3] = { def->delay, def->interval, def->phase };
    TRY(not_negative(s, "cutoff", def->cutoff));
    TRY(not_negative(s, "noise", def->noise));
    TRY(finite(s, "delay, interval, phase", times, 3));
    TRY(not_negative(s, "delay", def->delay));
    TRY(not_negative(s, "interval", def->interval));
    return not_negative(s, "- phase", -def->phase);
}

static rb_status check_hull(const subject *s, const rb_hull_def *hull)
{
    if (hull->nvert == 0) {
        if (hull->nface == 0 && hull->nloop == 0) return RB_OK;
        return REFUSE(s, "has a hull with faces but no vertices");
    }
    if (hull->nvert < 4 || hull->nface < 4) {
        return REFUSE(s, "has a hull of %d vertices, %d faces: expected 4 of each or more",
                      hull->nvert, hull->nface);
    }
    TRY(finite(s, "hull vertex", hull->vert, 3 * (ptrdiff_t)hull->nvert));
    for (int f = 0; f < hull->nface; f++) {
        int sides = hull->start[f + 1] - hull->start[f];
        if (hull->start[f] >= 0 && hull->start[f + 1] <= hull->nloop && sides >= 3) continue;
        return REFUSE(s, "face %d of its hull is no polygon of its loop", f);
    }
    for (int i = 0; i < hull->nloop; i++) {
        if (hull->loop[i] >= 0 && hull->loop[i] < hull->nvert) continue;
        return REFUSE(s, "its hull names vertex %d of %d", hull->loop[i], hull->nvert);
    }
    return RB_OK;
}

static rb_status check_mesh(const subject *s)
{
    const rb_mesh_def *def = s->def;
    if (def->nvert < 3) return REFUSE(s, "has %d vertices: expected 3 or more", def->nvert);
    TRY(finite(s, "vertex", def->vert, 3 * (ptrdiff_t)def->nvert));
    return check_hull(s, &def->hull);
}

static rb_status check_hfield(const subject *s)
{
    const rb_hfield_def *def = s->def;
    if (def->nrow < 2 || def->ncol < 2) {
        return REFUSE(s, "has %d rows, %d columns: expected 2 of each or more", def->nrow,
                      def->ncol);
    }
    TRY(positive(s, "size", def->size, 4));
    for (int i = 0; i < def->nrow * def->ncol; i++) {
        if (def->elev[i] >= 0.0 && def->elev[i] <= 1.0) continue;
        return REFUSE(s, "elevation %d is %g: expected 0 to 1", i, def->elev[i]);
    }
    return RB_OK;
}

static int is_scalar(const rb_spec *spec, int joint)
{
    const rb_joint_def *def = rb_spec_item(spec, RB_KIND_JOINT, joint);
    return def->type == RB_JOINT_SLIDE || def->type == RB_JOINT_HINGE;
}

static int is_measured(const rb_spec *spec, int joint)
{
    return ((const rb_joint_def *)rb_spec_item(spec, RB_KIND_JOINT, joint))->measured;
}

/* What a chain leaves open must be found from its two frames: docs/design/model.md. */
static rb_status check_chain(const subject *s, const rb_equality_def *def)
{
    int hinges = 0, balls = 0, slides = 0;
    if (def->nchain > RB_CHAIN_JOINTS) {
        return REFUSE(s, "has a chain of %d joints: expected at most %d", def->nchain,
                      RB_CHAIN_JOINTS);
    }
    for (int k = 0; k < def->nchain; k++) {
        const rb_chain_joint *joint = &def->chain[k];
        TRY(finite(s, "chain pos", joint->pos, 3));
        TRY(finite(s, "chain ref", &joint->ref, 1));
        if (joint->type != RB_JOINT_BALL) TRY(direction(s, "chain axis", joint->axis, 3));
        if (joint->joint >= 0 && !is_measured(s->spec, joint->joint)) continue;
        hinges += joint->type == RB_JOINT_HINGE;
        balls += joint->type == RB_JOINT_BALL;
        slides += joint->type == RB_JOINT_SLIDE;
    }
    if (hinges + 3 * balls <= 3 && slides <= 3) return RB_OK;
    return REFUSE(s,
                  "leaves %d hinges, %d balls, %d slides of its chain without a coordinate: "
                  "expected three hinges or a ball, and three slides, at most",
                  hinges, balls, slides);
}

static rb_status check_equality(const subject *s)
{
    const rb_equality_def *def = s->def;
    TRY(pose(s, &def->pose1));
    TRY(pose(s, &def->pose2));
    TRY(finite(s, "poly", def->poly, 5));
    if (def->obj1 == def->obj2) return REFUSE(s, "couples %d with itself", def->obj1);
    if (def->type == RB_EQ_CHAIN) return check_chain(s, def);
    if (def->type != RB_EQ_JOINT) return RB_OK;
    if (!is_scalar(s->spec, def->obj1) || (def->obj2 >= 0 && !is_scalar(s->spec, def->obj2))) {
        return REFUSE(s, "couples a ball or free joint: expected hinges and slides");
    }
    return RB_OK;
}

/* Sites make the path; a wrapped geom comes between two of them. */
static rb_status check_path(const subject *s, const rb_tendon_def *def)
{
    int sites = 0;
    for (int i = 0; i < def->npath; i++) {
        const rb_wrap_def *at = &def->path[i], *next = i + 1 < def->npath ? at + 1 : NULL;
        if (at->type == RB_WRAP_SITE) {
            sites++;
            continue;
        }
        if (at->type == RB_WRAP_PULLEY) {
            TRY(positive(s, "divisor", &at->divisor, 1));
            if (i > 0 && sites < 2)
                return REFUSE(s, "has %d sites before pulley %d of its path: expected 2 or more",
                              sites, i);
            sites = 0;
            continue;
        }
        const rb_geom_def *geom = rb_spec_item(s->spec, RB_KIND_GEOM, at->object);
        if (geom->type != RB_GEOM_SPHERE && geom->type != RB_GEOM_CYLINDER)
            return REFUSE(s, "wraps around geom %d: expected a sphere or a cylinder", at->object);
        if (sites == 0 || at[-1].type != RB_WRAP_SITE || !next || next->type != RB_WRAP_SITE)
            return REFUSE(s, "geom %d of its path has no site on both sides", i);
    }
    if (sites >= 2) return RB_OK;
    return REFUSE(s, "has %d sites at the end of its path: expected 2 or more", sites);
}

static rb_status check_tendon(const subject *s)
{
    const rb_tendon_def *def = s->def;
    if (def->npath > 0 && def->njoint > 0)
        return REFUSE(s, "has joints and a path: expected one of them");
    if (def->npath > 0) TRY(check_path(s, def));
    TRY(finite(s, "coef", def->coef, def->njoint));
    for (int i = 0; i < def->njoint; i++) {
        if (is_scalar(s->spec, def->joint[i])) continue;
        return REFUSE(s, "joint %d of it is a ball or free joint: expected hinges and slides", i);
    }
    TRY(range(s, "range", def->limited, def->range));
    const double *rest = def->springlength;
    if (!isnan(rest[0]) || !isnan(rest[1])) {
        TRY(finite(s, "springlength", rest, 2));
        if (rest[0] > rest[1]) {
            return REFUSE(s, "springlength is %g to %g: expected lower end first", rest[0],
                          rest[1]);
        }
    }
    TRY(finite(s, "stiffness", &def->stiffness, 1));
    TRY(finite(s, "damping", &def->damping, 1));
    TRY(not_negative(s, "frictionloss", def->frictionloss));
    TRY(not_negative(s, "armature", def->armature));
    TRY(finite(s, "stiffness_poly", def->stiffness_poly, 2));
    TRY(finite(s, "damping_poly", def->damping_poly, 2));
    TRY(range(s, "force_range", def->force_limited, def->force_range));
    return RB_OK;
}

/* A spec that a program made may say anything. */
static rb_status check_motor(const subject *s)
{
    const rb_actuator_def *def = s->def;
    const rb_dcmotor *x = &def->motor;
    const double heat[2] = { x->thermal_resistance, x->thermal_capacity };
    TRY(positive(s, "motor.resistance", &x->resistance, 1));
    TRY(finite(s, "motor", (const double *)x, (int)(sizeof *x / sizeof(double))));
    if (x->thermal_capacity > 0.0) TRY(positive(s, "motor.thermal_*", heat, 2));
    TRY(not_negative(s, "motor.time_constant", x->time_constant));
    return not_negative(s, "motor.bristle_stiffness", x->bristle_stiffness);
}

static rb_status check_law(const subject *s)
{
    const rb_actuator_def *def = s->def;
    if (def->gain_law < RB_LAW_AFFINE || def->gain_law > RB_LAW_ORIENTATION)
        return REFUSE(s, "gain_law = %d is no rb_law", (int)def->gain_law);
    if (def->delay < 0.0 || def->nsample < 0 || !isfinite(def->delay))
        return REFUSE(s, "delay and nsample cannot be negative");
    if (def->gain_law == RB_LAW_PID) {
        TRY(not_negative(s, "servo_slew", def->servo_slew));
        TRY(not_negative(s, "servo_windup", def->servo_windup));
    }
    return def->gain_law == RB_LAW_DCMOTOR ? check_motor(s) : RB_OK;
}

static rb_status check_actuator(const subject *s)
{
    const rb_actuator_def *def = s->def;
    TRY(finite(s, "gear", def->gear, 6));
    TRY(finite(s, "gain", def->gain, 3));
    TRY(finite(s, "bias", def->bias, 3));
    TRY(range(s, "ctrl_range", def->ctrl_limited, def->ctrl_range));
    TRY(range(s, "force_range", def->force_limited, def->force_range));
    TRY(range(s, "act_range", def->act_limited, def->act_range));
    TRY(check_law(s));
    if (def->transmission == RB_TRN_SLIDER_CRANK)
        TRY(positive(s, "crank_length", &def->crank_length, 1));
    if (def->gain_law == RB_LAW_MUSCLE || def->bias_law == RB_LAW_MUSCLE) {
        if (!(def->length_range[0] < def->length_range[1]))
            return REFUSE(s,
                          "is a muscle without a length range: give lengthrange, its shortest and "
                          "longest length [m]");
        TRY(finite(s, "length_range", def->length_range, 2));
    }
    if (def->activation == RB_ACT_MUSCLE) TRY(positive(s, "muscle_time", def->muscle_time, 2));
    int filter = def->activation == RB_ACT_FILTER || def->activation == RB_ACT_FILTER_EXACT;
    return filter ? positive(s, "time_constant", &def->time_constant, 1) : RB_OK;
}

static rb_status check_pair(const subject *s)
{
    const rb_pair_def *def = s->def;
    if (def->geom1 == def->geom2) return REFUSE(s, "pairs geom %d with itself", def->geom1);
    TRY(contact_dimension(s, def->condim));
    if (!isnan(def->material.grain[0])) TRY(direction(s, "grain", def->material.grain, 3));
    return material(s, &def->material);
}

/* Lengths are compared in keys.c, where nq and its like are known. */
static rb_status check_key(const subject *s)
{
    const rb_key_def *def = s->def;
    TRY(finite(s, "time", &def->time, 1));
    TRY(finite(s, "qpos", def->qpos, def->nqpos));
    TRY(finite(s, "qvel", def->qvel, def->nqvel));
    TRY(finite(s, "act", def->act, def->nact));
    TRY(finite(s, "ctrl", def->ctrl, def->nctrl));
    return finite(s, "mocap", def->mocap, def->nmocap);
}

static rb_status (*const check_kind[RB_NKIND])(const subject *) = {
    [RB_KIND_BODY] = check_body,         [RB_KIND_JOINT] = check_joint,
    [RB_KIND_GEOM] = check_geom,         [RB_KIND_SITE] = check_site,
    [RB_KIND_MESH] = check_mesh,         [RB_KIND_HFIELD] = check_hfield,
    [RB_KIND_EQUALITY] = check_equality, [RB_KIND_TENDON] = check_tendon,
    [RB_KIND_ACTUATOR] = check_actuator, [RB_KIND_PAIR] = check_pair,
    [RB_KIND_KEY] = check_key,           [RB_KIND_SENSOR] = check_sensor,
};

/* ---- all of it --------------------------------------------------------------------------------
 */

static rb_status check_option(const rb_spec *spec, rb_error *err)
{
    const rb_option *o = &spec->option;
    if (!(o->timestep > 0.0 && o->timestep <= RB_MAX_NUMBER)) {
        return rb_fail(err, RB_BAD_INPUT, "timestep = %g: expected a number > 0", o->timestep);
    }
    for (int i = 0; i < 3; i++) {
        if (!(fabs(o->magnetic[i]) <= RB_MAX_NUMBER))
            return rb_fail(err, RB_BAD_INPUT, "magnetic[%d] = %g: expected a number", i,
                           o->magnetic[i]);
        if (fabs(o->gravity[i]) <= RB_MAX_NUMBER) continue;
        return rb_fail(err, RB_BAD_INPUT, "gravity[%d] = %g: expected a number", i, o->gravity[i]);
    }
    const double bounds[] = { o->bound_mass, o->bound_inertia, o->total_mass };
    static const char *const words[] = { "bound_mass", "bound_inertia", "total_mass" };
    for (int i = 0; i < 3; i++) {
        if (bounds[i] >= 0.0 && bounds[i] <= RB_MAX_NUMBER) continue;
        return rb_fail(err, RB_BAD_INPUT, "%s = %g: expected a number >= 0", words[i], bounds[i]);
    }
    return RB_OK;
}

rb_status rb_check_numbers(const rb_spec *spec, rb_error *err)
{
    TRY(check_option(spec, err));
    for (int kind = 0; kind < RB_NKIND; kind++) {
        for (int i = 0; i < spec->list[kind].count; i++) {
            subject s = { spec, rb_spec_item(spec, (rb_kind)kind, i), (rb_kind)kind, i, err };
            TRY(rb_check_links_of(spec, (rb_kind)kind, i, s.def, err));
            if (check_kind[kind]) TRY(check_kind[kind](&s));
        }
    }
    return RB_OK;
}
