/* Collision of whole models: filtering, sweeps, order, memory. */
#include "rattleback/collide.h"

#include "collide_support.h"
#include "rattleback/dynamics.h"
#include "rattleback/spec.h"

enum { CAPACITY = 4096 };

typedef struct world {
    rb_spec *spec;
    rb_model *m;
    rb_data *d;
    rb_error err;
    rb_contact contacts[CAPACITY];
    int n;
} world;

static world *world_new(void)
{
    world *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->spec = rb_spec_new(NULL);
    CHECK(w->spec != NULL);
    return w;
}

static int add_body(world *w, int parent, int joint, double x, double y, double z)
{
    rb_body_def b = rb_body_default();
    b.parent = parent;
    b.pose.pos[0] = x;
    b.pose.pos[1] = y;
    b.pose.pos[2] = z;
    int added = rb_spec_add_body(w->spec, &b, &w->err);
    CHECK(added > 0);
    if (joint >= 0) {
        rb_joint_def j = rb_joint_default();
        j.body = added;
        j.type = (rb_joint_type)joint;
        CHECK(rb_spec_add_joint(w->spec, &j, &w->err) >= 0);
    }
    return added;
}

static int add_geom(world *w, int owner, int type, double a, double b, double c)
{
    rb_geom_def g = rb_geom_default();
    g.body = owner;
    g.type = (rb_geom_type)type;
    g.size[0] = a;
    g.size[1] = b;
    g.size[2] = c;
    int geom = rb_spec_add_geom(w->spec, &g, &w->err);
    CHECK(geom >= 0);
    return geom;
}

static int add_free_sphere(world *w, double x, double y, double z, double r)
{
    return add_geom(w, add_body(w, 0, RB_JOINT_FREE, x, y, z), RB_GEOM_SPHERE, r, 0.0, 0.0);
}

static void compile_world(world *w)
{
    w->m = rb_spec_compile(w->spec, NULL, &w->err);
    if (!w->m) printf("%s\n", w->err.text);
    CHECK(w->m != NULL);
    w->d = rb_data_new(w->m, NULL);
    CHECK(w->d != NULL);
}

static rb_status collide_world(world *w, double h, double dv_max)
{
    rb_kinematics(w->m, w->d);
    rb_velocity(w->m, w->d);
    rb_frames(w->m, w->d);
    return rb_collide(w->m, w->d, h, dv_max, CAPACITY, w->contacts, &w->n, &w->err);
}

/* Contacts of the pair after a plain collision of what touches now. */
static int touching(world *w, int g1, int g2)
{
    CHECK_INT(collide_world(w, 0.0, 0.0), RB_OK);
    int count = 0;
    for (int i = 0; i < w->n; i++) {
        count += w->contacts[i].geom1 == g1 && w->contacts[i].geom2 == g2;
    }
    return count;
}

static void world_free(world *w)
{
    rb_data_free(w->d);
    rb_model_free(w->m, NULL);
    rb_spec_free(w->spec);
    free(w);
}

/* ---- filtering --------------------------------------------------------------------------------
 */

/* Three overlapping spheres: a body of the world, its child on a hinge, the child's child. */
static world *chain_world(void)
{
    world *w = world_new();
    add_geom(w, 0, RB_GEOM_SPHERE, 0.5, 0.0, 0.0);
    int b1 = add_body(w, 0, RB_JOINT_HINGE, 0.1, 0.0, 0.0);
    add_geom(w, b1, RB_GEOM_SPHERE, 0.5, 0.0, 0.0);
    int b2 = add_body(w, b1, RB_JOINT_HINGE, 0.1, 0.0, 0.0);
    add_geom(w, b2, RB_GEOM_SPHERE, 0.5, 0.0, 0.0);
    int fixed = add_body(w, b2, -1, 0.1, 0.0, 0.0);
    add_geom(w, fixed, RB_GEOM_SPHERE, 0.5, 0.0, 0.0);
    int b3 = add_body(w, fixed, RB_JOINT_HINGE, 0.1, 0.0, 0.0);
    add_geom(w, b3, RB_GEOM_SPHERE, 0.5, 0.0, 0.0);
    return w;
}

