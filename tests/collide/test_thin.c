/* Contacts of two links that others imply (G.36) are not rows, and nothing moves differently. */
#include "step_support.h"

#include "collide/thin.h"
#include "dynamics/forward.h"

enum { MOST = 400 };

#define FLOOR "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='9 9 1'/>"
#define TILE(x, y)                                                                                 \
    "<geom type='box' size='0.05 0.05 0.02' mass='0.1' pos='" #x " " #y " 0' friction='0.3'/>"
#define ROW(y) TILE(-0.15, y) TILE(-0.05, y) TILE(0.05, y) TILE(0.15, y)
#define TILES                                                                                      \
    FLOOR "<body pos='0 0 0.02'><freejoint/>" ROW(-0.15) ROW(-0.05) ROW(0.05)                      \
        ROW(0.15) "</body></worldbody></mujoco>"
#define PLATE                                                                                      \
    FLOOR "<body pos='0 0 0.02'><freejoint/><geom type='box' size='0.2 0.2 0.02' mass='1.6' "      \
          "friction='0.3'/></body></worldbody></mujoco>"

static int contacts_of(scene *s, double h, rb_contact *out)
{
    int n = 0;
    rb_forward_place(s->m, s->d);
    rb_frames(s->m, s->d);
    CHECK_INT(rb_collide(s->m, s->d, h, 0.1, MOST, out, &n, NULL), RB_OK);
    return n;
}

/* 64 points of a floor of tiles: the corners of all of it stay. Where nobody looks ahead all do. */
TEST(corners_of_a_plane_stay)
{
    static rb_contact c[MOST];
    scene s = scene_text(TILES);
    CHECK_INT(rb_data_reserve(s.m, &s.d, MOST), RB_OK);
    CHECK_INT(contacts_of(&s, 0.0, c), 64);
    CHECK_INT(contacts_of(&s, 0.002, c), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(fabs(c[i].at.pos1[0]), 0.2, 1e-12);
        CHECK_NEAR(fabs(c[i].at.pos1[1]), 0.2, 1e-12);
        for (int k = 0; k < i; k++)
            CHECK(fabs(c[i].at.pos1[0] - c[k].at.pos1[0]) +
                      fabs(c[i].at.pos1[1] - c[k].at.pos1[1]) >
                  0.3);
    }
    scene_free(&s);
}

/* Points that are lower than the plane through others, or outside, or of another surface stay. */
TEST(what_others_do_not_imply_stays)
{
    scene s = scene_text(TILES);
    rb_rng rng = rb_rng_make(1);
    for (int round = 0; round < 200; round++) {
        rb_contact c[40], kept[40];
        for (int i = 0; i < 40; i++) {
            c[i] = (rb_contact){ .geom1 = 0, .geom2 = 1 + i % 16, .pair = -1 };
            c[i].at.normal[2] = 1.0;
            for (int k = 0; k < 2; k++) c[i].at.pos1[k] = rb_rng_uniform(&rng, -1.0, 1.0);
            c[i].at.gap = i % 3 ? 1e-3 : i == 30 ? -1e-4 * (round % 2) : 0.0;
            memcpy(c[i].at.pos2, c[i].at.pos1, sizeof c[i].at.pos2);
            c[i].at.pos2[2] = c[i].at.gap;
        }
        memcpy(kept, c, sizeof c);
        int n = rb_contacts_thin(s.m, s.d->arena, 40, kept), at = 0, lowest = 0;
        CHECK(n < 40 || round % 2);
        for (int i = 0; i < 40;
             i++) { /* every direction has its extreme point, and the order stays */
            int stays = at < n && memcmp(&kept[at], &c[i], sizeof *c) == 0;
            lowest |= stays && c[i].at.gap <= -1e-4;
            at += stays;
        }
        CHECK_INT(at, n);
        CHECK(lowest || round % 2 == 0);
        for (double angle = 0.0; angle < 6.0; angle += 0.1) {
            double all = -INFINITY, left = -INFINITY;
            for (int i = 0; i < 40; i++)
                all = fmax(all, cos(angle) * c[i].at.pos1[0] + sin(angle) * c[i].at.pos1[1]);
            for (int i = 0; i < n; i++)
                left =
                    fmax(left, cos(angle) * kept[i].at.pos1[0] + sin(angle) * kept[i].at.pos1[1]);
            CHECK_NEAR(all, left, 1e-12);
        }
    }
    scene_free(&s);
}

/* Tiles on the floor slide, tip and rest as a plate does. */
TEST(tiles_move_as_a_plate)
{
    scene tiles = scene_text(TILES), plate = scene_text(PLATE);
    CHECK_INT(rb_data_reserve(tiles.m, &tiles.d, MOST), RB_OK);
    scene *both[2] = { &tiles, &plate };
    for (int k = 0; k < 2; k++) {
        both[k]->d->v[0] = 1.0;
        both[k]->d->v[2] = 0.3; /* up, and down again flat */
    }
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < 2; k++) scene_step(both[k]);
        for (int j = 0; j < 7; j++) CHECK_NEAR(tiles.d->q[j], plate.d->q[j], 1e-7);
    }
    CHECK(tiles.info.contacts <= 8);
    CHECK(fabs(tiles.d->v[0]) <= 1e-9);
    scene_free(&tiles);
    scene_free(&plate);
}

TEST_MAIN(RUN(corners_of_a_plane_stay), RUN(what_others_do_not_imply_stays),
          RUN(tiles_move_as_a_plate))
