/* From a model to the part that is dropped: one free body, one floor, the hull of what touches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poses/part.h"

/* Curved shapes are cut into this many pieces round an axis; a cylinder then rolls over edges of
 * 5e-4 of its radius, a tenth of what is merged. */
enum { AROUND = 96, UP = 48 };

/* A floor is level where its normal and gravity differ by less than this [rad]: 1e-6 of the height
 * of a part is far below the barrier between two poses. */
#define LEVEL 1e-6

static int refuse(rb_error *err, const char *text)
{
    *err = (rb_error){ .status = RB_BAD_INPUT };
    snprintf(err->text, sizeof err->text, "%s", text);
    return 0;
}

/* ---- what the model must be ---------------------------------------------------------------------
 */

static int check_joints(const rb_model *m, rb_error *err)
{
    if (m->njnt == 0)
        return refuse(err, "no free body: expected one that can fall; write <freejoint/> into it, "
                           "or say --floating-base for a URDF");
    if (m->nlink > 2 || m->njnt > 1)
        return refuse(err, "several bodies move: expected a single free one; poses are dropped "
                           "one part at a time");
    if (m->jnt_type[0] != RB_JOINT_FREE)
        return refuse(err, "the body that moves has a hinge, slide or ball: expected "
                           "<freejoint/>");
    if (m->neq || m->ntendon || m->nu || m->nmocap)
        return refuse(err, "equalities, tendons, actuators or mocap bodies act on the part: "
                           "expected a part that only falls");
    if (!(m->link_mass[1] > 0.0)) return refuse(err, "the part has no mass");
    for (int b = 1; b < m->nbody; b++)
        if (m->body_gravcomp[b] != 0.0) return refuse(err, "gravcomp on a part that must fall");
    if (!m->option.contact) return refuse(err, "contacts are switched off in <option>");
    return 1;
}

/* The floor: the only fixed geom, a level plane. */
static int find_floor(const rb_model *m, rb_error *err, rb_part *p)
{
    const double *g = m->option.gravity;
    int floor = -1;
    p->gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (!(p->gravity > 0.0)) return refuse(err, "no gravity: nothing falls");
    if (sqrt(g[0] * g[0] + g[1] * g[1]) > LEVEL * p->gravity || g[2] > 0.0)
        return refuse(err, "gravity does not point along -z: turn the model");
    for (int k = 0; k < m->ngeom; k++) {
        if (m->geom_link[k] != 0) continue;
        const double *q = m->geom_quat + 4 * (size_t)k;
        if (m->geom_type[k] != RB_GEOM_PLANE || floor >= 0 || m->geom_body[k] != 0)
            return refuse(err, "fixed geoms beside the floor: expected one plane of the "
                               "world and nothing else");
        floor = k;
        /* third column of the rotation, its horizontal part: the sine of the slope */
        if (hypot(2.0 * (q[1] * q[3] + q[0] * q[2]), 2.0 * (q[2] * q[3] - q[0] * q[1])) > LEVEL)
            return refuse(err, "the floor is not level: expected a plane with its normal along z");
    }
    if (floor < 0)
        return refuse(err,
                      "there is no floor: write <geom type=\"plane\" size=\"0 0 1\"/> into the "
                      "world, or say --ground 0");
    p->ground = m->geom_pos[3 * (size_t)floor + 2];
    return floor + 1;
}

/* Whether geom k of the part can touch the floor. */
static int touches(const rb_model *m, int k, int floor)
{
    for (int i = 0; i < m->npair; i++) {
        int a = m->pair_geom1[i], b = m->pair_geom2[i];
        if (!m->pair_only_material[i] && ((a == k && b == floor) || (a == floor && b == k)))
            return 1;
    }
    return (m->geom_contype[k] & m->geom_conaffinity[floor]) ||
           (m->geom_contype[floor] & m->geom_conaffinity[k]);
}

/* ---- the points of a geom -----------------------------------------------------------------------
 */

typedef struct cloud {
    int n, room;
    double *x; /* (room x 3) */
} cloud;

static int add_point(cloud *c, double x, double y, double z)
{
    if (c->n == c->room) {
        int room = 2 * c->room + 64;
        double *grown = realloc(c->x, (size_t)room * 3 * sizeof *grown);
        if (!grown) return 0;
        c->x = grown;
        c->room = room;
    }
    double *at = c->x + 3 * (size_t)c->n++;
    at[0] = x;
    at[1] = y;
    at[2] = z;
    return 1;
}

