/* Poses that are there already are not made again, and nobody can tell. */
#include "model/cache.h"
#include "step_support.h"

#include "dynamics/forward.h"
#include "dynamics/placed.h"
#include "rattleback/dynamics.h"
#include "tree_support.h"

static int same(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (!(a[i] == b[i])) return 0;
    }
    return 1;
}

static int same_poses(const rb_model *m, const rb_data *a, const rb_data *b)
{
    int n = m->nlink;
    return same(a->link_p, b->link_p, 3 * n) && same(a->link_R, b->link_R, 9 * n) &&
           same(a->link_l, b->link_l, 3 * n) && same(a->link_c, b->link_c, 3 * n) &&
           same(a->link_I, b->link_I, 6 * n) && same(a->dof_S, b->dof_S, 6 * m->nv) &&
           same(a->body_p, b->body_p, 3 * m->nbody) && same(a->body_R, b->body_R, 9 * m->nbody);
}

TEST(poses_are_those_of_kinematics)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed)), plain = tree_open(seed, tree_any(seed));
        rb_placed_frames(t.m, t.d);
        rb_kinematics_plain(plain.m, plain.d);
        rb_frames(plain.m, plain.d);
        CHECK(same_poses(t.m, t.d, plain.d));
        rb_velocity(plain.m, plain.d);
        rb_placed_motion(t.m, t.d);
        CHECK(same(t.d->link_v, plain.d->link_v, 3 * t.m->nlink));
        CHECK(same(t.d->link_a, plain.d->link_a, 6 * t.m->nlink));
        tree_close(&t);
        tree_close(&plain);
    }
}

TEST(whoever_moves_poses_says_so)
{
    tree t = tree_open(7, tree_chain(6)), plain = tree_open(7, tree_chain(6));
    double q = t.d->q[2];
    rb_placed_frames(t.m, t.d);
    CHECK_INT(t.d->placed, 1);
    t.d->q[2] = q + 0.5;
    rb_kinematics(t.m, t.d);
    t.d->q[2] = q; /* as before, but poses are not */
    rb_placed_frames(t.m, t.d);
    rb_kinematics_plain(plain.m, plain.d);
    rb_frames(plain.m, plain.d);
    CHECK(same_poses(t.m, t.d, plain.d));
    t.d->q[2] = plain.d->q[2] = 0.25;
    rb_placed_frames(t.m, t.d);
    rb_kinematics_plain(plain.m, plain.d);
    rb_frames(plain.m, plain.d);
    CHECK(same_poses(t.m, t.d, plain.d));
    tree_close(&t);
    tree_close(&plain);
}

/* A chain that falls on a floor and against a wall: what begins with poses of the step before and
 * what makes them anew end with the same bits. */
static void run_both(const char *name, int steps)
{
    scene kept = scene_file(name), anew = scene_file(name);
    int found = 0;
    for (int i = 0; i < steps; i++) {
        found += kept.d->placed && same(kept.d->cache->placed_q, kept.d->q, kept.m->nq);
        anew.d->placed = anew.d->framed = anew.d->cache->posed = 0;
        scene_step(&kept);
        scene_step(&anew);
        if (i % 97 == 50) rb_kinematics(kept.m, kept.d);
    }
    CHECK(found > steps / 10);
    CHECK(rb_data_hash(kept.d) == rb_data_hash(anew.d));
    scene_free(&kept);
    scene_free(&anew);
}

TEST(steps_cannot_tell)
{
    run_both("peers/pendulum_3_5.xml", 3000);
    run_both("peers/pendulum_6_5.xml", 5000);
}

/* What others leave in the links and frames does not come back, and what was copied does. */
TEST(copies_are_those_of_kinematics)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed)), plain = tree_open(seed, tree_any(seed));
        rb_kinematics_plain(plain.m, plain.d);
        rb_frames(plain.m, plain.d);
        rb_velocity(plain.m, plain.d);
        rb_placed_motion(t.m, t.d);
        double q = t.d->q[0];
        t.d->q[0] = q + 0.5; /* smooth motion goes there */
        rb_forward_place(t.m, t.d);
        t.d->q[0] = q;
        rb_placed_links(t.m, t.d);
        CHECK(same_poses(t.m, t.d, plain.d));
        CHECK(same(t.d->link_a, plain.d->link_a, 6 * t.m->nlink));
        t.d->q[0] = q + 0.5; /* frames go there too */
        rb_kinematics(t.m, t.d);
        rb_frames(t.m, t.d);
        t.d->q[0] = q;
        for (int twice = 0; twice < 2; twice++) {
            rb_placed_motion(t.m, t.d);
            CHECK(same_poses(t.m, t.d, plain.d));
            CHECK(same(t.d->link_v, plain.d->link_v, 3 * t.m->nlink));
        }
        tree_close(&t);
        tree_close(&plain);
    }
}

/* Geoms that no pair has are placed by rb_frames alone. */
TEST(frames_within_steps_are_those_of_geoms_that_touch)
{
    scene s = scene_text("<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
                         "<body pos='0 0 1' euler='20 30 0'><freejoint/>"
                         "<geom type='box' size='0.1 0.08 0.05' pos='0.1 0 0'/>"
                         "<geom type='sphere' size='0.1' pos='0 0.2 0' mass='0' contype='0' "
                         "conaffinity='0'/></body></worldbody></mujoco>");
    double p[9];
    rb_kinematics(s.m, s.d);
    rb_frames(s.m, s.d);
    memcpy(p, s.d->geom_p, sizeof p);
    for (int i = 0; i < 9; i++) s.d->geom_p[i] = 7.0;
    rb_placed_frames(s.m, s.d);
    CHECK(same(s.d->geom_p, p, 6));
    for (int i = 6; i < 9; i++) CHECK(s.d->geom_p[i] == 7.0);
    rb_frames(s.m, s.d);
    CHECK(same(s.d->geom_p, p, 9));
    scene_free(&s);
}

TEST_MAIN(RUN(poses_are_those_of_kinematics), RUN(copies_are_those_of_kinematics),
          RUN(whoever_moves_poses_says_so), RUN(steps_cannot_tell),
          RUN(frames_within_steps_are_those_of_geoms_that_touch))
