/* DART with ODE's collision detector.
 *
 *   dantzig   Dantzig's boxed LCP, projected Gauss-Seidel behind it: the default
 *   erp       the same with contacts that correct 0.2 of an overlap per step (0.01 is the default)
 *   pgs       projected Gauss-Seidel alone */
#include "peer.h"

#include <dart/collision/ode/ode.hpp>
#include <dart/dart.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace dart::dynamics;
namespace constraint = dart::constraint;

namespace {

Eigen::Vector3d vec(const double *a)
{
    return Eigen::Vector3d(a[0], a[1], a[2]);
}

Eigen::Isometry3d frame(const double *p, const double *q)
{
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
    X.translation() = vec(p);
    return X;
}

void put(const Eigen::Vector3d &a, double *out)
{
    for (int i = 0; i < 3; i++) out[i] = a[i];
}

struct Sim {
    const peer_scene *s;
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    std::vector<BodyNode *> node;

    void add_shape(BodyNode *to, const peer_geom &g)
    {
        ShapePtr shape;
        const double *a = g.size;
        const double up[3] = { 0, 0, 1 };
        double n[3];
        if (g.shape == PEER_SPHERE) shape = std::make_shared<SphereShape>(a[0]);
        if (g.shape == PEER_BOX) shape = std::make_shared<BoxShape>(2.0 * vec(a));
        if (g.shape == PEER_CAPSULE) shape = std::make_shared<CapsuleShape>(a[0], 2.0 * a[1]);
        if (g.shape == PEER_PLANE) {
            peer_turn(g.quat, up, n);
            shape = std::make_shared<PlaneShape>(vec(n), peer_dot(n, g.pos));
        }
        ShapeNode *sn = to->createShapeNode(shape);
        if (g.shape != PEER_PLANE) sn->setRelativeTransform(frame(g.pos, g.quat));
        sn->createDynamicsAspect();
        sn->getDynamicsAspect()->setFrictionCoeff(g.mu);
        sn->getDynamicsAspect()->setRestitutionCoeff(0.0);
        sn->createCollisionAspect();
    }

    void set_solver(const char *setting)
    {
        auto pgs = std::make_shared<constraint::PgsBoxedLcpSolver>();
        auto dantzig = std::make_shared<constraint::DantzigBoxedLcpSolver>();
        std::unique_ptr<constraint::BoxedLcpConstraintSolver> solver;
        if (strcmp(setting, "pgs") == 0)
            solver.reset(new constraint::BoxedLcpConstraintSolver(pgs, nullptr));
        else
            solver.reset(new constraint::BoxedLcpConstraintSolver(dantzig, pgs));
        solver->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
        solver->getCollisionOption().maxNumContacts = 20000;
        world->setConstraintSolver(std::move(solver));
        bool erp = strcmp(setting, "erp") == 0;
        constraint::ContactConstraint::setErrorReductionParameter(erp ? 0.2 : 0.01);
        constraint::ContactConstraint::setMaxErrorReductionVelocity(erp ? 1.0 : 0.1);
        constraint::ContactConstraint::setConstraintForceMixing(erp ? 1e-9 : 1e-5);
    }

    BodyNode *add_hinge(SkeletonPtr to, const peer_body &b, const BodyNode::Properties &mass)
    {
        static const double zero[3] = { 0, 0, 0 }, identity[4] = { 1, 0, 0, 0 };
        const double *pos = b.parent < 0 ? zero : s->body[b.parent].pos;
        const double *turn = b.parent < 0 ? identity : s->body[b.parent].quat;
        Eigen::Isometry3d joint = frame(b.anchor, b.quat); /* axes of the child, at the anchor */
        RevoluteJoint::Properties p;
        p.mName = mass.mName;
        p.mAxis = joint.linear().transpose() * vec(b.axis);
        p.mT_ParentBodyToJoint = frame(pos, turn).inverse() * joint;
        p.mT_ChildBodyToJoint = frame(b.pos, b.quat).inverse() * joint;
        auto pair =
            to->createJointAndBodyNodePair<RevoluteJoint>(b.parent < 0 ? nullptr
                                                                       : node[size_t(b.parent)],
                                                          p, mass);
        pair.first->setVelocity(0, b.rate);
        return pair.second;
    }

