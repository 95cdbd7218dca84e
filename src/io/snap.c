#include "io/snap.h"

#include <math.h>
#include <stdio.h>

#include "math/quat.h"
#include "math/vec3.h"

/* What is farther from a right angle [rad] is meant so; what is nearer is rounding of numbers with
 * 7 digits, which nothing can feel. */
#define FARTHEST 2e-3
#define NEAREST  1e-6

/* The nearest of the 24 rotations that map axes to axes: each row of the matrix becomes the axis
 * that it is closest to. 0: that is no rotation. */
static int nearest_turn(const double R[9], double out[9])
{
    int used[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        int k = 0;
        for (int j = 1; j < 3; j++)
            if (fabs(R[3 * i + j]) > fabs(R[3 * i + k])) k = j;
        for (int j = 0; j < 3; j++) out[3 * i + j] = 0.0;
        out[3 * i + k] = R[3 * i + k] < 0.0 ? -1.0 : 1.0;
        if (used[k]++) return 0;
    }
    return 1;
}

/* Largest angle between an axis and where it should be [rad], small ones. */
static double miss(const double R[9], const double turn[9])
{
    double most = 0.0;
    for (int i = 0; i < 9; i++) most = fmax(most, fabs(R[i] - turn[i]));
    return most;
}

/* 1: a quarter turn is missed, or was; the quaternion is set where snap. */
static int snap_quat(double quat[4], int snap)
{
    double q[4] = { quat[0], quat[1], quat[2], quat[3] }, R[9], turn[9];
    if (!(rb_quat_normalize(q) > 0.0)) return 0;
    rb_quat_to_rot(q, R);
    if (!nearest_turn(R, turn)) return 0;
    double off = miss(R, turn);
    if (!(off > NEAREST && off < FARTHEST)) return 0;
    if (snap) rb_quat_from_rot(turn, quat);
    return 1;
}

static int snap_axis(double axis[3], int snap)
{
    double a[3], out[3] = { 0.0, 0.0, 0.0 };
    int k = 0;
    rb_copy3(axis, a);
    if (!(rb_normalize3(a) > 0.0)) return 0;
    for (int j = 1; j < 3; j++)
        if (fabs(a[j]) > fabs(a[k])) k = j;
    out[k] = a[k] < 0.0 ? -1.0 : 1.0;
    double off = fmax(fabs(a[(k + 1) % 3]), fabs(a[(k + 2) % 3]));
    if (!(off > NEAREST && off < FARTHEST)) return 0;
    if (snap) rb_copy3(out, axis);
    return 1;
}

/* What was found, and where first. */
typedef struct tally {
    int count;
    rb_where where;
    const char *kind, *name, *of; /* of: its body, where it has no name of its own */
} tally;

static int is_named(const char *name)
{
    return name && name[0] != '\0';
}

/* body: what it belongs to. */
static void note(tally *t, int found, const rb_where *where, const char *kind, const char *name,
                 const rb_body_def *body)
{
    if (!found) return;
    if (t->count++) return;
    t->where = *where;
    t->kind = kind;
    t->name = is_named(name) ? name : "";
    t->of = !is_named(name) && body && is_named(body->name) ? body->name : "";
}

rb_status rb_io_snap_angles(rb_spec *spec, int snap)
{
    tally t = { 0 };
    for (int b = 1; b < rb_spec_count(spec, RB_KIND_BODY); b++) {
        rb_body_def *body = rb_spec_body(spec, b);
        note(&t, snap_quat(body->pose.quat, snap), &body->where, "body", body->name, NULL);
    }
    for (int g = 0; g < rb_spec_count(spec, RB_KIND_GEOM); g++) {
        rb_geom_def *geom = rb_spec_geom(spec, g);
        const rb_body_def *body = rb_spec_body(spec, geom->body);
        note(&t, snap_quat(geom->pose.quat, snap), &geom->where, "geom", geom->name, body);
    }
    for (int j = 0; j < rb_spec_count(spec, RB_KIND_JOINT); j++) {
        rb_joint_def *joint = rb_spec_joint(spec, j);
        const rb_body_def *body = rb_spec_body(spec, joint->body);
        note(&t, snap_axis(joint->axis, snap), &joint->where, "joint", joint->name, body);
    }
    if (t.count == 0) return RB_OK;
    char text[400];
    snprintf(text, sizeof text,
             snap
                 ? "%d frame%s or axes, %s %.80s%s%.80s first, were turned to the right angle that "
                   "they missed by rounding"
                 : "%d frame%s or axes, %s %.80s%s%.80s first, miss a right angle by rounding "
                   "(rpy=\"1.5708 0 0\" for a quarter turn): wheels wobble and feet rest on an "
                   "edge; --snap-angles turns them to it",
             t.count, t.count == 1 ? "" : "s", t.kind, t.name, t.of[0] ? "of " : "", t.of);
    rb_warning warning = { .where = t.where, .element = "angle", .text = text, .physics = 2 };
    return rb_spec_warn(spec, &warning);
}
