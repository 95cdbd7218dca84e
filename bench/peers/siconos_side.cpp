/* Siconos: Moreau-Jean, theta 1/2, contacts found by its copy of Bullet.
 *
 *   nsgs   free bodies: 3D friction by nonsmooth Gauss-Seidel to 1e-8; jointed bodies: the
 *          GenericMechanical problem of joints and contacts to 1e-4
 *
 * Planes are slabs (its planes let bodies sink), capsules two spheres, and every link of a chain is
 * a collision group: the flag of the joints did not keep neighbours apart. */
#include "peer.h"

#include <Friction_cst.h>
#include <MechanicsFwd.hpp>
#include <PivotJointR.hpp>
#include <RigidBodyDS.hpp>
#include <SiconosBulletCollisionManager.hpp>
#include <SiconosKernel.hpp>
#include <SolverOptions.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

typedef std::shared_ptr<SiconosVector> Vector;

Vector vector_of(std::initializer_list<double> values)
{
    auto v = std::make_shared<SiconosVector>(unsigned(values.size()));
    unsigned i = 0;
    for (double x : values) v->setValue(i++, x);
    return v;
}

Vector place(const double *p, const double *q)
{
    return vector_of({ p[0], p[1], p[2], q[0], q[1], q[2], q[3] });
}

const double IDENTITY[4] = { 1, 0, 0, 0 };

struct Sim {
    const peer_scene *s;
    SP::NonSmoothDynamicalSystem system = std::make_shared<NonSmoothDynamicalSystem>(0, 1e10);
    SP::SiconosBulletCollisionManager manager;
    SP::TimeStepping stepping;
    std::vector<SP::RigidBodyDS> body;
    std::vector<Vector> torque;
    std::vector<peer_state> x;
    int joints = 0;

    void add_shape(SiconosContactorSet &to, const peer_geom &g, int group)
    {
        if (g.shape == PEER_BOX) {
            auto box = std::make_shared<SiconosBox>(2 * g.size[0], 2 * g.size[1], 2 * g.size[2]);
            double thin = std::fmin(g.size[0], std::fmin(g.size[1], g.size[2]));
            box->setInsideMargin(std::fmin(0.05, 0.4 * thin));
            to.append(std::make_shared<SiconosContactor>(box, place(g.pos, g.quat), group));
            return;
        }
        for (int end = -1; end <= 1; end += 2) {
            double out[3] = { 0, 0, g.shape == PEER_CAPSULE ? end * g.size[1] : 0.0 }, p[3];
            peer_turn(g.quat, out, p);
            for (int i = 0; i < 3; i++) p[i] += g.pos[i];
            to.append(std::make_shared<SiconosContactor>(std::make_shared<SiconosSphere>(g.size[0]),
                                                         place(p, IDENTITY), group));
            if (g.shape == PEER_SPHERE) return;
        }
    }

    void add_fixed(const peer_geom &g)
    {
        auto set = std::make_shared<SiconosContactorSet>();
        double p[3] = { g.pos[0], g.pos[1], g.pos[2] };
        std::shared_ptr<SiconosBox> slab;
        if (g.shape == PEER_PLANE) {
            const double down[3] = { 0, 0, -1 };
            double n[3];
            peer_turn(g.quat, down, n);
            for (int i = 0; i < 3; i++) p[i] += n[i];
            slab = std::make_shared<SiconosBox>(20, 20, 2);
        } else {
            slab = std::make_shared<SiconosBox>(2 * g.size[0], 2 * g.size[1], 2 * g.size[2]);
        }
        slab->setInsideMargin(0.04);
        set->append(std::make_shared<SiconosContactor>(slab, SP::SiconosVector(), 0));
        manager->insertStaticContactorSet(set, place(p, g.quat));
    }