/* Half-circles from pole to pole: a sphere, an ellipsoid; with a gap at the equator, a capsule. */
static int add_round(cloud *c, const double r[3], double half_length)
{
    double pi = acos(-1.0);
    int ok = add_point(c, 0.0, 0.0, r[2] + half_length);
    ok = ok && add_point(c, 0.0, 0.0, -r[2] - half_length);
    for (int i = 1; i < UP && ok; i++) {
        double tilt = pi * i / UP, z = r[2] * cos(tilt);
        for (int j = 0; j < AROUND && ok; j++) {
            double turn = 2.0 * pi * j / AROUND;
            double x = r[0] * sin(tilt) * cos(turn), y = r[1] * sin(tilt) * sin(turn);
            ok = add_point(c, x, y, z + (2 * i <= UP ? half_length : -half_length));
            if (2 * i == UP && half_length > 0.0) ok = ok && add_point(c, x, y, -half_length);
        }
    }
    return ok;
}

static int add_cylinder(cloud *c, double radius, double half_length)
{
    int ok = 1;
    for (int j = 0; j < AROUND && ok; j++) {
        double turn = 2.0 * acos(-1.0) * j / AROUND;
        double x = radius * cos(turn), y = radius * sin(turn);
        ok = add_point(c, x, y, half_length) && add_point(c, x, y, -half_length);
    }
    return ok;
}

static int add_mesh(cloud *c, const rb_model *m, int asset)
{
    int first = m->mesh_hullvertadr[asset], ok = 1;
    for (int i = 0; i < m->mesh_hullvertnum[asset] && ok; i++) {
        const double *x = m->hull_vert + 3 * (size_t)(first + i);
        ok = add_point(c, x[0], x[1], x[2]);
    }
    return ok;
}

/* In the frame of the geom. */
static int add_shape(cloud *c, const rb_model *m, int k)
{
    const double *s = m->geom_size + 3 * (size_t)k;
    int ok = 1;
    switch (m->geom_type[k]) {
    case RB_GEOM_SPHERE:
        return add_round(c, (double[3]){ s[0], s[0], s[0] }, 0.0);
    case RB_GEOM_CAPSULE:
        return add_round(c, (double[3]){ s[0], s[0], s[0] }, s[1]);
    case RB_GEOM_ELLIPSOID:
        return add_round(c, s, 0.0);
    case RB_GEOM_CYLINDER:
        return add_cylinder(c, s[0], s[1]);
    case RB_GEOM_MESH:
        return add_mesh(c, m, m->geom_asset[k]);
    default:
        break;
    }
    for (int i = 0; i < 8 && ok; i++)
        ok = add_point(c, i & 1 ? s[0] : -s[0], i & 2 ? s[1] : -s[1], i & 4 ? s[2] : -s[2]);
    return ok;
}

static void rotate(const double q[4], double x[3])
{
    double t[3] = { 2.0 * (q[2] * x[2] - q[3] * x[1]), 2.0 * (q[3] * x[0] - q[1] * x[2]),
                    2.0 * (q[1] * x[1] - q[2] * x[0]) };
    double u[3] = { q[2] * t[2] - q[3] * t[1], q[3] * t[0] - q[1] * t[2],
                    q[1] * t[1] - q[2] * t[0] };
    for (int i = 0; i < 3; i++) x[i] += q[0] * t[i] + u[i];
}

/* To the frame of the link, from the centre of mass. */
static void place(const rb_model *m, int k, double x[3])
{
    int b = m->geom_body[k];
    const double *R = m->body_link_rot + 9 * (size_t)b, *l = m->body_link_pos + 3 * (size_t)b;
    double y[3];
    rotate(m->geom_quat + 4 * (size_t)k, x);
    for (int i = 0; i < 3; i++) x[i] += m->geom_pos[3 * (size_t)k + (size_t)i];
    for (int i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    for (int i = 0; i < 3; i++) x[i] = y[i] + l[i] - m->link_com[3 + i];
}

static int gather(const rb_model *m, rb_error *err, int floor, cloud *c)
{
    int ok = 1;
    for (int k = 0; k < m->ngeom && ok; k++) {
        int first = c->n;
        if (m->geom_link[k] != 1 || !touches(m, k, floor)) continue;
        if (m->geom_type[k] == RB_GEOM_PLANE || m->geom_type[k] == RB_GEOM_HFIELD)
            return refuse(err, "the part has a plane or height field: expected shapes with an end");
        ok = add_shape(c, m, k);
        for (int i = first; i < c->n && ok; i++) place(m, k, c->x + 3 * (size_t)i);
    }
    if (!ok) return refuse(err, "out of memory for the part");
    return c->n > 0 ? 1
                    : refuse(err, "no geom of the part can touch the floor: see contype and "
                                  "conaffinity");
}

/* ---- its hull -----------------------------------------------------------------------------------
 */

static int copy_hull(rb_part *p, const rb_hull_def *hull)
{
    size_t nvert = (size_t)hull->nvert, nface = (size_t)hull->nface, nloop = (size_t)hull->nloop;
    p->nvert = hull->nvert;
    p->nface = hull->nface;
    p->nloop = hull->nloop;
    p->vert = malloc(3 * nvert * sizeof *p->vert);
    p->loop = malloc(nloop * sizeof *p->loop);
    p->across = malloc(nloop * sizeof *p->across);
    p->face = calloc(nface + 1, sizeof *p->face);
    if (!p->vert || !p->loop || !p->across || !p->face) return 0;
    memcpy(p->vert, hull->vert, 3 * nvert * sizeof *p->vert);
    memcpy(p->loop, hull->loop, nloop * sizeof *p->loop);
    for (int f = 0; f < p->nface; f++) p->face[f].start = hull->start[f];
    return 1;
}

/* The reader's hulls are those of meshes: the points become one, on a body of a model that is
 * never compiled. */
static int find_hull(rb_part *p, const cloud *c, rb_error *err)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_body_def body = rb_body_default();
    rb_joint_def joint = rb_joint_default();
    rb_mesh_def mesh = rb_mesh_default();
    rb_geom_def geom = rb_geom_default();
    mesh.name = "part";
    mesh.nvert = c->n;
    mesh.vert = c->x;
    joint.type = RB_JOINT_FREE;
    geom.type = RB_GEOM_MESH;
    geom.asset = 0;
    joint.body = geom.body = 1;
    int ok = spec && rb_spec_add_body(spec, &body, err) == 1 &&
             rb_spec_add_joint(spec, &joint, err) == 0 && rb_spec_add_mesh(spec, &mesh, err) == 0 &&
             rb_spec_add_geom(spec, &geom, err) == 0 && rb_spec_hulls(spec, err) == RB_OK;
    int told = !ok && err->text[0];
    ok = ok && copy_hull(p, &rb_spec_mesh(spec, 0)->hull);
    if (!ok && !told) refuse(err, "out of memory for the hull of the part");
    rb_spec_free(spec);
    return ok;
}

