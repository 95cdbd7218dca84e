/* Random models for the tests of dynamics: trees of 1 to a few hundred links with every kind of
 * joint, several joints on a body, fixed bodies in between, branches, several trees, offset anchors
 * and full inertias. The same seed gives the same model and state everywhere.
 *
 *     tree t = tree_open(seed, tree_any(seed));
 *     rb_kinematics(t.m, t.d);
 *     ...
 *     tree_close(&t);
 */
#ifndef RB_TREE_SUPPORT_H
#define RB_TREE_SUPPORT_H

#include "rattleback/dynamics.h"
#include "rattleback/model.h"
#include "rattleback/spec.h"
#include "test.h"

typedef struct tree_options {
    int nlink;      /* bodies with joints                                                  */
    int ntree;      /* at most so many children of the world                               */
    int branching;  /* percent of bodies that are not attached to the one before           */
    int fixed;      /* percent of bodies that are followed by one fixed to them            */
    int several;    /* percent of bodies with more than one joint                          */
    int free_roots; /* 1: all trees float, 0: none does, -1: as it comes                   */
    int hinges;     /* 1: no other kind of joint below the root                            */
    int armature;   /* 1: on about half of the dofs                                        */
    int springs;    /* 1: stiffness and damping on about half of the joints                */
} tree_options;

typedef struct tree {
    rb_spec *spec;
    rb_model *m;
    rb_data *d;
    rb_rng rng; /* for whatever the test wants to draw next */
} tree;

static inline int tree_percent(rb_rng *rng, int percent)
{
    return (int)(rb_rng_next(rng) % 100) < percent;
}

static inline int tree_below(rb_rng *rng, int n)
{
    return (int)(rb_rng_next(rng) % (uint32_t)n);
}

/* Sizes 1 .. 200, small ones more often, everything allowed. */
static inline tree_options tree_any(uint64_t seed)
{
    rb_rng rng = rb_rng_make(seed ^ 0x5eed);
    static const int most[] = { 1, 3, 6, 12, 25, 50, 100, 200 };
    tree_options o = { 0 };
    o.nlink = 1 + tree_below(&rng, most[seed % 8]);
    o.ntree = 1 + tree_below(&rng, 4);
    o.branching = tree_below(&rng, 60);
    o.fixed = 20;
    o.several = 25;
    o.free_roots = -1;
    o.armature = (int)(seed % 2);
    return o;
}

