/* Bullet, double precision: rigid bodies where nothing is jointed, else a multibody.
 *
 *   siN       sequential impulses, N iterations (10 is the default)
 *   dantzig   the mixed LCP by Dantzig, as the library falls back from it
 *
 * Bullet multiplies the coefficients of a pair: each shape gets the square root. */
#include "peer.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyMLCPConstraintSolver.h>
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace {

btVector3 vec(const double *a)
{
    return btVector3(a[0], a[1], a[2]);
}

btQuaternion quat(const double *q)
{
    return btQuaternion(q[1], q[2], q[3], q[0]);
}

void put(const btVector3 &a, double *out)
{
    for (int i = 0; i < 3; i++) out[i] = a[i];
}

void put(const btQuaternion &q, double *out)
{
    const double r[4] = { q.w(), q.x(), q.y(), q.z() };
    memcpy(out, r, sizeof r);
}

struct Sim {
    const peer_scene *s;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broad;
    std::unique_ptr<btMLCPSolverInterface> mlcp;
    std::unique_ptr<btConstraintSolver> solver;
    std::unique_ptr<btDiscreteDynamicsWorld> world;
    std::unique_ptr<btMultiBody> multi;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btCollisionObject>> objects;
    std::vector<btRigidBody *> rigid;
    std::vector<int> link; /* of each body in the multibody, -1: its base */

    ~Sim()
    {
        for (auto &o : objects) world->removeCollisionObject(o.get());
        if (multi)
            static_cast<btMultiBodyDynamicsWorld *>(world.get())->removeMultiBody(multi.get());
    }

    btCollisionShape *keep(btCollisionShape *shape)
    {
        shapes.emplace_back(shape);
        return shape;
    }

    btCollisionShape *primitive(const peer_geom &g)
    {
        if (g.shape == PEER_SPHERE) return keep(new btSphereShape(g.size[0]));
        if (g.shape == PEER_BOX) return keep(new btBoxShape(vec(g.size)));
        if (g.shape == PEER_CAPSULE) return keep(new btCapsuleShapeZ(g.size[0], 2 * g.size[1]));
        const double up[3] = { 0, 0, 1 };
        double n[3];
        peer_turn(g.quat, up, n);
        return keep(new btStaticPlaneShape(vec(n), peer_dot(n, g.pos)));
    }

    /* All shapes of a body; NULL where it has none. */
    btCollisionShape *shape_of(int body, double *mu)
    {
        std::vector<const peer_geom *> own;
        for (int k = 0; k < s->ngeom; k++)
            if (s->geom[k].body == body) own.push_back(&s->geom[k]);
        if (own.empty()) return nullptr;
        *mu = std::sqrt(own[0]->mu);
        const peer_geom &g = *own[0];
        if (own.size() == 1 && peer_dot(g.pos, g.pos) == 0.0 && g.quat[0] == 1.0)
            return primitive(g);
        auto *all = new btCompoundShape();
        keep(all);
        for (auto *one : own)
            all->addChildShape(btTransform(quat(one->quat), vec(one->pos)), primitive(*one));
        return all;
    }

    int mask() const
    {
        return s->self_collide ? btBroadphaseProxy::AllFilter : btBroadphaseProxy::StaticFilter;
    }

    void add_fixed(const peer_geom &g)
    {
        btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, primitive(g));
        if (g.shape != PEER_PLANE)
            info.m_startWorldTransform = btTransform(quat(g.quat), vec(g.pos));
        auto *body = new btRigidBody(info);
        objects.emplace_back(body);
        body->setFriction(std::sqrt(g.mu));
        world->addRigidBody(body, btBroadphaseProxy::StaticFilter,
                            btBroadphaseProxy::AllFilter ^ btBroadphaseProxy::StaticFilter);
    }

    void add_rigid(int i)
    {
        const peer_body &b = s->body[i];
        double mu = 0.0;
        btRigidBody::btRigidBodyConstructionInfo info(b.mass, nullptr, shape_of(i, &mu),
                                                      vec(b.inertia));
        info.m_startWorldTransform = btTransform(quat(b.quat), vec(b.pos));
        auto *body = new btRigidBody(info);
        objects.emplace_back(body);
        rigid.push_back(body);
        body->setLinearVelocity(vec(b.v));
        body->setAngularVelocity(vec(b.w));
        body->setFriction(mu);
        body->setActivationState(DISABLE_DEACTIVATION);
        if (b.joint == PEER_PLANAR) {
            btVector3 n = vec(b.axis).absolute();
            body->setLinearFactor(btVector3(1, 1, 1) - n);
            body->setAngularFactor(n);
        }
        world->addRigidBody(body, btBroadphaseProxy::DefaultFilter, mask());
    }

    void add_hinge(int i, const double *base_pos, const double *base_quat)
    {
        const peer_body &b = s->body[i];
        bool root = b.parent < 0;
        btQuaternion own = quat(b.quat);
        btQuaternion above = root ? quat(base_quat) : quat(s->body[b.parent].quat);
        btVector3 place = root ? vec(base_pos) : vec(s->body[b.parent].pos);
        btVector3 axis = quatRotate(own.inverse(), vec(b.axis));
        btVector3 to_joint = quatRotate(above.inverse(), vec(b.anchor) - place);
        btVector3 to_com = quatRotate(own.inverse(), vec(b.pos) - vec(b.anchor));
        multi->setupRevolute(link[i], b.mass, vec(b.inertia), root ? -1 : link[b.parent],
                             own.inverse() * above, axis, to_joint, to_com, true);
    }

    void add_colliders()
    {
        for (int i = 0; i < s->nbody; i++) {
            double mu = 0.0;
            btCollisionShape *shape = shape_of(i, &mu);
            if (!shape) continue;
            auto *c = new btMultiBodyLinkCollider(multi.get(), link[i]);
            objects.emplace_back(c);
            c->setCollisionShape(shape);
            c->setWorldTransform(btTransform(quat(s->body[i].quat), vec(s->body[i].pos)));
            c->setFriction(mu);
            world->addCollisionObject(c, btBroadphaseProxy::DefaultFilter, mask());
            if (link[i] < 0)
                multi->setBaseCollider(c);
            else
                multi->getLink(link[i]).m_collider = c;
        }
    }

    void add_multibody(btMultiBodyDynamicsWorld *to)
    {
        const peer_body &b = s->body[0];
        bool fixed = b.joint == PEER_HINGE;
        const double identity[4] = { 1, 0, 0, 0 };
        const double *pos = fixed ? b.anchor : b.pos, *turn = fixed ? identity : b.quat;
        multi.reset(new btMultiBody(s->nbody - (fixed ? 0 : 1), fixed ? 0 : b.mass,
                                    fixed ? btVector3(0, 0, 0) : vec(b.inertia), fixed, false));
        multi->setBasePos(vec(pos));
        multi->setWorldToBaseRot(quat(turn).inverse());
        for (int i = 0; i < s->nbody; i++) link.push_back(fixed ? i : i - 1);
        for (int i = fixed ? 0 : 1; i < s->nbody; i++) add_hinge(i, pos, turn);
        multi->finalizeMultiDof();
        multi->setLinearDamping(0);
        multi->setAngularDamping(0);
        multi->setCanSleep(false);
        multi->setHasSelfCollision(s->self_collide);
        multi->setMaxCoordinateVelocity(1e6);
        multi->setMaxAppliedImpulse(1e9);
        for (int i = fixed ? 0 : 1; i < s->nbody; i++) multi->setJointVel(link[i], s->body[i].rate);
        to->addMultiBody(multi.get());
        add_colliders();
        btAlignedObjectArray<btQuaternion> q;
        btAlignedObjectArray<btVector3> l;
        multi->forwardKinematics(q, l);
        multi->updateCollisionObjectWorldTransforms(q, l);
    }

    Sim(const peer_scene *scene, const char *setting) : s(scene)
    {
        if (strcmp(setting, "dantzig") == 0) mlcp.reset(new btDantzigSolver());
        if (s->articulated) {
            auto *own = mlcp ? new btMultiBodyMLCPConstraintSolver(mlcp.get())
                             : new btMultiBodyConstraintSolver();
            solver.reset(own);
            world.reset(new btMultiBodyDynamicsWorld(&dispatcher, &broad, own, &configuration));
        } else {
            if (mlcp)
                solver.reset(new btMLCPSolver(mlcp.get()));
            else
                solver.reset(new btSequentialImpulseConstraintSolver());
            world.reset(
                new btDiscreteDynamicsWorld(&dispatcher, &broad, solver.get(), &configuration));
        }
        world->setGravity(vec(s->gravity));
        world->getSolverInfo().m_numIterations = mlcp ? 10 : atoi(setting + 2);
        if (mlcp) world->getSolverInfo().m_minimumSolverBatchSize = 1;
        for (int k = 0; k < s->ngeom; k++)
            if (s->geom[k].body < 0) add_fixed(s->geom[k]);
        if (s->articulated)
            add_multibody(static_cast<btMultiBodyDynamicsWorld *>(world.get()));
        else
            for (int i = 0; i < s->nbody; i++) add_rigid(i);
    }

    void servo()
    {
        for (int i = 0; i < s->nbody; i++) {
            if (s->body[i].joint != PEER_HINGE) continue;
            double angle = multi->getJointPos(link[i]), rate = multi->getJointVel(link[i]);
            multi->addJointTorque(link[i], peer_servo(&s->body[i], angle, rate));
        }
    }

    void read_multibody(peer_state *x)
    {
        btAlignedObjectArray<btQuaternion> q;
        btAlignedObjectArray<btVector3> l;
        multi->forwardKinematics(q, l);
        std::vector<btVector3> w(size_t(multi->getNumLinks()) + 1), v(w.size());
        multi->compTreeLinkVelocities(w.data(), v.data());
        for (int i = 0; i < s->nbody; i++) {
            btTransform t = link[i] < 0 ? multi->getBaseWorldTransform()
                                        : multi->getLink(link[i]).m_cachedWorldTransform;
            btQuaternion r = t.getRotation();
            put(t.getOrigin(), x[i].p);
            put(r, x[i].q);
            put(quatRotate(r, v[size_t(link[i] + 1)]), x[i].v);
            put(quatRotate(r, w[size_t(link[i] + 1)]), x[i].w);
        }
    }
};