TEST(parents_and_children_do_not_meet)
{
    world *w = chain_world();
    compile_world(w);
    CHECK_INT(touching(w, 0, 1), 1); /* a parent that is the world does meet its child */
    CHECK_INT(touching(w, 1, 2), 0);
    CHECK_INT(touching(w, 1, 3), 0); /* fixed to the child */
    CHECK_INT(touching(w, 2, 3), 0); /* the same link */
    CHECK_INT(touching(w, 3, 4), 0);
    CHECK_INT(touching(w, 2, 4), 0); /* the parent is what `fixed` is fixed to */
    CHECK_INT(touching(w, 1, 4), 1); /* grandparent */
    CHECK_INT(touching(w, 0, 4), 1);
    world_free(w);

    w = chain_world();
    rb_spec_option(w->spec)->filter_parent = 0;
    compile_world(w);
    CHECK_INT(touching(w, 1, 2), 1);
    CHECK_INT(touching(w, 2, 4), 1);
    CHECK_INT(touching(w, 2, 3), 0);
    world_free(w);
}

TEST(bits_decide_and_pairs_override)
{
    world *w = world_new();
    for (int i = 0; i < 5; i++) add_free_sphere(w, 0.1 * i, 0.0, 0.0, 0.5);
    rb_spec_geom(w->spec, 1)->contype = 2;
    rb_spec_geom(w->spec, 1)->conaffinity = 2;
    rb_spec_geom(w->spec, 2)->contype = 0;
    rb_spec_geom(w->spec, 2)->conaffinity = 1;
    rb_spec_geom(w->spec, 3)->contype = 0;
    rb_spec_geom(w->spec, 3)->conaffinity = 0;
    rb_pair_def pair = rb_pair_default();
    pair.geom1 = 3;
    pair.geom2 = 1;
    CHECK(rb_spec_add_pair(w->spec, &pair, &w->err) >= 0);
    rb_exclude_def exclude = rb_exclude_default();
    exclude.body1 = 5;
    exclude.body2 = 1;
    CHECK(rb_spec_add_exclude(w->spec, &exclude, &w->err) >= 0);
    pair.geom1 = 0;
    pair.geom2 = 3;
    CHECK(rb_spec_add_pair(w->spec, &pair, &w->err) >= 0);
    compile_world(w);

    CHECK_INT(touching(w, 0, 1), 0); /* 1 & 2 */
    CHECK_INT(touching(w, 0, 2), 1); /* contype of 0, conaffinity of 2 */
    CHECK_INT(touching(w, 2, 3), 0);
    CHECK_INT(touching(w, 2, 4), 1);
    CHECK_INT(touching(w, 0, 4), 0); /* excluded */
    CHECK_INT(touching(w, 1, 3), 1); /* explicit, though no bit agrees */
    CHECK_INT(w->n, 4);
    for (int i = 0; i < w->n; i++) {
        const rb_contact *c = &w->contacts[i];
        int expected = c->geom2 != 3 ? -1 : c->geom1 == 1 ? 0 : 1;
        CHECK_INT(c->pair, expected);
    }
    world_free(w);
}

TEST(what_nothing_moves_does_not_meet)
{
    world *w = world_new();
    add_geom(w, 0, RB_GEOM_BOX, 1.0, 1.0, 1.0);
    add_geom(w, 0, RB_GEOM_BOX, 1.0, 1.0, 1.0);
    rb_body_def def = rb_body_default();
    def.mocap = 1;
    int mocap = rb_spec_add_body(w->spec, &def, &w->err);
    CHECK(mocap > 0);
    add_geom(w, mocap, RB_GEOM_BOX, 1.0, 1.0, 1.0);
    add_free_sphere(w, 0.0, 0.0, 1.0, 0.5);
    compile_world(w);
    CHECK_INT(touching(w, 0, 1), 0);
    CHECK_INT(touching(w, 0, 2), 0);
    CHECK_INT(touching(w, 0, 3), 1);
    CHECK_INT(touching(w, 2, 3), 1);
    world_free(w);
}

