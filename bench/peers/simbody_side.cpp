/* Simbody.
 *
 *   compliant   Hunt-Crossley contact (1e7 Pa), error-controlled SemiExplicitEuler2 of accuracy
 *               1e-3: the step of the scene is only how often it reports
 *   rigid       SemiExplicitEulerTimeStepper: rigid unilateral contact, Gauss-Seidel, fixed step
 *
 * Boxes do not touch boxes. Capsules are two spheres, which is the same against planes; the slabs
 * of the pendulum are half spaces. */
#include "peer.h"

#include <Simbody.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

using namespace SimTK;

namespace {

Vec3 vec(const double *a)
{
    return Vec3(a[0], a[1], a[2]);
}

Transform frame(const double *p, const double *q)
{
    return Transform(Rotation(Quaternion(Vec4(q[0], q[1], q[2], q[3]))), vec(p));
}

struct Plane {
    UnitVec3 n;
    double d, mu;
};

struct Ball {
    Vec3 center;
    double radius;
};

/* The spheres whose contact with a plane is that of the shape; corners are spheres of radius 0. */
std::vector<Ball> balls_of(const peer_geom &g)
{
    Transform X = frame(g.pos, g.quat);
    if (g.shape == PEER_SPHERE) return { { X.p(), g.size[0] } };
    if (g.shape == PEER_CAPSULE)
        return { { X * Vec3(0, 0, g.size[1]), g.size[0] },
                 { X * Vec3(0, 0, -g.size[1]), g.size[0] } };
    std::vector<Ball> corners;
    for (int k = 0; k < 8; k++)
        corners.push_back({ X * Vec3(k & 1 ? g.size[0] : -g.size[0], k & 2 ? g.size[1] : -g.size[1],
                                     k & 4 ? g.size[2] : -g.size[2]),
                            0.0 });
    return corners;
}

/* The face of a slab that the scene can touch: its top, or the side that looks at the origin. */
Plane plane_of(const peer_geom &g)
{
    const double up[3] = { 0, 0, 1 };
    double n[3];
    peer_turn(g.quat, up, n);
    if (g.shape == PEER_PLANE) return { UnitVec3(vec(n)), peer_dot(n, g.pos), g.mu };
    if (g.pos[0] > g.size[0]) return { UnitVec3(-1, 0, 0), g.size[0] - g.pos[0], g.mu };
    return { UnitVec3(0, 0, 1), g.pos[2] + g.size[2], g.mu };
}

struct Sim {
    const peer_scene *s;
    bool rigid;
    double t = 0.0;
    MultibodySystem system;
    SimbodyMatterSubsystem matter{ system };
    GeneralForceSubsystem forces{ system };
    std::unique_ptr<ContactTrackerSubsystem> tracker;
    std::unique_ptr<CompliantContactSubsystem> compliant;
    std::unique_ptr<SemiExplicitEuler2Integrator> integrator;
    std::unique_ptr<TimeStepper> stepper;
    std::unique_ptr<SemiExplicitEulerTimeStepper> fixed;
    std::vector<Plane> planes;
    std::vector<ContactCliqueId> clique;
    std::vector<MobilizedBody> body;

    const State &state() const
    {
        return rigid ? fixed->getState() : stepper->getState();
    }

    ContactSurface surface(const ContactGeometry &shape, double mu) const
    {
        return ContactSurface(shape, ContactMaterial(1e7, 2.0, mu, mu, 0.0));
    }

    void add_surfaces(Body::Rigid &to, int i)
    {
        const peer_body &b = s->body[i];
        for (int k = 0; k < s->ngeom; k++) {
            const peer_geom &g = s->geom[k];
            if (g.body != i) continue;
            std::vector<std::pair<Transform, ContactSurface>> own;
            if (g.shape == PEER_BOX)
                own.emplace_back(frame(g.pos, g.quat),
                                 surface(ContactGeometry::Brick(vec(g.size)), g.mu));
            else
                for (const Ball &ball : balls_of(g))
                    own.emplace_back(Transform(ball.center),
                                     surface(ContactGeometry::Sphere(ball.radius), g.mu));
            for (auto &one : own) {
                if (!s->self_collide) one.second.joinClique(clique.back());
                one.second.joinClique(clique[size_t(i)]);
                if (b.parent >= 0) one.second.joinClique(clique[size_t(b.parent)]);
                to.addContactSurface(one.first, one.second);
            }
        }
    }