void *make(const peer_scene *s, const char *setting, char *, size_t)
{
    return new Sim(s, setting);
}

int step(void *handle)
{
    Sim *w = static_cast<Sim *>(handle);
    if (w->s->servos) w->servo();
    w->world->stepSimulation(w->s->h, 0);
    return 1;
}

int contacts(void *handle)
{
    Sim *w = static_cast<Sim *>(handle);
    int n = 0;
    for (int k = 0; k < w->dispatcher.getNumManifolds(); k++)
        n += w->dispatcher.getManifoldByIndexInternal(k)->getNumContacts();
    return n;
}

void read_state(void *handle, peer_state *x)
{
    Sim *w = static_cast<Sim *>(handle);
    if (w->multi) return w->read_multibody(x);
    for (auto *b : w->rigid) {
        const btTransform &t = b->getWorldTransform();
        put(t.getOrigin(), x->p);
        put(t.getRotation(), x->q);
        put(b->getLinearVelocity(), x->v);
        put(b->getAngularVelocity(), x->w);
        x++;
    }
}

void release(void *handle)
{
    delete static_cast<Sim *>(handle);
}

const char *version()
{
    return "3.24";
}

const char *const settings[] = { "si10", "si50", "dantzig", nullptr };

} // namespace

extern "C" const peer_engine peer_engine_here = { "bullet", version,  settings,   make,
                                                  step,     contacts, read_state, release };
