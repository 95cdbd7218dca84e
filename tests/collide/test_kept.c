/* Pairs that are kept from call to call (G.33): contacts have the bits of a search among boxes, for
 * all shapes, joints and moves; steps have the bits of steps that keep nothing; what is far is not
 * looked at. */
#include "model/cache.h"
#include "step_support.h"

#include "base/arena.h"
#include "collide/kept.h"
#include "dynamics/forward.h"

enum { MOST = 800 }; /* contacts */

/* Every shape, a free tree, a fixed one and one on a mocap body that has a plane, close together.
 */
#define BALL "<geom type='sphere' size='0.06' pos='0.05 0 0'/>"
#define ROD  "<geom type='capsule' size='0.03 0.08' pos='0 0.05 0'/>"
#define BOX  "<geom type='box' size='0.06 0.03 0.05' euler='10 20 30'/>"
#define TIN  "<geom type='cylinder' size='0.04 0.06'/>"
#define EGG  "<geom type='ellipsoid' size='0.04 0.06 0.05'/>"
#define GEM  "<geom type='mesh' mesh='gem'/>"
#define TREE(first)                                                                                \
    first BALL GEM "<body pos='0.2 0 0.1'><joint axis='0 1 0' pos='0.02 0 0'/>" ROD TIN            \
                   "<body pos='0.15 0.1 0'><joint type='ball'/>" BOX EGG                           \
                   "<body pos='0 0.2 0.1'><joint type='slide' axis='1 0 1'/>" GEM                  \
                   "</body></body></body>"
#define WORLD                                                                                      \
    "<mujoco><asset><mesh name='gem' vertex='0.09 0 0 -0.07 0.01 0 0 0.08 0 0.01 -0.09 0 0 0 0.1 " \
    "0 0.01 -0.08 0.05 0.05 0.05'/>"                                                               \
    "<hfield name='hill' nrow='3' ncol='3' size='0.5 0.5 0.2 0.1' elevation='0 0 0 0 1 0 0 0 0'/>" \
    "</asset><worldbody><geom type='plane' size='9 9 1'/>"                                         \
    "<geom type='hfield' hfield='hill' pos='1 0 0.1'/>"                                            \
    "<geom type='box' size='0.2 0.2 0.2' pos='0 -0.6 0.2'/>"                                       \
    "<body pos='0 0 0.4'>" TREE(                                                                   \
        "<freejoint/>") "</body>"                                                                  \
                        "<body pos='0.3 0.4 0.5'>" TREE(                                           \
                            "<joint axis='0 0 1'/>") "</body>"                                     \
                                                     "<body mocap='true' pos='-0.4 0 0.3'><geom "  \
                                                     "type='plane' size='1 1 1' pos='-0.6 0 0' "   \
                                                     "euler='0 90 0'/>" BOX                        \
                                                     "</body></worldbody></mujoco>"

static scene world(int listed)
{
    scene s = scene_hulls(WORLD);
    CHECK(s.m->nmeet > 100);
    if (!listed) s.m->nmeet = -1;
    CHECK_INT(rb_data_reserve(s.m, &s.d, MOST), RB_OK);
    return s;
}

static void place(scene *s)
{
    rb_forward_place(s->m, s->d);
    rb_frames(s->m, s->d);
}

/* A move of all joints and of the mocap body, the same in both. */
static void move(scene *a, scene *b, rb_rng *rng, double far, double speed)
{
    const rb_model *m = a->m;
    rb_data *d = a->d;
    double v[64];
    for (int j = 0; j < m->nv; j++) v[j] = far * rb_rng_uniform(rng, -1.0, 1.0);
    for (int j = 0; j < m->nv; j++) d->v[j] = speed * rb_rng_uniform(rng, -1.0, 1.0);
    rb_integrate(m, d->q, v, 1.0, d->q);
    for (int k = 0; k < 3; k++) d->mocap[k] += 0.1 * far * rb_rng_uniform(rng, -1.0, 1.0);
    CHECK_INT(rb_data_copy(m, b->d, d), RB_OK);
    place(a);
    place(b);
}