/* A serial chain of hinges about axes that alternate. */
static inline tree_options tree_chain(int nlink)
{
    return (tree_options){ .nlink = nlink, .ntree = 1, .hinges = 1 };
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static inline void tree_vector(rb_rng *rng, double size, double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = rb_rng_uniform(rng, -size, size);
}

static inline void tree_direction(rb_rng *rng, double out[3])
{
    double norm;
    do {
        tree_vector(rng, 1.0, out);
        norm = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    } while (norm > 1.0 || norm < 0.1);
    for (int i = 0; i < 3; i++) out[i] /= norm;
}

static inline void tree_quaternion(rb_rng *rng, double out[4])
{
    double norm;
    do {
        for (int i = 0; i < 4; i++) out[i] = rb_rng_uniform(rng, -1.0, 1.0);
        norm = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    } while (norm > 1.0 || norm < 0.1);
    for (int i = 0; i < 4; i++) out[i] /= norm;
}

/* Mass and inertia of a cloud of points, so that they can belong to a body. */
static inline void tree_inertia(rb_rng *rng, rb_body_def *body)
{
    body->inertia_source = RB_INERTIA_GIVEN;
    body->mass = rb_rng_uniform(rng, 0.2, 3.0);
    tree_vector(rng, 0.3, body->com);
    for (int n = 0; n < 6; n++) {
        double x[3], m = body->mass / 6.0;
        tree_vector(rng, 0.3, x);
        body->inertia[0] += m * (x[1] * x[1] + x[2] * x[2]);
        body->inertia[1] += m * (x[0] * x[0] + x[2] * x[2]);
        body->inertia[2] += m * (x[0] * x[0] + x[1] * x[1]);
        body->inertia[3] -= m * x[0] * x[1];
        body->inertia[4] -= m * x[0] * x[2];
        body->inertia[5] -= m * x[1] * x[2];
    }
}

static inline int tree_add_body(rb_spec *spec, rb_rng *rng, int parent, int massless)
{
    rb_body_def body = rb_body_default();
    body.parent = parent;
    tree_vector(rng, 0.4, body.pose.pos);
    tree_quaternion(rng, body.pose.quat);
    if (massless) {
        body.inertia_source = RB_INERTIA_GIVEN;
        body.mass = 0.0;
    } else {
        tree_inertia(rng, &body);
    }
    rb_error err = { 0 };
    int index = rb_spec_add_body(spec, &body, &err);
    if (index < 0) test_fail(__FILE__, __LINE__, "body: %s", err.text);
    return index;
}

static inline void tree_add_joint(rb_spec *spec, rb_rng *rng, const tree_options *o, int body,
                                  rb_joint_type type, const double axis[3], int needs_armature)
{
    rb_joint_def joint = rb_joint_default();
    joint.body = body;
    joint.type = type;
    for (int i = 0; i < 3; i++) joint.axis[i] = axis[i];
    if (type != RB_JOINT_FREE && tree_percent(rng, 50)) tree_vector(rng, 0.3, joint.pos);
    int scalar = type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE;
    if (scalar && tree_percent(rng, 30)) joint.ref = rb_rng_uniform(rng, -1.0, 1.0);
    if (needs_armature || (o->armature && tree_percent(rng, 50))) {
        joint.armature = rb_rng_uniform(rng, 0.01, 0.5);
    }
    if (o->springs && tree_percent(rng, 50)) {
        joint.damping = rb_rng_uniform(rng, 0.0, 2.0);
        if (type != RB_JOINT_FREE) joint.stiffness = rb_rng_uniform(rng, 0.0, 20.0);
        if (scalar) joint.springref = rb_rng_uniform(rng, -0.5, 0.5);
    }
    rb_error err = { 0 };
    if (rb_spec_add_joint(spec, &joint, &err) < 0) {
        test_fail(__FILE__, __LINE__, "joint: %s", err.text);
    }
}

/* Up to three hinges and slides about axes that are well apart, a ball alone, a ball behind or in
 * front of a hinge (then with armature: four turns of one body have no inertia of their own), a
 * ball on a slide. */
static inline void tree_add_joints(rb_spec *spec, rb_rng *rng, const tree_options *o, int body)
{
    double axis[3];
    tree_direction(rng, axis);
    if (o->hinges) {
        tree_add_joint(spec, rng, o, body, RB_JOINT_HINGE, axis, 0);
        return;
    }
    int several = tree_percent(rng, o->several);
    if (tree_percent(rng, 25)) {
        rb_joint_type other = tree_percent(rng, 50) ? RB_JOINT_HINGE : RB_JOINT_SLIDE;
        int before = several && tree_percent(rng, 50),
            armature = several && other == RB_JOINT_HINGE;
        if (before) tree_add_joint(spec, rng, o, body, other, axis, armature);
        tree_add_joint(spec, rng, o, body, RB_JOINT_BALL, axis, armature);
        if (several && !before) tree_add_joint(spec, rng, o, body, other, axis, armature);
        return;
    }

    /* rows of a rotation are as far apart as can be; joints turn them, which is their business */
    double x[3], y[3], z[3];
    tree_direction(rng, x);
    tree_direction(rng, y);
    double along = x[0] * y[0] + x[1] * y[1] + x[2] * y[2], norm = 0.0;
    for (int i = 0; i < 3; i++) y[i] -= along * x[i];
    for (int i = 0; i < 3; i++) norm += y[i] * y[i];
    norm = sqrt(norm);
    if (norm < 0.1) several = 0;
    for (int i = 0; i < 3; i++) y[i] = norm > 0.0 ? y[i] / norm : 0.0;
    for (int i = 0; i < 3; i++)
        z[i] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3];
    const double *axes[3] = { x, y, z };
    int count = several ? 2 + tree_below(rng, 2) : 1;
    for (int j = 0; j < count; j++) {
        rb_joint_type type = tree_percent(rng, 70) ? RB_JOINT_HINGE : RB_JOINT_SLIDE;
        tree_add_joint(spec, rng, o, body, type, axes[j], 0);
    }
}