    /* Pins turn about z of their frames. */
    MobilizedBody add_hinge(MobilizedBody &above, const peer_body &b, const Body::Rigid &mass)
    {
        static const double zero[3] = { 0, 0, 0 }, identity[4] = { 1, 0, 0, 0 };
        Transform parent = b.parent < 0 ? frame(zero, identity)
                                        : frame(s->body[b.parent].pos, s->body[b.parent].quat);
        Transform joint(Rotation(UnitVec3(vec(b.axis)), ZAxis), vec(b.anchor));
        MobilizedBody::Pin pin(above, ~parent * joint, mass, ~frame(b.pos, b.quat) * joint);
        if (b.kp > 0.0) {
            Force::MobilityLinearSpring(forces, pin, MobilizerQIndex(0), b.kp, 0);
            Force::MobilityLinearDamper(forces, pin, MobilizerUIndex(0), b.kd);
        }
        return pin;
    }

    void add_body(int i)
    {
        const peer_body &b = s->body[i];
        Body::Rigid mass(MassProperties(b.mass, Vec3(0), Inertia(vec(b.inertia))));
        if (!rigid) add_surfaces(mass, i);
        MobilizedBody above = b.parent < 0 ? matter.updGround() : body[size_t(b.parent)];
        if (b.joint == PEER_HINGE) {
            body.push_back(add_hinge(above, b, mass));
        } else if (b.joint == PEER_PLANAR) {
            Transform plane(Rotation(UnitVec3(vec(b.axis)), ZAxis));
            body.push_back(MobilizedBody::Planar(above, plane, mass, plane));
        } else {
            body.push_back(MobilizedBody::Free(above, Transform(), mass, Transform()));
        }
    }

    void add_rigid_contacts()
    {
        MobilizedBody ground = matter.updGround();
        for (int k = 0; k < s->ngeom; k++) {
            const peer_geom &g = s->geom[k];
            if (g.body < 0) continue;
            MobilizedBody &own = body[size_t(g.body)];
            for (const Plane &p : planes)
                for (const Ball &c : balls_of(g)) {
                    if (c.radius > 0.0)
                        matter.adoptUnilateralContact(new SpherePlaneContact(ground, p.n, p.d, own,
                                                                             c.center, c.radius,
                                                                             0.0, p.mu, p.mu, 0.0));
                    else
                        matter.adoptUnilateralContact(new PointPlaneContact(ground, p.n, p.d, own,
                                                                            c.center, 0.0, p.mu,
                                                                            p.mu, 0.0));
                }
            for (int j = k + 1; s->self_collide && j < s->ngeom; j++) {
                const peer_geom &f = s->geom[j];
                if (f.shape != PEER_SPHERE || g.shape != PEER_SPHERE) continue;
                if (s->body[f.body].parent == g.body || s->body[g.body].parent == f.body) continue;
                matter.adoptUnilateralContact(
                    new SphereSphereContact(own, vec(g.pos), g.size[0], body[size_t(f.body)],
                                            vec(f.pos), f.size[0], 0.0, g.mu, g.mu, 0.0));
            }
        }
    }

    void add_ground()
    {
        ContactCliqueId together = ContactSurface::createNewContactClique();
        for (int k = 0; k < s->ngeom; k++)
            if (s->geom[k].body < 0) planes.push_back(plane_of(s->geom[k]));
        for (const Plane &p : planes) {
            if (rigid) continue;
            ContactSurface half = surface(ContactGeometry::HalfSpace(), p.mu);
            half.joinClique(together);
            Transform X(Rotation(UnitVec3(-Vec3(p.n)), XAxis), p.d * Vec3(p.n));
            matter.updGround().updBody().addContactSurface(X, half);
        }
    }