TEST(contacts_can_be_switched_off)
{
    world *w = chain_world();
    rb_spec_option(w->spec)->contact = 0;
    compile_world(w);
    CHECK_INT(collide_world(w, 0.1, INFINITY), RB_OK);
    CHECK_INT(w->n, 0);
    world_free(w);
}

/* ---- sweeps -----------------------------------------------------------------------------------
 */

/* A sphere of 1 cm at 100 m/s, 10 ms, a plate of 1 um. */
static int meets_plate(double x, double z, double speed)
{
    world *w = world_new();
    add_geom(w, 0, RB_GEOM_BOX, 0.1, 0.1, 0.5e-6);
    add_free_sphere(w, x, 0.0, z, 0.01);
    compile_world(w);
    w->d->v[2] = -speed;
    CHECK_INT(collide_world(w, 0.01, 0.0), RB_OK);
    int n = w->n;
    if (n) CHECK_NEAR(w->contacts[0].at.gap, z - 0.01 - 0.5e-6, x <= 0.1 ? 1e-15 : 1e-4);
    world_free(w);
    return n;
}

TEST(a_fast_sphere_is_caught_and_one_beside_is_not)
{
    for (int i = 0; i < 100; i++) CHECK_INT(meets_plate(0.05, 0.011 + 0.0099 * i, 100.0), 1);
    CHECK_INT(meets_plate(0.05, 1.02, 100.0), 0);
    CHECK_INT(meets_plate(0.05, 0.5, -100.0), 0);

    /* its edge passes 1 mm beside the edge of the plate, 1 nm beside, and 1 nm over it */
    CHECK_INT(meets_plate(0.1 + 0.01 + 1e-3, 0.5, 100.0), 0);
    CHECK_INT(meets_plate(0.1 + 0.01 + 1e-9, 0.5, 100.0), 0);
    CHECK_INT(meets_plate(0.1 + 0.01 - 1e-9, 0.5, 100.0), 1);
}

TEST(changes_of_velocity_and_turns_are_covered)
{
    /* two pairs at rest, 1 mm apart: a change of velocity of both bodies closes them */
    world *w = world_new();
    add_free_sphere(w, 0.0, 0.0, 0.0, 0.5);
    add_free_sphere(w, 1.001, 0.0, 0.0, 0.5);
    int rod = add_body(w, 0, RB_JOINT_FREE, 5.0, 0.0, 0.0);
    add_geom(w, rod, RB_GEOM_BOX, 1.0, 0.01, 0.01);
    add_free_sphere(w, 6.0, 0.51, 0.0, 0.5 - 0.001);
    compile_world(w);
    CHECK_INT(collide_world(w, 0.01, 0.049), RB_OK);
    CHECK_INT(w->n, 0);
    CHECK_INT(collide_world(w, 0.01, 0.051), RB_OK);
    CHECK_INT(w->n, 2);

    /* the tip of the rod, 1 m from its centre, swings 1 mm with 0.1 rad/s in 10 ms */
    w->d->v[12 + 5] = 0.09;
    CHECK_INT(collide_world(w, 0.01, 0.0), RB_OK);
    CHECK_INT(w->n, 0);
    w->d->v[12 + 5] = 0.11;
    CHECK_INT(collide_world(w, 0.01, 0.0), RB_OK);
    CHECK_INT(w->n, 1);
    CHECK_INT(w->contacts[0].geom1, 2);
    CHECK_INT(w->contacts[0].geom2, 3);

    /* everything that the filter lets through */
    CHECK_INT(collide_world(w, 0.01, INFINITY), RB_OK);
    int pairs = 1;
    for (int i = 1; i < w->n; i++) {
        pairs += w->contacts[i].geom1 != w->contacts[i - 1].geom1 ||
                 w->contacts[i].geom2 != w->contacts[i - 1].geom2;
    }
    CHECK_INT(pairs, 4 * 3 / 2);
    world_free(w);
}

