/* Steps in which nothing can meet (S.33) are smooth motion: the bounds never miss a contact, and
 * states and certificates have the bits of steps that look for rows among all. */
#include "model/cache.h"
#include "step_support.h"

#include "dynamics/forward.h"
#include "step/stage.h"

enum { MOST = 400 }; /* contacts */

/* Two trees of hinges: parallel ones, opposite ones, skew ones, anchors off the origin, several to
 * a link, turned bodies, every way to bound a gap. */
#define BALL "<geom type='sphere' size='0.06' pos='0.05 0 0'/>"
#define ROD  "<geom type='capsule' size='0.03 0.08' pos='0 0.05 0'/>"
#define BOX  "<geom type='box' size='0.06 0.03 0.05'/>"
#define TREE                                                                                       \
    "<joint axis='0 1 0' pos='0.05 0 0.02'/>" BALL "<body pos='0.3 0 0.1'>"                        \
    "<joint axis='0 1 0'/>" ROD "<body pos='0.2 0 0' euler='0 30 0'>"                              \
    "<joint axis='0 -1 0' pos='0 0 0.1'/>" BOX "<body pos='0.3 0 0' euler='40 0 20'>"              \
    "<joint axis='1 0 0'/><joint axis='0 0 1' pos='0 0.1 0'/>" ROD "<body pos='-0.2 0.25 0'>"      \
    "<joint axis='0 0 1'/>" BALL "</body></body></body></body>"
#define ONE_TREE                                                                                   \
    "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 0.8'>" TREE                \
    "</body></worldbody></mujoco>"
#define TREES                                                                                      \
    "<mujoco><compiler autolimits='false'/><worldbody><geom type='plane' size='9 9 1'/>"           \
    "<geom type='box' size='0.1 2 0.4' pos='1.2 0 0.4' euler='0 10 0'/>"                           \
    "<body pos='0 0 0.8'>" TREE "</body>"                                                          \
    "<body pos='0.4 0.5 1'>" TREE "</body></worldbody></mujoco>"

typedef struct tally {
    int clear, not, touches;
} tally;

/* The gaps of a random place q*, and a step from q* + dq on. */
static void compare(scene *s, rb_rng *rng, double way, double speed, tally *found)
{
    static rb_contact seen[MOST];
    const rb_model *m = s->m;
    rb_data *d = s->d;
    int nstart = 0, nend = 0;
    rb_mark mark = rb_arena_mark(d->arena);
    double *q0 = rb_push(d->arena, double, m->nq), *q_free = rb_push(d->arena, double, m->nq);
    double *v = rb_push(d->arena, double, m->nv);
    rb_stage stage = { .m = m, .d = d, .o = &s->o, .h = 0.01, .gravity = 9.81, .size = m->extent };
    stage.q0 = q0, stage.q_free = q_free, stage.v_free = v;
    for (int j = 0; j < m->nq; j++) q0[j] = d->q[j] = rb_rng_uniform(rng, -3.0, 3.0);
    for (int j = 0; j < m->nv; j++) d->v[j] = v[j] = 0.0;
    memcpy(q_free, q0, (size_t)m->nq * sizeof *q0);
    rb_forward_place(m, d);
    rb_frames(m, d);
    d->cache->kept_of = NULL; /* all gaps are those of q* */
    CHECK_INT(rb_collide(m, d, stage.h, 0.0, MOST, seen, &nstart, NULL), RB_OK);
    rb_stage_note_clearance(&stage);

    for (int j = 0; j < m->nv; j++) {
        d->q[j] = q0[j] += way * rb_rng_uniform(rng, -1.0, 1.0);
        d->v[j] = v[j] = speed * rb_rng_uniform(rng, -1.0, 1.0);
        q_free[j] = q0[j] + stage.h * v[j] * rb_rng_uniform(rng, 0.0, 1.0);
    }
    int clear = rb_stage_is_clear(&stage);
    rb_forward_place(m, d);
    rb_frames(m, d);
    CHECK_INT(rb_collide(m, d, stage.h, stage.h * 9.81, MOST, seen, &nstart, NULL), RB_OK);
    memcpy(d->q, q_free, (size_t)m->nq * sizeof *q_free);
    rb_kinematics(m, d);
    rb_frames(m, d);
    CHECK_INT(rb_collide(m, d, 0.0, 0.0, MOST, seen, &nend, NULL), RB_OK);
    if (clear) CHECK_INT(nstart + nend, 0);
    found->clear += clear;
    found->not += !clear;
    found->touches += nstart + nend > 0;
    rb_arena_reset(d->arena, mark);
}