    void add_body(int i, int group)
    {
        const peer_body &b = s->body[i];
        double w[3];
        peer_turn_back(b.quat, b.w, w);
        auto I = std::make_shared<SimpleMatrix>(3, 3);
        I->zero();
        for (unsigned k = 0; k < 3; k++) I->setValue(k, k, b.inertia[k]);
        auto own =
            std::make_shared<RigidBodyDS>(place(b.pos, b.quat),
                                          vector_of({ b.v[0], b.v[1], b.v[2], w[0], w[1], w[2] }),
                                          b.mass, I);
        own->setUseContactorInertia(false);
        auto set = std::make_shared<SiconosContactorSet>();
        for (int k = 0; k < s->ngeom; k++)
            if (s->geom[k].body == i) add_shape(*set, s->geom[k], group);
        if (!set->empty()) own->setContactors(set);
        const double *g = s->gravity;
        own->setFExtPtr(vector_of({ b.mass * g[0], b.mass * g[1], b.mass * g[2] }));
        if (s->servos) {
            torque.push_back(vector_of({ 0, 0, 0 }));
            own->setMExtPtr(torque.back());
            own->setIsMextExpressedInInertialFrame(true);
        }
        system->insertDynamicalSystem(own);
        body.push_back(own);
    }

    void add_hinge(int i)
    {
        const peer_body &b = s->body[i];
        auto at = vector_of({ b.anchor[0], b.anchor[1], b.anchor[2] });
        auto axis = vector_of({ b.axis[0], b.axis[1], b.axis[2] });
        auto above = b.parent < 0 ? SP::RigidBodyDS() : body[size_t(b.parent)];
        auto joint = above ? std::make_shared<PivotJointR>(at, axis, true, above, body[size_t(i)])
                           : std::make_shared<PivotJointR>(at, axis, true, body[size_t(i)]);
        joint->setAllowSelfCollide(false);
        auto both = std::make_shared<Interaction>(std::make_shared<EqualityConditionNSL>(5), joint);
        if (above)
            system->link(both, above, body[size_t(i)]);
        else
            system->link(both, body[size_t(i)]);
        joints++;
    }

    /* Group 0 is the world. In a chain every link is a group and neighbours have no law. */
    void add_laws(double mu, bool chain)
    {
        auto law = std::make_shared<NewtonImpactFrictionNSL>(0.0, 0.0, mu, 3);
        int groups = chain ? s->nbody : 1;
        for (int i = 1; i <= groups; i++) {
            manager->insertNonSmoothLaw(law, 0, i);
            for (int j = i + 2; chain && j <= groups; j++) manager->insertNonSmoothLaw(law, i, j);
        }
        if (!chain && s->self_collide) manager->insertNonSmoothLaw(law, 1, 1);
    }

    SP::OneStepNSProblem problem() const
    {
        if (s->articulated) {
            auto p = std::make_shared<GenericMechanical>(SICONOS_FRICTION_3D_ONECONTACT_NSN);
            p->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 1000;
            p->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-4;
            return p;
        }
        auto p = std::make_shared<FrictionContact>(3, SICONOS_FRICTION_3D_NSGS);
        p->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
        p->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-8;
        p->setMaxSize(30000);
        p->setMStorageType(NM_SPARSE_BLOCK);
        p->setNumericsVerboseMode(false);
        p->setKeepLambdaAndYState(true);
        return p;
    }

