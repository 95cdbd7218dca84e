/* MuJoCo: mj_geomDistance while apart, its table of collision functions where shapes touch. */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"

typedef struct engine {
    const path *p;
    mjModel *m;
    mjData *d;
} engine;

static const mjtGeom types[] = { mjGEOM_PLANE,     mjGEOM_HFIELD,   mjGEOM_SPHERE, mjGEOM_CAPSULE,
                                 mjGEOM_ELLIPSOID, mjGEOM_CYLINDER, mjGEOM_BOX,    mjGEOM_MESH };

static void release(void *handle)
{
    engine *e = handle;
    mj_deleteData(e->d);
    mj_deleteModel(e->m);
    free(e);
}

static void add_hull(mjSpec *spec, const path *p, int k)
{
    char name[8];
    float x[3 * MOST_VERT];
    snprintf(name, sizeof name, "m%d", k);
    for (int i = 0; i < p->nvert[k]; i++) {
        for (int j = 0; j < 3; j++) x[3 * i + j] = (float)p->vert[k][i][j];
    }
    mjsMesh *mesh = mjs_addMesh(spec, NULL);
    mjs_setName(mesh->element, name);
    mjs_setFloat(mesh->uservert, x, 3 * p->nvert[k]);
}

static void *make(const path *p)
{
    engine *e = calloc(1, sizeof *e);
    mjSpec *spec = mj_makeSpec();
    if (!e || !spec) return NULL;
    e->p = p;
    for (int k = 0; k < 2; k++) {
        char name[8];
        mjsBody *body = mjs_addBody(mjs_findBody(spec, "world"), NULL);
        mjsGeom *geom = mjs_addGeom(body, NULL);
        mjs_addFreeJoint(body);
        geom->type = types[p->type[k]];
        memcpy(geom->size, p->size[k], sizeof geom->size);
        if (p->type[k] != RB_GEOM_MESH) continue;
        add_hull(spec, p, k);
        snprintf(name, sizeof name, "m%d", k);
        mjs_setString(geom->meshname, name);
    }
    e->m = mj_compile(spec, NULL);
    if (!e->m) {
        fprintf(stderr, "mujoco: %s\n", mjs_getError(spec));
        exit(1);
    }
    e->d = mj_makeData(e->m);
    mj_forward(e->m, e->d);
    mj_deleteSpec(spec);
    return e;
}

/* MuJoCo turns meshes to their principal axes: the pose of the geom in its body is kept. */
static void place(engine *e, int i)
{
    for (int k = 0; k < 2; k++) {
        const placed *at = &e->p->at[i][k];
        const mjtNum *pos = e->m->geom_pos + 3 * k, *quat = e->m->geom_quat + 4 * k;
        mjtNum R[9], turned[3];
        if (e->p->type[k] != RB_GEOM_MESH) {
            memcpy(e->d->geom_xpos + 3 * k, at->p, sizeof at->p);
            memcpy(e->d->geom_xmat + 9 * k, at->R, sizeof at->R);
            continue;
        }
        mju_quat2Mat(R, quat);
        mju_mulMatMat(e->d->geom_xmat + 9 * k, at->R, R, 3, 3, 3);
        mju_mulMatVec3(turned, at->R, pos);
        mju_add3(e->d->geom_xpos + 3 * k, at->p, turned);
    }
}

static double query(void *handle, int i)
{
    engine *e = handle;
    place(e, i);
    if (!e->p->touching) return mj_geomDistance(e->m, e->d, 0, 1, 1e10, NULL);
    mjPreContact con[mjMAXCONPAIR];
    int swap = types[e->p->type[0]] > types[e->p->type[1]];
    int n = mjCOLLISIONFUNC[e->m->geom_type[swap]][e->m->geom_type[!swap]](e->m, e->d, con, swap,
                                                                           !swap, 1e-3);
    double gap = INFINITY;
    for (int c = 0; c < n; c++) gap = fmin(gap, con[c].dist);
    return n > 0 ? gap : NAN;
}

const side side_mujoco = { "MuJoCo", { "distance", "manifold" }, make, query, release };