    /* The frame of the joint has the plane as its xy: z is the normal. */
    BodyNode *add_planar(SkeletonPtr to, const peer_body &b, const BodyNode::Properties &mass)
    {
        Eigen::Vector3d n = vec(b.axis), t1 = Eigen::Vector3d::UnitX(), t2 = n.cross(t1);
        PlanarJoint::Properties p;
        p.setArbitraryPlane(t1, t2);
        auto pair = to->createJointAndBodyNodePair<PlanarJoint>(nullptr, p, mass);
        Eigen::AngleAxisd turn(frame(b.pos, b.quat).linear());
        double angle = turn.angle() * turn.axis().dot(n);
        pair.first->setPositions(Eigen::Vector3d(vec(b.pos).dot(t1), vec(b.pos).dot(t2), angle));
        pair.first->setVelocities(Eigen::Vector3d(vec(b.v).dot(t1), vec(b.v).dot(t2), b.rate));
        return pair.second;
    }

    BodyNode *add_free(SkeletonPtr to, const peer_body &b, const BodyNode::Properties &mass)
    {
        auto pair =
            to->createJointAndBodyNodePair<FreeJoint>(nullptr, FreeJoint::Properties(), mass);
        pair.first->setTransform(frame(b.pos, b.quat));
        pair.first->setLinearVelocity(vec(b.v));
        pair.first->setAngularVelocity(vec(b.w));
        return pair.second;
    }

    Sim(const peer_scene *scene, const char *setting) : s(scene)
    {
        world->setTimeStep(s->h);
        world->setGravity(vec(s->gravity));
        set_solver(setting);
        auto ground = Skeleton::create("ground");
        for (int k = 0; k < s->ngeom; k++)
            if (s->geom[k].body < 0)
                add_shape(ground->createJointAndBodyNodePair<WeldJoint>(nullptr).second,
                          s->geom[k]);
        ground->setMobile(false);
        world->addSkeleton(ground);
        SkeletonPtr tree;
        for (int i = 0; i < s->nbody; i++) {
            const peer_body &b = s->body[i];
            if (b.parent < 0) {
                tree = Skeleton::create("tree" + std::to_string(i));
                if (s->self_collide) tree->enableSelfCollisionCheck();
                tree->disableAdjacentBodyCheck();
            }
            BodyNode::Properties mass;
            mass.mName = "body" + std::to_string(i);
            mass.mInertia = Inertia(b.mass, Eigen::Vector3d::Zero(), vec(b.inertia).asDiagonal());
            node.push_back(b.joint == PEER_HINGE    ? add_hinge(tree, b, mass)
                           : b.joint == PEER_PLANAR ? add_planar(tree, b, mass)
                                                    : add_free(tree, b, mass));
            for (int k = 0; k < s->ngeom; k++)
                if (s->geom[k].body == i) add_shape(node.back(), s->geom[k]);
            if (i + 1 == s->nbody || s->body[i + 1].parent < 0) world->addSkeleton(tree);
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
    for (int i = 0; w->s->servos && i < w->s->nbody; i++) {
        if (w->s->body[i].joint != PEER_HINGE) continue;
        Joint *j = w->node[size_t(i)]->getParentJoint();
        j->setForce(0, peer_servo(&w->s->body[i], j->getPosition(0), j->getVelocity(0)));
    }
    w->world->step();
    return 1;
}

int contacts(void *handle)
{
    return int(static_cast<Sim *>(handle)->world->getLastCollisionResult().getNumContacts());
}

void read_state(void *handle, peer_state *x)
{
    for (auto *n : static_cast<Sim *>(handle)->node) {
        Eigen::Isometry3d X = n->getWorldTransform();
        Eigen::Quaterniond q(X.linear());
        const double r[4] = { q.w(), q.x(), q.y(), q.z() };
        put(X.translation(), x->p);
        memcpy(x->q, r, sizeof r);
        put(n->getLinearVelocity(), x->v);
        put(n->getAngularVelocity(), x->w);
        x++;
    }
}

void release(void *handle)
{
    delete static_cast<Sim *>(handle);
}

const char *version()
{
    return DART_VERSION;
}

const char *const settings[] = { "dantzig", "erp", "pgs", nullptr };

} // namespace

extern "C" const peer_engine peer_engine_here = { "dart", version,  settings,   make,
                                                  step,   contacts, read_state, release };