static int same_contacts(scene *a, scene *b, double h, double dv)
{
    static rb_contact kept[MOST], all[MOST];
    int nkept = 0, nall = 0;
    CHECK_INT(rb_collide(a->m, a->d, h, dv, MOST, kept, &nkept, NULL), RB_OK);
    CHECK_INT(rb_collide(b->m, b->d, h, dv, MOST, all, &nall, NULL), RB_OK);
    CHECK_INT(nkept, nall);
    for (int i = 0; i < nall; i++) {
        CHECK(kept[i].geom1 == all[i].geom1 && kept[i].geom2 == all[i].geom2);
        CHECK(kept[i].pair == all[i].pair && kept[i].at.feature == all[i].at.feature);
        CHECK(kept[i].at.gap == all[i].at.gap && kept[i].error == all[i].error);
        for (int k = 0; k < 3; k++) {
            CHECK(kept[i].at.pos1[k] == all[i].at.pos1[k]);
            CHECK(kept[i].at.normal[k] == all[i].at.normal[k]);
        }
    }
    return nall;
}

TEST(contacts_are_those_of_a_search)
{
    scene a = world(1), b = world(0);
    rb_rng rng = rb_rng_make(31);
    int touches = 0, none = 0;
    for (int i = 0; i < 20000; i++) {
        double far = rb_rng_uniform(&rng, 0.0, 0.2), speed = rb_rng_uniform(&rng, 0.0, 3.0);
        if (i % 500 == 0) {
            rb_data_reset(a.m, a.d);
            far = 0.5;
        }
        move(&a, &b, &rng, far * far * far, i % 3 ? 0.1 * speed : speed);
        double h = i % 4 == 0 ? 0.0 : i % 4 == 1 ? 0.01 : 0.002;
        int n = same_contacts(&a, &b, h, 9.81 * h);
        touches += n;
        none += n == 0;
    }
    CHECK(touches > 10000 && none > 100);
    scene_free(&a);
    scene_free(&b);
}

/* Pairs that are handed out within h. */
static int count(scene *s, double h)
{
    rb_keeper k;
    int n = 0;
    rb_mark mark = rb_arena_mark(s->d->arena);
    CHECK_INT(rb_kept_begin(s->m, s->d, h, 0.0, &k), 1);
    while (rb_kept_next(&k) >= 0) n++;
    rb_arena_reset(s->d->arena, mark);
    return n;
}

/* A robot that flies does not come nearer to itself, only to the world. */
TEST(what_is_far_is_not_looked_at)
{
    static rb_contact found[MOST];
    scene s = scene_text("<mujoco><worldbody><geom type='plane' size='9 9 1'/>"
                         "<body pos='0 0 9'><freejoint/>" BALL "<body pos='0.4 0 0'>"
                         "<joint axis='0 1 0'/>" ROD "<body pos='0.4 0 0'><joint axis='0 1 0'/>" BOX
                         "</body></body></body></worldbody></mujoco>");
    int n = 0;
    CHECK_INT(s.m->nmeet, 4 + 2); /* parent and child are listed, and let through where asked for */
    place(&s);
    CHECK_INT(count(&s, 0.0), 4);
    CHECK_INT(rb_collide(s.m, s.d, 0.01, 0.0, MOST, found, &n, NULL), RB_OK);
    CHECK_INT(n, 0);
    CHECK_INT(count(&s, 0.01), 0);
    for (int i = 0; i < 400; i++) {
        s.d->q[0] += 0.02;
        place(&s);
        CHECK_INT(count(&s, 0.01), 0);
    }
    s.d->q[0] += 9.0;
    place(&s);
    CHECK_INT(count(&s, 0.01), 3);
    s.m->option.filter_parent = 0;
    CHECK_INT(count(&s, 0.01), 6);
    scene_free(&s);
}

TEST(steps_that_keep_nothing_have_the_same_bits)
{
    static const char *const files[] = { "peers/quadruped.xml", "peers/humanoid.xml",
                                         "peers/four_balls.xml", "peers/pendulum_12_5.xml" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        scene a = scene_file(files[i]), b = scene_file(files[i]), c = scene_file(files[i]);
        c.m->nmeet = -1;
        for (int j = 0; j < a.m->nv; j++) a.d->v[j] = b.d->v[j] = c.d->v[j] = j % 2 ? -1.0 : 1.0;
        for (int step = 0; step < 400; step++) {
            scene_step(&a);
            b.d->cache->kept_of = NULL;
            scene_step(&b);
            CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
            CHECK(a.info.penetration == b.info.penetration);
            CHECK_INT(a.info.contacts, b.info.contacts);
            if (step >= 100) continue;
            scene_step(&c);
            CHECK(rb_data_hash(a.d) == rb_data_hash(c.d));
        }
        scene_free(&a);
        scene_free(&b);
        scene_free(&c);
    }
}

TEST_MAIN(RUN(contacts_are_those_of_a_search), RUN(what_is_far_is_not_looked_at),
          RUN(steps_that_keep_nothing_have_the_same_bits))
