/* Open Dynamics Engine, double precision.
 *
 *   dantzig    dWorldStep: the direct solver, friction as a pyramid, library defaults
 *   quickN     dWorldQuickStep with N iterations (20 is the default)
 *
 * There is no planar joint for any plane: the rod is free, its motion is planar by symmetry. */
#include "peer.h"

#include <ode/ode.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 16, MANY = 50 };

typedef struct sim {
    const peer_scene *s;
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dBodyID *body;
    dJointID *hinge;
    int quick, contacts;
} sim;

static const char *version(void)
{
    return "0.16.2";
}

static void release(void *handle)
{
    sim *w = handle;
    dJointGroupDestroy(w->group);
    dSpaceDestroy(w->space);
    dWorldDestroy(w->world);
    free(w->body);
    free(w->hinge);
    free(w);
}

static void add_geom(sim *w, const peer_geom *g)
{
    const double *a = g->size, *p = g->pos;
    dGeomID id;
    if (g->shape == PEER_PLANE) {
        static const double up[3] = { 0.0, 0.0, 1.0 };
        double n[3];
        peer_turn(g->quat, up, n);
        dGeomSetData(dCreatePlane(w->space, n[0], n[1], n[2], peer_dot(n, p)),
                     (void *)(uintptr_t)g);
        return;
    }
    if (g->shape == PEER_SPHERE)
        id = dCreateSphere(w->space, a[0]);
    else if (g->shape == PEER_BOX)
        id = dCreateBox(w->space, 2 * a[0], 2 * a[1], 2 * a[2]);
    else
        id = dCreateCapsule(w->space, a[0], 2 * a[1]);
    dGeomSetData(id, (void *)(uintptr_t)g);
    if (g->body < 0) {
        dGeomSetPosition(id, p[0], p[1], p[2]);
        dGeomSetQuaternion(id, g->quat);
    } else {
        dGeomSetBody(id, w->body[g->body]);
        dGeomSetOffsetPosition(id, p[0], p[1], p[2]);
        dGeomSetOffsetQuaternion(id, g->quat);
    }
}

static void add_body(sim *w, int i)
{
    const peer_body *b = &w->s->body[i];
    dBodyID id = w->body[i] = dBodyCreate(w->world);
    dMass m;
    dMassSetParameters(&m, b->mass, 0, 0, 0, b->inertia[0], b->inertia[1], b->inertia[2], 0, 0, 0);
    dBodySetMass(id, &m);
    dBodySetPosition(id, b->pos[0], b->pos[1], b->pos[2]);
    dBodySetQuaternion(id, b->quat);
    dBodySetLinearVel(id, b->v[0], b->v[1], b->v[2]);
    dBodySetAngularVel(id, b->w[0], b->w[1], b->w[2]);
    if (b->joint != PEER_HINGE) return;
    dJointID j = w->hinge[i] = dJointCreateHinge(w->world, 0);
    dJointAttach(j, id, b->parent >= 0 ? w->body[b->parent] : 0);
    dJointSetHingeAnchor(j, b->anchor[0], b->anchor[1], b->anchor[2]);
    dJointSetHingeAxis(j, b->axis[0], b->axis[1], b->axis[2]);
}

static void *make(const peer_scene *s, const char *setting, char *why, size_t size)
{
    static int started;
    (void)why;
    (void)size;
    if (!started) started = dInitODE2(0);
    sim *w = calloc(1, sizeof *w);
    w->s = s;
    w->body = calloc((size_t)s->nbody, sizeof *w->body);
    w->hinge = calloc((size_t)s->nbody, sizeof *w->hinge);
    w->world = dWorldCreate();
    w->space = s->nbody > MANY ? dHashSpaceCreate(0) : dSimpleSpaceCreate(0);
    w->group = dJointGroupCreate(0);
    dRandSetSeed(0);
    dWorldSetGravity(w->world, s->gravity[0], s->gravity[1], s->gravity[2]);
    w->quick = strncmp(setting, "quick", 5) == 0;
    if (w->quick) dWorldSetQuickStepNumIterations(w->world, atoi(setting + 5));
    for (int i = 0; i < s->nbody; i++) add_body(w, i);
    for (int k = 0; k < s->ngeom; k++) add_geom(w, &s->geom[k]);
    return w;
}

static void near_pair(void *handle, dGeomID a, dGeomID b)
{
    sim *w = handle;
    const peer_geom *g = dGeomGetData(a), *f = dGeomGetData(b);
    if (g->body == f->body) return;
    if (g->body >= 0 && f->body >= 0) {
        const peer_body *all = w->s->body;
        if (!w->s->self_collide) return;
        if (all[g->body].parent == f->body || all[f->body].parent == g->body) return;
    }
    dContact c[MOST_POINTS];
    int n = dCollide(a, b, MOST_POINTS, &c[0].geom, sizeof *c);
    for (int k = 0; k < n; k++) {
        memset(&c[k].surface, 0, sizeof c[k].surface);
        c[k].surface.mode = dContactApprox1;
        c[k].surface.mu = g->mu > f->mu ? g->mu : f->mu;
        dJointAttach(dJointCreateContact(w->world, w->group, &c[k]), dGeomGetBody(a),
                     dGeomGetBody(b));
    }
    w->contacts += n;
}

static int step(void *handle)
{
    sim *w = handle;
    w->contacts = 0;
    for (int i = 0; w->s->servos && i < w->s->nbody; i++) {
        if (!w->hinge[i]) continue;
        double angle = dJointGetHingeAngle(w->hinge[i]),
               rate = dJointGetHingeAngleRate(w->hinge[i]);
        dJointAddHingeTorque(w->hinge[i], peer_servo(&w->s->body[i], angle, rate));
    }
    dSpaceCollide(w->space, w, near_pair);
    if (w->quick)
        dWorldQuickStep(w->world, w->s->h);
    else
        dWorldStep(w->world, w->s->h);
    dJointGroupEmpty(w->group);
    return 1;
}

static int contacts(void *handle)
{
    return ((sim *)handle)->contacts;
}

static void read_state(void *handle, peer_state *x)
{
    sim *w = handle;
    for (int i = 0; i < w->s->nbody; i++) {
        memcpy(x[i].p, dBodyGetPosition(w->body[i]), sizeof x[i].p);
        memcpy(x[i].q, dBodyGetQuaternion(w->body[i]), sizeof x[i].q);
        memcpy(x[i].v, dBodyGetLinearVel(w->body[i]), sizeof x[i].v);
        memcpy(x[i].w, dBodyGetAngularVel(w->body[i]), sizeof x[i].w);
    }
}

static const char *const settings[] = { "dantzig", "quick20", "quick100", NULL };
const peer_engine peer_engine_here = { "ode", version,  settings,   make,
                                       step,  contacts, read_state, release };
