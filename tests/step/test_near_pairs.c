/* Pairs that the search for rows has seen (S.27): where the end of a step is near enough, they have
 * all contacts that a search of all geoms finds there, to the bit. */
#include "step_support.h"

#include "dynamics/forward.h"
#include "step/contacts.h"

enum { MOST = 400 }; /* contacts */

/* Two trees that hang close together, with every kind of joint, anchors off the origin and several
 * joints to a link, above a plane. */
#define BALL "<geom type='sphere' size='0.12' pos='0.1 0 0'/>"
#define ROD  "<geom type='capsule' size='0.05 0.15'/>"
#define BOX  "<geom type='box' size='0.1 0.06 0.08'/>"
#define TREE                                                                                       \
    "<joint type='hinge' axis='0 1 0.3' pos='0.05 0 0.02'/>" BALL "<body pos='0.3 0 0.1'>"         \
    "<joint type='ball' pos='-0.1 0 0'/>" ROD "<body pos='0.2 0.2 0'>"                             \
    "<joint type='slide' axis='1 0 1'/>" BOX "<body pos='0.3 0 0'>"                                \
    "<joint type='hinge' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"                         \
    "<joint type='hinge' axis='0 0 1' pos='0 0.1 0'/>" ROD "<body pos='-0.2 0.25 0'>"              \
    "<joint type='hinge' axis='0 1 0'/>" BALL "</body></body></body></body>"
#define TREES                                                                                      \
    "<mujoco><worldbody><geom type='plane' size='9 9 1'/>"                                         \
    "<body pos='0 0 0.5'><freejoint/>" BOX "<body pos='0.2 0 0'>" TREE "</body></body>"            \
    "<body pos='0.5 0.4 0.8'>" TREE "</body></worldbody></mujoco>"

/* As in models with more pairs than are listed. */
static scene unlisted(const char *text)
{
    scene s = scene_text(text);
    s.m->nmeet = -1;
    return s;
}

static scene trees(void)
{
    scene s = unlisted(TREES);
    CHECK_INT(rb_data_reserve(s.m, &s.d, MOST), RB_OK);
    return s;
}

typedef struct tally {
    int holds, fails, touches;
} tally;

/* A step from a random state to a place by `off` beside the one that its velocity leads to. */
static void compare(scene *s, rb_rng *rng, double speed, double off, tally *found)
{
    static rb_contact near[MOST], all[MOST], seen[MOST];
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_mark mark = rb_arena_mark(d->arena);
    double *q0 = rb_push(d->arena, double, m->nq), *q_new = rb_push(d->arena, double, m->nq);
    double *v = rb_push(d->arena, double, m->nv);
    rb_stage stage = { .m = m, .d = d, .h = 0.01, .start.q = q0 };
    stage.answer.q = q_new;
    stage.problem.contacts = seen;
    for (int j = 0; j < m->nv; j++) v[j] = rb_rng_uniform(rng, -1.0, 1.0);
    rb_integrate(m, m->qpos0, v, 1.0, q0);
    memcpy(d->q, q0, (size_t)m->nq * sizeof *q0);
    for (int j = 0; j < m->nv; j++) d->v[j] = speed * rb_rng_uniform(rng, -1.0, 1.0);
    for (int j = 0; j < m->nv; j++) v[j] = d->v[j] * (1.0 + off * rb_rng_uniform(rng, -1.0, 1.0));
    rb_integrate(m, q0, v, stage.h, q_new);

    int nnear = 0, nall = 0;
    rb_forward_place(m, d);
    rb_frames(m, d);
    CHECK_INT(rb_stage_near_find(&stage, 1e-3), RB_OK);
    int holds = rb_stage_near_holds(&stage);
    memcpy(d->q, q_new, (size_t)m->nq * sizeof *q_new);
    rb_kinematics(m, d);
    rb_frames(m, d);
    if (holds) {
        CHECK_INT(rb_collide(m, d, 0.0, 0.0, MOST, all, &nall, NULL), RB_OK);
        CHECK_INT(rb_collide_near(m, d, 0.0, 0.0, &stage.near.pairs, MOST, near, &nnear, NULL),
                  RB_OK);
        CHECK_INT(nnear, nall);
        for (int i = 0; i < nall; i++) {
            CHECK(near[i].geom1 == all[i].geom1 && near[i].geom2 == all[i].geom2);
            CHECK(near[i].pair == all[i].pair && near[i].at.feature == all[i].at.feature);
            CHECK(near[i].at.gap == all[i].at.gap);
        }
    }
    found->holds += holds;
    found->fails += !holds;
    found->touches += nall;
    rb_arena_reset(d->arena, mark);
}

TEST(near_pairs_have_all_contacts_of_the_end)
{
    scene s = trees();
    rb_rng rng = rb_rng_make(47);
    tally found = { 0 };
    for (int i = 0; i < 20000; i++) {
        double speed = rb_rng_uniform(&rng, 0.0, 10.0), off = rb_rng_uniform(&rng, 0.0, 2.0);
        compare(&s, &rng, speed, off * off, &found);
    }
    CHECK(found.holds > 2000 && found.fails > 2000 && found.touches > 2000);
    scene_free(&s);
}

/* Far beside the way nothing holds, and what stands does. */
TEST(a_geom_that_leaves_its_room_is_seen)
{
    scene s = trees();
    rb_rng rng = rb_rng_make(48);
    tally found = { 0 };
    for (int i = 0; i < 200; i++) compare(&s, &rng, 5.0, 1e3, &found);
    CHECK_INT(found.holds, 0);
    for (int i = 0; i < 200; i++) compare(&s, &rng, 0.0, 0.0, &found);
    CHECK_INT(found.holds, 200);
    scene_free(&s);
}

/* Hinges along y, anchors off the origin, a branch: a mechanism in a plane, whose ways are sums. */
#define ARM(pos) "<joint type='hinge' axis='0 1 0' pos='" pos "'/>"
#define FLAT                                                                                       \
    "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 0.5'>" ARM("0 0 0") BALL   \
        "<body pos='0.3 0 0.1'>" ARM("-0.1 0.1 0") BOX "<body pos='0.3 0 0'>" ARM("0 0 0.05") ROD  \
        "<body pos='-0.4 0.02 0.1' euler='180 0 0'>" ARM("0 0 0") BALL                             \
        "</body></body>"                                                                           \
        "<body pos='0.2 0 -0.3'>" ARM("0.02 0 0.02") ROD                                           \
        "</body></body></body></worldbody></mujoco>"

TEST(near_pairs_in_a_plane_have_all_contacts_of_the_end)
{
    scene s = unlisted(FLAT);
    rb_rng rng = rb_rng_make(49);
    tally found = { 0 };
    CHECK_INT(s.m->plane, 1);
    CHECK_INT(rb_data_reserve(s.m, &s.d, MOST), RB_OK);
    for (int i = 0; i < 20000; i++) {
        double speed = rb_rng_uniform(&rng, 0.0, 10.0), off = rb_rng_uniform(&rng, 0.0, 2.0);
        compare(&s, &rng, speed, off * off, &found);
    }
    CHECK(found.holds > 2000 && found.fails > 2000 && found.touches > 2000);
    scene_free(&s);
}

TEST_MAIN(RUN(near_pairs_in_a_plane_have_all_contacts_of_the_end),
          RUN(near_pairs_have_all_contacts_of_the_end), RUN(a_geom_that_leaves_its_room_is_seen))