/* A scene with all shapes, chains, fixed and free bodies at random velocities. */
static world *random_world(uint64_t seed, int nbody, double space)
{
    static const int types[4] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE, RB_GEOM_BOX, RB_GEOM_BOX };
    rb_rng rng = rb_rng_make(seed);
    world *w = world_new();
    add_geom(w, 0, RB_GEOM_PLANE, 1.0, 1.0, 1.0);
    add_geom(w, 0, RB_GEOM_BOX, 0.5, 0.4, 0.3);
    int last = 0;
    for (int i = 0; i < nbody; i++) {
        int child = last > 0 && rb_rng_next(&rng) % 3 == 0;
        double reach = child ? 0.5 : space;
        last = add_body(w, child ? last : 0, child ? RB_JOINT_HINGE : RB_JOINT_FREE,
                        rb_rng_uniform(&rng, -reach, reach), rb_rng_uniform(&rng, -reach, reach),
                        rb_rng_uniform(&rng, -reach, reach) + (child ? 0.0 : space));
        random_quat(&rng, rb_spec_body(w->spec, last)->pose.quat);
        for (uint32_t k = 0; k < 1 + rb_rng_next(&rng) % 2; k++) {
            int g = add_geom(w, last, types[rb_rng_next(&rng) % 4], rb_rng_uniform(&rng, 0.05, 0.3),
                             rb_rng_uniform(&rng, 0.05, 0.3), rb_rng_uniform(&rng, 0.05, 0.3));
            rb_spec_geom(w->spec, g)->pose.pos[0] = 0.3 * (double)k;
        }
    }
    compile_world(w);
    for (int i = 0; i < w->m->nv; i++) w->d->v[i] = 3.0 * rb_rng_normal(&rng);
    return w;
}

static rb_shape geom_shape(const world *w, int g)
{
    return (rb_shape){ .type = w->m->geom_type[g],
                       .size = w->m->geom_size + 3 * g,
                       .p = w->d->geom_p + 3 * g,
                       .R = w->d->geom_R + 9 * g,
                       .asset = -1 };
}

static int in_list(const world *w, int g1, int g2)
{
    for (int i = 0; i < w->n; i++) {
        if (w->contacts[i].geom1 == g1 && w->contacts[i].geom2 == g2) return 1;
    }
    return 0;
}

/* Same link, nothing that moves, parent and child: the other filters are tested by hand. */
static int may_meet(const rb_model *m, int g1, int g2)
{
    int l1 = m->geom_link[g1], l2 = m->geom_link[g2];
    if (l1 == l2) return 0;
    return l1 == 0 || l2 == 0 || (m->link_parent[l1] != l2 && m->link_parent[l2] != l1);
}

/* Every pair that comes to touch while the state moves along q (+) t v is in the list. */
TEST(nothing_that_touches_within_the_step_is_missed)
{
    const double h = 0.02;
    int hits = 0, listed = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        world *w = random_world(seed, 12, 0.8);
        CHECK_INT(collide_world(w, h, 0.0), RB_OK);
        listed += w->n;
        double *q = malloc(sizeof(double) * (size_t)w->m->nq);
        CHECK(q != NULL);
        memcpy(q, w->d->q, sizeof(double) * (size_t)w->m->nq);
        for (int step = 0; step <= 20; step++) {
            rb_integrate(w->m, q, w->d->v, h * step / 20.0, w->d->q);
            rb_kinematics(w->m, w->d);
            rb_frames(w->m, w->d);
            for (int g1 = 0; g1 < w->m->ngeom; g1++) {
                for (int g2 = g1 + 1; g2 < w->m->ngeom; g2++) {
                    if (!may_meet(w->m, g1, g2)) continue;
                    rb_shape s1 = geom_shape(w, g1), s2 = geom_shape(w, g2);
                    rb_manifold m;
                    CHECK_INT(rb_pair_manifold(&s1, &s2, 0.0, &m), RB_OK);
                    if (m.n == 0) continue;
                    hits++;
                    CHECK(in_list(w, g1, g2));
                }
            }
        }
        free(q);
        world_free(w);
    }
    CHECK(hits > 5000 && listed > 500);
}