/* ---- models and states ----------------------------------------------------------------------- */

static inline rb_spec *tree_spec(rb_rng *rng, const tree_options *o)
{
    rb_spec *spec = rb_spec_new(NULL);
    if (!spec) test_fail(__FILE__, __LINE__, "out of memory");
    int roots = 0, last = 0;
    for (int n = 0; n < o->nlink; n++) {
        int parent = last;
        if (n > 0 && tree_percent(rng, o->branching)) parent = 1 + tree_below(rng, last);
        if (n == 0 || (roots < o->ntree && tree_percent(rng, 10))) parent = 0;
        int is_root = parent == 0;
        roots += is_root;

        /* the root of a tree may hang on a body that is fixed to the world */
        if (is_root && tree_percent(rng, o->fixed)) parent = tree_add_body(spec, rng, 0, 0);
        last = tree_add_body(spec, rng, parent, 0);
        int is_free =
            parent == 0 && (o->free_roots > 0 || (o->free_roots < 0 && tree_percent(rng, 50)));
        if (is_free) {
            static const double none[3] = { 0.0, 0.0, 1.0 };
            tree_add_joint(spec, rng, o, last, RB_JOINT_FREE, none, 0);
        } else {
            tree_add_joints(spec, rng, o, last);
        }
        if (tree_percent(rng, o->fixed)) {
            int massless = tree_percent(rng, 20);
            last = tree_add_body(spec, rng, last, massless);
        }
    }
    return spec;
}

/* Random configuration, velocity and applied force. */
static inline void tree_shake(const rb_model *m, rb_data *d, rb_rng *rng)
{
    for (int j = 0; j < m->njnt; j++) {
        double *q = d->q + m->jnt_qadr[j];
        switch ((rb_joint_type)m->jnt_type[j]) {
        case RB_JOINT_FREE:
            tree_vector(rng, 2.0, q);
            tree_quaternion(rng, q + 3);
            break;
        case RB_JOINT_BALL:
            tree_quaternion(rng, q);
            break;
        case RB_JOINT_SLIDE:
            q[0] = rb_rng_uniform(rng, -0.5, 0.5);
            break;
        case RB_JOINT_HINGE:
            q[0] = rb_rng_uniform(rng, -3.0, 3.0);
            break;
        }
    }
    for (int i = 0; i < m->nv; i++) {
        d->v[i] = rb_rng_uniform(rng, -2.0, 2.0);
        d->tau[i] = rb_rng_uniform(rng, -5.0, 5.0);
    }
}

static inline tree tree_open(uint64_t seed, tree_options o)
{
    tree t = { 0 };
    rb_error err = { 0 };
    t.rng = rb_rng_make(seed);
    t.spec = tree_spec(&t.rng, &o);
    t.m = rb_spec_compile(t.spec, NULL, &err);
    if (!t.m) test_fail(__FILE__, __LINE__, "compile: %s", err.text);
    t.d = rb_data_new(t.m, NULL);
    if (!t.d) test_fail(__FILE__, __LINE__, "out of memory");
    tree_shake(t.m, t.d, &t.rng);
    return t;
}

static inline void tree_close(tree *t)
{
    rb_data_free(t->d);
    rb_model_free(t->m, NULL);
    rb_spec_free(t->spec);
}

/* n numbers of the generator, to be freed; NULL never. */
static inline double *tree_numbers(rb_rng *rng, int n, double size)
{
    double *x = malloc((size_t)(n > 0 ? n : 1) * sizeof *x);
    if (!x) test_fail(__FILE__, __LINE__, "out of memory");
    for (int i = 0; i < n; i++) x[i] = rb_rng_uniform(rng, -size, size);
    return x;
}

#endif