    explicit Sim(const peer_scene *scene) : s(scene), x(size_t(scene->nbody))
    {
        bool chain = s->articulated && s->self_collide;
        manager = std::make_shared<SiconosBulletCollisionManager>(SiconosBulletOptions());
        add_laws(s->geom[0].mu, chain);
        for (int i = 0; i < s->nbody; i++) add_body(i, chain ? i + 1 : 1);
        for (int k = 0; k < s->ngeom; k++)
            if (s->geom[k].body < 0) add_fixed(s->geom[k]);
        for (int i = 0; i < s->nbody; i++)
            if (s->body[i].joint == PEER_HINGE) add_hinge(i);
        auto moreau = std::make_shared<MoreauJeanOSI>(0.5);
        moreau->setConstraintActivationThreshold(1e-5);
        stepping =
            std::make_shared<TimeStepping>(system, std::make_shared<TimeDiscretisation>(0.0, s->h));
        stepping->insertInteractionManager(manager);
        stepping->insertIntegrator(moreau);
        stepping->insertNonSmoothProblem(problem());
        stepping->setNewtonOptions(SICONOS_TS_NONLINEAR);
        stepping->setNewtonMaxIteration(s->articulated ? 5 : 1);
        stepping->setNewtonTolerance(1e-8);
        stepping->setWarnOnNonConvergence(false);
    }

    void read(peer_state *out) const
    {
        for (auto &b : body) {
            double w[3];
            for (unsigned k = 0; k < 3; k++) {
                out->p[k] = b->q()->getValue(k);
                out->v[k] = b->twist()->getValue(k);
                w[k] = b->twist()->getValue(3 + k);
            }
            for (unsigned k = 0; k < 4; k++) out->q[k] = b->q()->getValue(3 + k);
            peer_turn(out->q, w, out->w);
            out++;
        }
    }

    /* Angle of hinge i about its axis (body frame), from the poses. */
    double angle(int i, const double *axis) const
    {
        const peer_body &b = s->body[i];
        double start[4], now[4], turn[4];
        auto relative = [](const double *above, const double *own, double *r) {
            double back[4] = { above[0], -above[1], -above[2], -above[3] };
            peer_quat_multiply(back, own, r);
        };
        relative(s->body[b.parent].quat, b.quat, start);
        relative(x[size_t(b.parent)].q, x[size_t(i)].q, now);
        relative(start, now, turn);
        return std::remainder(2.0 * std::atan2(peer_dot(axis, turn + 1), turn[0]), 2.0 * M_PI);
    }

    void servo()
    {
        read(x.data());
        for (auto &t : torque) t->zero();
        for (int i = 0; i < s->nbody; i++) {
            const peer_body &b = s->body[i];
            if (b.joint != PEER_HINGE) continue;
            double own[3], axis[3];
            peer_turn_back(b.quat, b.axis, own);
            peer_turn(x[size_t(i)].q, own, axis);
            double rate = peer_dot(axis, x[size_t(i)].w) - peer_dot(axis, x[size_t(b.parent)].w);
            double tau = peer_servo(&b, angle(i, own), rate);
            for (unsigned k = 0; k < 3; k++) {
                auto &to = torque[size_t(i)], &from = torque[size_t(b.parent)];
                to->setValue(k, to->getValue(k) + tau * axis[k]);
                from->setValue(k, from->getValue(k) - tau * axis[k]);
            }
        }
    }
};

void *make(const peer_scene *s, const char *, char *, size_t)
{
    return new Sim(s);
}

int step(void *handle)
{
    Sim *w = static_cast<Sim *>(handle);
    try {
        if (w->s->servos) w->servo();
        w->stepping->computeOneStep();
        w->stepping->nextStep();
    } catch (const std::exception &e) {
        fprintf(stderr, "Siconos: %s\n", e.what());
        return 0;
    }
    return 1;
}

int contacts(void *handle)
{
    Sim *w = static_cast<Sim *>(handle);
    auto topology = w->system->topology();
    return topology->indexSetsSize() > 1 ? int(topology->indexSet(1)->size()) - w->joints : 0;
}

void read_state(void *handle, peer_state *x)
{
    static_cast<Sim *>(handle)->read(x);
}

void release(void *handle)
{
    delete static_cast<Sim *>(handle);
}

const char *version()
{
    return "4.4.0";
}

const char *const settings[] = { "nsgs", nullptr };

} // namespace

extern "C" const peer_engine peer_engine_here = { "siconos", version,  settings,   make,
                                                  step,      contacts, read_state, release };