/* ---- order, determinism, capacity -------------------------------------------------------------
 */

static void check_sorted(const world *w)
{
    for (int i = 1; i < w->n; i++) {
        const rb_contact *a = &w->contacts[i - 1], *b = &w->contacts[i];
        int later = a->geom1 < b->geom1 || (a->geom1 == b->geom1 && a->geom2 < b->geom2) ||
                    (a->geom1 == b->geom1 && a->geom2 == b->geom2 && a->at.feature < b->at.feature);
        CHECK(later);
        CHECK(b->geom1 < b->geom2);
    }
}

/* Contacts now, against all pairs, in a pile of some hundred bodies. */
TEST(a_pile_has_exactly_the_contacts_of_all_pairs)
{
    world *w = random_world(7, 300, 1.5);
    CHECK_INT(collide_world(w, 0.0, 0.0), RB_OK);
    check_sorted(w);
    int at = 0;
    for (int g1 = 0; g1 < w->m->ngeom; g1++) {
        for (int g2 = g1 + 1; g2 < w->m->ngeom; g2++) {
            if (!may_meet(w->m, g1, g2)) continue;
            rb_shape s1 = geom_shape(w, g1), s2 = geom_shape(w, g2);
            rb_manifold m;
            CHECK_INT(rb_pair_manifold(&s1, &s2, 0.0, &m), RB_OK);
            for (int i = 0; i < m.n; i++, at++) {
                CHECK(at < w->n);
                CHECK_INT(w->contacts[at].geom1, g1);
                CHECK_INT(w->contacts[at].geom2, g2);
                CHECK_INT(memcmp(&w->contacts[at].at.gap, &m.point[i].gap, sizeof(double)), 0);
                CHECK_INT(w->contacts[at].at.feature, m.point[i].feature);
            }
        }
    }
    CHECK_INT(at, w->n);
    CHECK(w->n > 300);
    world_free(w);
}

TEST(the_same_state_gives_the_same_bits)
{
    world *w = random_world(11, 60, 1.0);
    static rb_contact first[CAPACITY];
    CHECK_INT(collide_world(w, 0.01, 0.1), RB_OK);
    check_sorted(w);
    int n = w->n;
    for (int i = 0; i < n; i++) first[i] = w->contacts[i];
    memset(w->contacts, 0xff, sizeof w->contacts);
    CHECK_INT(collide_world(w, 0.01, 0.1), RB_OK);
    CHECK_INT(w->n, n);
    for (int i = 0; i < n; i++) {
        const rb_manifold_point *p = &first[i].at, *q = &w->contacts[i].at;
        CHECK_INT(memcmp(p, q, offsetof(rb_manifold_point, feature)), 0);
        CHECK_INT(p->feature, q->feature);
    }

    /* too little room: the first ones, the full number, and a sentence */
    int found;
    rb_contact few[5];
    CHECK_INT(rb_collide(w->m, w->d, 0.01, 0.1, 5, few, &found, &w->err), RB_FULL);
    CHECK_INT(found, n);
    CHECK_CONTAINS(w->err.text, "room for 5");
    for (int i = 0; i < 5; i++) CHECK_INT(few[i].at.feature, first[i].at.feature);
    CHECK_INT(rb_collide(w->m, w->d, 0.01, 0.1, 0, NULL, &found, NULL), RB_FULL);
    world_free(w);
}