TEST(what_is_clear_has_no_contacts)
{
    scene s = scene_text(TREES);
    s.o.scheme = RB_SCHEME_MIDPOINT; /* (S.33) is a part of it: the node rule looks in each step */
    CHECK_INT(rb_data_reserve(s.m, &s.d, MOST), RB_OK);
    rb_rng rng = rb_rng_make(59);
    tally found = { 0 };
    for (int i = 0; i < 40000; i++) {
        double way = rb_rng_uniform(&rng, 0.0, 0.3), speed = rb_rng_uniform(&rng, 0.0, 20.0);
        compare(&s, &rng, i % 2 ? way * way : 0.0, i % 2 ? 0.1 * speed : speed, &found);
    }
    CHECK(found.clear > 1000 && found.not > 1000 && found.touches > 1000);
    scene_free(&s);
}

/* ---- whole runs -------------------------------------------------------------------------------
 */

/* Returns the steps that were clear. */
static int agree(scene a, scene b, double time)
{
    int clear = 0;
    a.o.scheme = b.o.scheme = RB_SCHEME_MIDPOINT;
    for (int j = 0; j < a.m->nv; j++) a.d->v[j] = b.d->v[j] = j % 2 ? -1.0 : 1.0;
    while (a.d->time < time) {
        scene_step(&a);
        b.d->cache->clear_known = 0;
        scene_step(&b);
        CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
        CHECK_INT(a.info.contacts, b.info.contacts);
        CHECK_INT(a.info.islands, b.info.islands);
        CHECK_INT(a.info.rows, b.info.rows);
        CHECK_INT(a.info.solves, b.info.solves);
        CHECK_INT(a.info.parts, b.info.parts);
        CHECK(a.info.residual == b.info.residual && a.info.penetration == b.info.penetration);
        CHECK(a.info.energy_smooth == b.info.energy_smooth);
        clear += a.d->cache->clear_known;
    }
    scene_free(&a);
    scene_free(&b);
    return clear;
}

TEST(clear_steps_have_the_bits_of_computed_ones)
{
    static const char *const files[] = { "peers/pendulum_3_10.xml", "peers/pendulum_3_5.xml",
                                         "peers/pendulum_6_5.xml", "peers/pendulum_12_5.xml" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int clear = agree(scene_file(files[i]), scene_file(files[i]), 1.5);
        CHECK(clear > 300);
    }
    CHECK(agree(scene_text(ONE_TREE), scene_text(ONE_TREE), 2.0) > 100);
}

/* What rows could come from beside contacts is looked for in every step. The row of a limit is
 * linear, and midpoint meets it to rounding. The node rule finds the end of a step by rounds, which
 * leave the tolerance of the largest velocity: here that of the impact, over a step. */
static void fall_on_limit(rb_scheme scheme)
{
    scene s = scene_text("<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 9'>"
                         "<joint axis='0 1 0' limited='true' range='-30 30'/>"
                         "<geom type='sphere' size='0.1' pos='0.5 0 0'/></body></worldbody>"
                         "</mujoco>");
    double most = 30.0 * acos(-1.0) / 180.0, fastest = 0.0, h = s.m->option.timestep;
    s.o.scheme = scheme;
    for (int i = 0; i < 1000; i++) {
        scene_step(&s);
        fastest = fmax(fastest, fabs(s.d->v[0]));
        CHECK_INT(s.d->cache->clear_known, 0);
    }
    double left = rb_step_opts_tol(&s.o) * h * fastest;
    CHECK_NEAR(s.d->q[0], most, scheme == RB_SCHEME_NODE ? left : 1e-9);
    CHECK(s.d->v[0] == 0.0);
    scene_free(&s);
}

TEST(limits_are_not_passed)
{
    fall_on_limit(RB_SCHEME_MIDPOINT);
    fall_on_limit(RB_SCHEME_NODE);
}

TEST_MAIN(RUN(what_is_clear_has_no_contacts), RUN(clear_steps_have_the_bits_of_computed_ones),
          RUN(limits_are_not_passed))
