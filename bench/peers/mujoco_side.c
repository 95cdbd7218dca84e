/* MuJoCo: the same file.
 *
 *   default    as the library comes: Newton, pyramidal cones, solref 0.02 1
 *   elliptic   elliptic cones
 *   stiff      elliptic, solref 2h 1 (the stiffest it lets through), solimp .99 .999, impratio 10
 *   implicit   the defaults with the implicit integrator
 *   stiff-implicit   the same as stiff with the implicit integrator, for chains
 *   cg         elliptic, conjugate gradients, for many bodies */
#include "peer.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sim {
    mjModel *m;
    mjData *d;
} sim;

static void release(void *handle)
{
    sim *w = handle;
    if (w->d) mj_deleteData(w->d);
    if (w->m) mj_deleteModel(w->m);
    free(w);
}

static void set_stiff(mjModel *m)
{
    m->opt.impratio = 10.0;
    for (int k = 0; k < m->ngeom; k++) {
        m->geom_solref[2 * k] = 2.0 * m->opt.timestep;
        m->geom_solref[2 * k + 1] = 1.0;
        m->geom_solimp[5 * k] = 0.99;
        m->geom_solimp[5 * k + 1] = 0.999;
        m->geom_solimp[5 * k + 2] = 0.001;
    }
}

static void *make(const peer_scene *s, const char *setting, char *why, size_t size)
{
    char error[500] = "";
    sim *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->m = mj_loadXML(s->path, NULL, error, sizeof error);
    if (w->m) {
        w->m->opt.timestep = s->h;
        if (strcmp(setting, "default") != 0 && strcmp(setting, "implicit") != 0)
            w->m->opt.cone = mjCONE_ELLIPTIC;
        if (strncmp(setting, "stiff", 5) == 0) set_stiff(w->m);
        if (strstr(setting, "implicit")) w->m->opt.integrator = mjINT_IMPLICIT;
        if (strstr(setting, "cg")) w->m->opt.solver = mjSOL_CG;
        w->d = mj_makeData(w->m);
    }
    if (!w->d) {
        for (char *c = error; *c; c++)
            if (*c == '"' || *c == '\n' || *c == '\\') *c = ' ';
        snprintf(why, size, "%.200s", error);
        release(w);
        return NULL;
    }
    if (w->m->nkey > 0) mj_resetDataKeyframe(w->m, w->d, 0);
    mj_forward(w->m, w->d);
    return w;
}

static int step(void *handle)
{
    sim *w = handle;
    mj_step(w->m, w->d);
    return w->d->warning[mjWARN_BADQACC].number + w->d->warning[mjWARN_BADQPOS].number == 0;
}

static int contacts(void *handle)
{
    return ((sim *)handle)->d->ncon;
}

static void read_state(void *handle, peer_state *x)
{
    sim *w = handle;
    mj_kinematics(w->m, w->d);
    mj_comPos(w->m, w->d);
    mj_comVel(w->m, w->d);
    for (int b = 1; b < w->m->nbody; b++, x++) {
        mjtNum r[6];
        mj_objectVelocity(w->m, w->d, mjOBJ_BODY, b, r, 0);
        memcpy(x->p, w->d->xipos + 3 * b, sizeof x->p);
        memcpy(x->q, w->d->xquat + 4 * b, sizeof x->q);
        memcpy(x->w, r, sizeof x->w);
        memcpy(x->v, r + 3, sizeof x->v);
    }
}

static const char *const settings[] = { "default",        "elliptic", "stiff", "implicit",
                                        "stiff-implicit", "cg",       NULL };
const peer_engine peer_engine_here = { "mujoco", mj_versionString, settings,   make,
                                       step,     contacts,         read_state, release };