/* Two turned boxes meet in an octagon: four corners stand for it, or all eight are asked for. */
TEST(all_points_of_a_pair_contain_the_few)
{
    world *w = world_new();
    int lower = add_body(w, 0, RB_JOINT_FREE, 0.0, 0.0, 0.0);
    int upper = add_body(w, 0, RB_JOINT_FREE, 0.0, 0.0, 1.0);
    add_geom(w, lower, RB_GEOM_BOX, 0.5, 0.5, 0.5);
    add_geom(w, upper, RB_GEOM_BOX, 0.5, 0.5, 0.5);
    compile_world(w);
    double quarter = sqrt(0.5), c = sqrt(0.5 * (1.0 + quarter)); /* turned by 45 degrees */
    w->d->q[7 + 3] = c;
    w->d->q[7 + 6] = sqrt(1.0 - c * c);
    CHECK_INT(collide_world(w, 0.01, 0.1), RB_OK);
    CHECK_INT(w->n, RB_MANIFOLD_KEEP);

    rb_contact all[CAPACITY];
    int n = 0, at = 0;
    CHECK_INT(rb_collide_full(w->m, w->d, 0.01, 0.1, CAPACITY, all, &n, &w->err), RB_OK);
    CHECK_INT(n, RB_MANIFOLD_MAX);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(all[i].at.gap, 0.0, 1e-14);
        CHECK(i == 0 || all[i - 1].at.feature < all[i].at.feature);
        if (at < w->n && all[i].at.feature == w->contacts[at].at.feature) at++;
    }
    CHECK_INT(at, w->n);
    world_free(w);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

TEST(shapes_without_an_entry_are_named)
{
    world *w = world_new();
    int b1 = add_body(w, 0, RB_JOINT_FREE, 0.0, 0.0, 0.0);
    int b2 = add_body(w, 0, RB_JOINT_FREE, 0.0, 0.0, 1.5);
    rb_geom_def g = rb_geom_default();
    g.body = b1;
    g.name = "can";
    g.type = RB_GEOM_CYLINDER;
    g.size[0] = g.size[1] = 0.5;
    CHECK(rb_spec_add_geom(w->spec, &g, &w->err) >= 0);

    /* a mesh whose hull nobody has made */
    static const double vert[12] = { -0.5, -0.5, -0.5, 0.5, -0.5, -0.5,
                                     -0.5, 0.5,  -0.5, 0.0, 0.0,  0.5 };
    static const int face[12] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3 };
    rb_mesh_def mesh = rb_mesh_default();
    mesh.nvert = mesh.nface = 4;
    mesh.vert = vert;
    mesh.face = face;
    g.body = b2;
    g.name = "tent";
    g.type = RB_GEOM_MESH;
    g.asset = rb_spec_add_mesh(w->spec, &mesh, &w->err);
    CHECK(rb_spec_add_geom(w->spec, &g, &w->err) >= 0);
    compile_world(w);

    /* far from each other nothing is asked of them */
    CHECK_INT(collide_world(w, 0.01, 0.1), RB_OK);
    w->d->v[2] = 100.0;
    CHECK_INT(collide_world(w, 0.01, 0.1), RB_UNSUPPORTED);
    CHECK_CONTAINS(w->err.text, "can (cylinder)");
    CHECK_CONTAINS(w->err.text, "tent (mesh)");
    CHECK_CONTAINS(w->err.text, "exclude");
    world_free(w);
}