    State start()
    {
        State x = system.realizeTopology();
        system.realizeModel(x);
        for (int i = 0; i < s->nbody; i++) {
            const peer_body &b = s->body[i];
            MobilizedBody &own = body[size_t(i)];
            Transform F = own.getInboardFrame(x), M = own.getOutboardFrame(x);
            if (b.joint != PEER_HINGE) own.setQToFitTransform(x, ~F * frame(b.pos, b.quat) * M);
        }
        system.realize(x, Stage::Position);
        for (int i = 0; i < s->nbody; i++) {
            const peer_body &b = s->body[i];
            MobilizedBody &own = body[size_t(i)];
            Rotation F = own.getInboardFrame(x).R();
            if (b.joint == PEER_HINGE)
                own.setOneU(x, 0, b.rate);
            else
                own.setUToFitVelocity(x, SpatialVec(~F * vec(b.w), ~F * vec(b.v)));
        }
        return x;
    }

    Sim(const peer_scene *scene, bool is_rigid) : s(scene), rigid(is_rigid)
    {
        Force::Gravity(forces, matter, vec(s->gravity));
        if (!rigid) {
            tracker.reset(new ContactTrackerSubsystem(system));
            compliant.reset(new CompliantContactSubsystem(system, *tracker));
            compliant->setTransitionVelocity(1e-2);
        }
        for (int i = 0; i <= s->nbody; i++)
            clique.push_back(ContactSurface::createNewContactClique());
        add_ground();
        for (int i = 0; i < s->nbody; i++) add_body(i);
        if (rigid) add_rigid_contacts();
        State x = start();
        if (rigid) {
            fixed.reset(new SemiExplicitEulerTimeStepper(system));
            fixed->setImpulseSolverType(SemiExplicitEulerTimeStepper::PGS);
            fixed->setRestitutionModel(SemiExplicitEulerTimeStepper::NoRestitution);
            fixed->setAccuracy(1e-3);
            fixed->setConstraintTolerance(1e-5);
            fixed->initialize(x);
        } else {
            integrator.reset(new SemiExplicitEuler2Integrator(system));
            integrator->setAccuracy(1e-3);
            integrator->setAllowInterpolation(false);
            stepper.reset(new TimeStepper(system, *integrator));
            stepper->initialize(x);
        }
    }
};

void *make(const peer_scene *s, const char *setting, char *why, size_t size)
{
    bool rigid = strcmp(setting, "rigid") == 0;
    const char *reason = nullptr;
    if (strncmp(s->name, "stack", 5) == 0) reason = "boxes do not touch boxes in Simbody 3.7";
    if (rigid && strncmp(s->name, "pendulum", 8) == 0)
        reason = "the rigid stepper locks the first hinge at the start";
    if (rigid && strncmp(s->name, "pile", 4) == 0)
        reason = "the rigid stepper wants every pair named: half a million";
    if (reason) {
        snprintf(why, size, "%s", reason);
        return nullptr;
    }
    return new Sim(s, rigid);
}

int step(void *handle)
{
    Sim *w = static_cast<Sim *>(handle);
    w->t += w->s->h;
    try {
        if (w->rigid)
            w->fixed->stepTo(w->t);
        else
            w->stepper->stepTo(w->t);
    } catch (const std::exception &e) {
        fprintf(stderr, "Simbody: %s\n", e.what());
        return 0;
    }
    return 1;
}

int contacts(void *handle)
{
    Sim *w = static_cast<Sim *>(handle);
    return w->rigid ? 0 : w->compliant->getNumContactForces(w->state());
}

void read_state(void *handle, peer_state *x)
{
    Sim *w = static_cast<Sim *>(handle);
    const State &now = w->state();
    w->system.realize(now, Stage::Velocity);
    for (auto &b : w->body) {
        const Transform &X = b.getBodyTransform(now);
        const SpatialVec &V = b.getBodyVelocity(now);
        Quaternion q = X.R().convertRotationToQuaternion();
        for (int i = 0; i < 4; i++) x->q[i] = q[i];
        for (int i = 0; i < 3; i++) {
            x->p[i] = X.p()[i];
            x->w[i] = V[0][i];
            x->v[i] = V[1][i];
        }
        x++;
    }
}

void release(void *handle)
{
    delete static_cast<Sim *>(handle);
}

const char *version()
{
    return "3.7";
}

const char *const settings[] = { "compliant", "rigid", nullptr };

} // namespace

extern "C" const peer_engine peer_engine_here = { "simbody", version,  settings,   make,
                                                  step,      contacts, read_state, release };