static void measure(rb_part *p)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int k = 0; k < p->nvert; k++) {
        const double *x = p->vert + 3 * (size_t)k;
        p->radius = fmax(p->radius, sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
        for (int i = 0; i < 3; i++) {
            lo[i] = fmin(lo[i], x[i]);
            hi[i] = fmax(hi[i], x[i]);
        }
    }
    for (int i = 0; i < 3; i++) p->size = fmax(p->size, hi[i] - lo[i]);
}

/* Everything that a drop depends on, but for the settings. */
static uint64_t fingerprint(const rb_part *p, const rb_model *m, double merge)
{
    uint64_t h = rb_hash(RB_HASH_INIT, &p->mass, sizeof p->mass);
    const double more[] = { p->gravity, p->ground, merge, m->dof_damping[0], m->dof_armature[0] };
    h = rb_hash(h, p->com, sizeof p->com);
    h = rb_hash(h, p->inertia, sizeof p->inertia);
    h = rb_hash(h, more, sizeof more);
    h = rb_hash(h, p->vert, 3 * (size_t)p->nvert * sizeof *p->vert);
    for (int k = 0; k < m->ngeom; k++) {
        const rb_material *a = &m->geom_material[k];
        const double surface[] = { a->friction,       a->friction_static, a->friction_torsion,
                                   a->friction_roll,  a->friction_across, a->friction_viscous,
                                   a->stribeck_speed, a->restitution,     a->relax_stiffness,
                                   a->relax_damping,  m->geom_condim[k],  m->geom_type[k] };
        h = rb_hash(h, surface, sizeof surface);
    }
    return h;
}

/* 1, or 0 with err set. */
static int read(rb_part *p, const rb_model *m, double merge, rb_error *err)
{
    cloud c = { 0 };
    int floor = check_joints(m, err) ? find_floor(m, err, p) - 1 : -1;
    if (floor < 0) return 0;
    p->mass = m->link_mass[1];
    memcpy(p->com, m->link_com + 3, sizeof p->com);
    memcpy(p->inertia, m->link_inertia + 6, sizeof p->inertia);
    int ok = gather(m, err, floor, &c) && find_hull(p, &c, err);
    free(c.x);
    if (!ok) return 0;
    measure(p);
    if (!rb_part_find_poses(p, merge)) return refuse(err, "out of memory for the poses");
    for (int f = 0; f < p->nface; f++)
        if (!(p->face[f].height > 0.0))
            return refuse(err, "the centre of mass lies outside of the hull of what can touch: "
                               "expected it inside; check <inertial> and the geoms");
    p->fingerprint = fingerprint(p, m, merge);
    return 1;
}

rb_status rb_part_read(rb_part *p, const rb_model *m, double merge, rb_error *err)
{
    *p = (rb_part){ 0 };
    *err = (rb_error){ 0 };
    if (read(p, m, merge, err)) return RB_OK;
    if (err->status == RB_OK) err->status = RB_BAD_INPUT;
    return err->status;
}

void rb_part_free(rb_part *p)
{
    free(p->vert);
    free(p->loop);
    free(p->across);
    free(p->face);
    free(p->pose);
    *p = (rb_part){ 0 };
}
