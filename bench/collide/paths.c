/* Pairs of shapes and their paths. */
#include "paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rattleback/load.h"

const family families[] = {
    { "sphere sphere", { RB_GEOM_SPHERE, RB_GEOM_SPHERE }, 0, 0 },
    { "sphere capsule", { RB_GEOM_SPHERE, RB_GEOM_CAPSULE }, 0, 0 },
    { "sphere box", { RB_GEOM_SPHERE, RB_GEOM_BOX }, 0, 0 },
    { "capsule capsule", { RB_GEOM_CAPSULE, RB_GEOM_CAPSULE }, 0, 0 },
    { "capsule box", { RB_GEOM_CAPSULE, RB_GEOM_BOX }, 0, 0 },
    { "box box", { RB_GEOM_BOX, RB_GEOM_BOX }, 0, 0 },
    { "box box stacked", { RB_GEOM_BOX, RB_GEOM_BOX }, 0, 1 },
    { "sphere cylinder", { RB_GEOM_SPHERE, RB_GEOM_CYLINDER }, 0, 0 },
    { "sphere ellipsoid", { RB_GEOM_SPHERE, RB_GEOM_ELLIPSOID }, 0, 0 },
    { "capsule cylinder", { RB_GEOM_CAPSULE, RB_GEOM_CYLINDER }, 0, 0 },
    { "cylinder cylinder", { RB_GEOM_CYLINDER, RB_GEOM_CYLINDER }, 0, 0 },
    { "cylinder box", { RB_GEOM_CYLINDER, RB_GEOM_BOX }, 0, 0 },
    { "cylinder box stacked", { RB_GEOM_CYLINDER, RB_GEOM_BOX }, 0, 1 },
    { "ellipsoid ellipsoid", { RB_GEOM_ELLIPSOID, RB_GEOM_ELLIPSOID }, 0, 0 },
    { "ellipsoid box", { RB_GEOM_ELLIPSOID, RB_GEOM_BOX }, 0, 0 },
    { "sphere hull 20", { RB_GEOM_SPHERE, RB_GEOM_MESH }, 20, 0 },
    { "box hull 20", { RB_GEOM_BOX, RB_GEOM_MESH }, 20, 0 },
    { "hull hull 20", { RB_GEOM_MESH, RB_GEOM_MESH }, 20, 0 },
    { "hull hull 50", { RB_GEOM_MESH, RB_GEOM_MESH }, 50, 0 },
    { "hull hull 100", { RB_GEOM_MESH, RB_GEOM_MESH }, 100, 0 },
};
const int nfamily = sizeof families / sizeof families[0];

static void turn_of(const double q[4], double R[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3], s = 2.0 / (w * w + x * x + y * y + z * z);
    double m[9] = { 1 - s * (y * y + z * z), s * (x * y - w * z),     s * (x * z + w * y),
                    s * (x * y + w * z),     1 - s * (x * x + z * z), s * (y * z - w * x),
                    s * (x * z - w * y),     s * (y * z + w * x),     1 - s * (x * x + y * y) };
    memcpy(R, m, sizeof m);
}

/* Points on a ball of radius 0.5 as meshes 0 and 1. */
static rb_model *hulls_of(path *p, int nvert, rb_rng *rng)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    for (int k = 0; k < 2; k++) {
        p->nvert[k] = nvert;
        for (int i = 0; i < nvert; i++) {
            double length = 0.0, *x = p->vert[k][i];
            for (int j = 0; j < 3; j++) {
                x[j] = rb_rng_normal(rng);
                length += x[j] * x[j];
            }
            for (int j = 0; j < 3; j++) x[j] *= 0.5 / sqrt(length);
        }
        rb_mesh_def mesh = rb_mesh_default();
        rb_geom_def geom = rb_geom_default();
        mesh.nvert = nvert;
        mesh.vert = &p->vert[k][0][0];
        geom.type = RB_GEOM_MESH;
        geom.asset = rb_spec_add_mesh(spec, &mesh, &err);
        geom.density = 0.0;
        rb_spec_add_geom(spec, &geom, &err);
    }
    rb_spec_hulls(spec, &err);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    rb_spec_free(spec);
    if (!m) {
        fprintf(stderr, "compare_collide: %s\n", err.text);
        exit(1);
    }
    return m;
}

/* Moves shape 2 along the normal until the gap is `goal`. */
static void place(path *p, int i, double goal)
{
    for (int round = 0; round < 3; round++) {
        rb_shape s[2];
        for (int k = 0; k < 2; k++) {
            s[k] = (rb_shape){ .type = p->type[k],
                               .size = p->size[k],
                               .p = p->at[i][k].p,
                               .R = p->at[i][k].R,
                               .model = p->hulls,
                               .asset = p->type[k] == RB_GEOM_MESH ? k : -1 };
        }
        rb_manifold m;
        rb_pair_manifold(&s[0], &s[1], INFINITY, &m);
        int best = 0;
        for (int k = 1; k < m.n; k++) {
            if (m.point[k].gap < m.point[best].gap) best = k;
        }
        for (int k = 0; k < 3; k++) {
            p->at[i][1].p[k] += (goal - m.point[best].gap) * m.point[best].normal[k];
        }
    }
}

void make_path(const family *f, int touching, double motion, uint64_t seed, path *p)
{
    rb_rng rng = rb_rng_make(seed);
    double q[2][4], dq[2][4], out[3], drift[3];
    memset(p, 0, sizeof *p);
    p->name = f->name;
    p->touching = touching;
    for (int k = 0; k < 2; k++) {
        p->type[k] = f->type[k];
        for (int j = 0; j < 3; j++) p->size[k][j] = rb_rng_uniform(&rng, 0.2, 0.5);
        for (int j = 0; j < 4; j++) {
            q[k][j] = f->aligned ? (j == 0) : rb_rng_normal(&rng);
            dq[k][j] = f->aligned ? 0.0 : motion * 1e-3 * rb_rng_normal(&rng);
        }
    }
    if (f->nvert > 0) p->hulls = hulls_of(p, f->nvert, &rng);
    for (int j = 0; j < 3; j++) {
        out[j] = f->aligned ? 2.0 * (j == 2) : rb_rng_normal(&rng);
        drift[j] = f->aligned && j == 2 ? 0.0 : motion * rb_rng_uniform(&rng, -1e-3, 1e-3);
    }
    double length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int j = 0; j < 3; j++) out[j] *= 2.0 / length;
    for (int i = 0; i < POSES; i++) {
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 4; j++) q[k][j] += dq[k][j];
            turn_of(q[k], p->at[i][k].R);
        }
        for (int j = 0; j < 3; j++) {
            out[j] += drift[j];
            p->at[i][1].p[j] = out[j];
        }
        double share = motion * (i + 0.5) / POSES;
        place(p, i, touching ? -1e-6 - 1e-3 * share : 0.02 + 0.2 * share);
        memcpy(out, p->at[i][1].p, sizeof out);
    }
}

void free_path(path *p)
{
    rb_model_free((rb_model *)p->hulls, NULL);
}

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