TEST(poses_and_steps_that_are_not_numbers_are_refused)
{
    world *w = chain_world();
    compile_world(w);
    CHECK_INT(collide_world(w, -0.1, 0.0), RB_BAD_INPUT);
    CHECK_INT(collide_world(w, NAN, 0.0), RB_BAD_INPUT);
    CHECK_INT(collide_world(w, INFINITY, 0.0), RB_BAD_INPUT);
    CHECK_INT(collide_world(w, 0.1, NAN), RB_BAD_INPUT);
    CHECK_INT(collide_world(w, 0.1, 0.0), RB_OK);
    w->d->geom_p[3 * 2 + 1] = NAN;
    CHECK_INT(rb_collide(w->m, w->d, 0.1, 0.0, CAPACITY, w->contacts, &w->n, &w->err),
              RB_BAD_INPUT);
    CHECK_CONTAINS(w->err.text, "geom 2");
    CHECK_INT(w->n, 0);
    CHECK_INT(collide_world(w, 0.1, 0.0), RB_OK);
    w->d->link_v[3] = INFINITY;
    CHECK_INT(rb_collide(w->m, w->d, 0.1, 0.0, CAPACITY, w->contacts, &w->n, &w->err),
              RB_BAD_INPUT);
    CHECK_CONTAINS(w->err.text, "geom 1");
    world_free(w);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

TEST(memory_is_asked_for_once_and_may_be_refused)
{
    world *w = random_world(13, 400, 2.0);
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_data *d = rb_data_new(w->m, &alloc);
        long before = memory.requests;
        if (d) {
            rb_kinematics(w->m, d);
            rb_velocity(w->m, d);
            rb_frames(w->m, d);
            rb_status status =
                rb_collide(w->m, d, 0.01, 0.1, CAPACITY, w->contacts, &w->n, &w->err);
            CHECK(status == RB_OK || (status == RB_NOMEM && memory.fail_at > before));
            if (status == RB_OK && memory.requests < k) {
                int grown = rb_arena_growths(d->arena);
                for (int i = 0; i < 3; i++) {
                    CHECK_INT(rb_collide(w->m, d, 0.01, 0.1, CAPACITY, w->contacts, &w->n, NULL),
                              RB_OK);
                }
                CHECK_INT(rb_arena_growths(d->arena), grown);
            }
        }
        rb_data_free(d);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) break;
    }
    world_free(w);
}

/* Serves `left` requests and none after them. */
static void *scarce_alloc(void *ctx, size_t size)
{
    int *left = ctx;
    return (*left)-- > 0 ? malloc(size) : NULL;
}

static void scarce_release(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

TEST(without_memory_there_is_a_sentence)
{
    world *w = random_world(13, 400, 2.0);
    int refused = 0, left;
    rb_alloc alloc = { scarce_alloc, NULL, scarce_release, &left };
    for (int k = 0; k < 100; k++) {
        left = k;
        rb_data *d = rb_data_new(w->m, &alloc);
        if (!d) continue;
        rb_kinematics(w->m, d);
        rb_velocity(w->m, d);
        rb_frames(w->m, d);
        w->n = -1;
        rb_status status = rb_collide(w->m, d, 0.01, 0.1, CAPACITY, w->contacts, &w->n, &w->err);
        rb_data_free(d);
        if (status == RB_OK) break;
        CHECK_INT(status, RB_NOMEM);
        CHECK_INT(w->n, 0);
        CHECK_CONTAINS(w->err.text, "out of memory");
        refused++;
    }
    CHECK(refused > 0);
    world_free(w);
}

TEST_MAIN(RUN(parents_and_children_do_not_meet), RUN(bits_decide_and_pairs_override),
          RUN(what_nothing_moves_does_not_meet), RUN(contacts_can_be_switched_off),
          RUN(a_fast_sphere_is_caught_and_one_beside_is_not),
          RUN(changes_of_velocity_and_turns_are_covered),
          RUN(nothing_that_touches_within_the_step_is_missed),
          RUN(a_pile_has_exactly_the_contacts_of_all_pairs),
          RUN(the_same_state_gives_the_same_bits), RUN(all_points_of_a_pair_contain_the_few),
          RUN(shapes_without_an_entry_are_named),
          RUN(poses_and_steps_that_are_not_numbers_are_refused),
          RUN(memory_is_asked_for_once_and_may_be_refused), RUN(without_memory_there_is_a_sentence))
