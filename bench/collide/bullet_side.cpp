// Bullet: closest points by its GJK while apart; where shapes touch the algorithm of its
// dispatcher, which keeps the manifold from pose to pose. Hulls are shrunk by the margin that
// Bullet adds.
#include <bullet/BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <bullet/BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <bullet/BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <bullet/BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#include <bullet/LinearMath/btConvexHullComputer.h>
#include <bullet/btBulletCollisionCommon.h>

#include <cmath>
#include <memory>

#include "side.h"

namespace {

constexpr double margin = 0.01;

struct engine {
    const path *p;
    std::unique_ptr<btConvexShape> shape[2];
    btCollisionObject object[2];
    btDefaultCollisionConfiguration config;
    btCollisionDispatcher dispatcher{ &config };
    btPersistentManifold *manifold = nullptr;
    btCollisionAlgorithm *algorithm = nullptr;
    btDispatcherInfo info;
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver depth;
};

btConvexShape *shape_of(const path *p, int k)
{
    const double *size = p->size[k];
    switch (p->type[k]) {
    case RB_GEOM_SPHERE:
        return new btSphereShape(size[0]);
    case RB_GEOM_CAPSULE:
        return new btCapsuleShapeZ(size[0], 2.0 * size[1]);
    case RB_GEOM_CYLINDER: {
        auto *s = new btCylinderShapeZ(btVector3(size[0], size[0], size[1]));
        s->setMargin(margin);
        return s;
    }
    case RB_GEOM_BOX: {
        auto *s = new btBoxShape(btVector3(size[0], size[1], size[2]));
        s->setMargin(margin);
        return s;
    }
    case RB_GEOM_MESH: {
        btConvexHullComputer hull;
        hull.compute(&p->vert[k][0][0], 3 * (int)sizeof(double), p->nvert[k], margin, 0.0);
        auto *s = new btConvexHullShape();
        for (int i = 0; i < hull.vertices.size(); i++) s->addPoint(hull.vertices[i], false);
        s->recalcLocalAabb();
        s->setMargin(margin);
        return s;
    }
    default:
        return nullptr;
    }
}

void *make(const path *p)
{
    auto *e = new engine;
    e->p = p;
    for (int k = 0; k < 2; k++) {
        e->shape[k].reset(shape_of(p, k));
        if (!e->shape[k]) {
            delete e;
            return nullptr;
        }
        e->object[k].setCollisionShape(e->shape[k].get());
    }
    btCollisionObjectWrapper a(nullptr, e->shape[0].get(), &e->object[0],
                               e->object[0].getWorldTransform(), -1, -1);
    btCollisionObjectWrapper b(nullptr, e->shape[1].get(), &e->object[1],
                               e->object[1].getWorldTransform(), -1, -1);
    e->manifold = e->dispatcher.getNewManifold(&e->object[0], &e->object[1]);
    e->algorithm = e->dispatcher.findAlgorithm(&a, &b, e->manifold, BT_CONTACT_POINT_ALGORITHMS);
    return e;
}

btTransform transform_of(const placed &at)
{
    const double *R = at.R;
    return btTransform(btMatrix3x3(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]),
                       btVector3(at.p[0], at.p[1], at.p[2]));
}

double apart(engine *e, int i)
{
    btGjkPairDetector detector(e->shape[0].get(), e->shape[1].get(), &e->simplex, &e->depth);
    btGjkPairDetector::ClosestPointInput input;
    btPointCollector out;
    input.m_transformA = transform_of(e->p->at[i][0]);
    input.m_transformB = transform_of(e->p->at[i][1]);
    detector.getClosestPoints(input, out, nullptr);
    return out.m_hasResult ? (double)out.m_distance : NAN;
}

double touching(engine *e, int i)
{
    for (int k = 0; k < 2; k++) e->object[k].setWorldTransform(transform_of(e->p->at[i][k]));
    btCollisionObjectWrapper a(nullptr, e->shape[0].get(), &e->object[0],
                               e->object[0].getWorldTransform(), -1, -1);
    btCollisionObjectWrapper b(nullptr, e->shape[1].get(), &e->object[1],
                               e->object[1].getWorldTransform(), -1, -1);
    btManifoldResult result(&a, &b);
    result.setPersistentManifold(e->manifold);
    e->algorithm->processCollision(&a, &b, e->info, &result);
    e->manifold->refreshContactPoints(e->object[0].getWorldTransform(),
                                      e->object[1].getWorldTransform());
    double gap = INFINITY;
    for (int c = 0; c < e->manifold->getNumContacts(); c++) {
        gap = std::fmin(gap, (double)e->manifold->getContactPoint(c).getDistance());
    }
    return e->manifold->getNumContacts() > 0 ? gap : NAN;
}

double query(void *handle, int i)
{
    auto *e = static_cast<engine *>(handle);
    return e->p->touching ? touching(e, i) : apart(e, i);
}

void release(void *handle)
{
    auto *e = static_cast<engine *>(handle);
    e->algorithm->~btCollisionAlgorithm();
    e->dispatcher.freeCollisionAlgorithm(e->algorithm);
    e->dispatcher.releaseManifold(e->manifold);
    delete e;
}

} // namespace

const side side_bullet = { "Bullet", { "distance", "manifold" }, make, query, release };
