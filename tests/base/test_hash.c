/* The spatial hash against all pairs: moving boxes of many sizes, wide ones, far ones. */
#include "collide/hash_grid.h"

#include "base/arena.h"
#include "test.h"

#include <time.h>

enum { NMAX = 400 };

static int boxes_meet(const rb_aabb *a, const rb_aabb *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->lo[k] <= b->hi[k] && b->lo[k] <= a->hi[k])) return 0;
    return 1;
}

/* Every body's neighbours are exactly those whose boxes meet its own, ascending. */
static int check_all(const rb_hash_grid *g, const rb_aabb *box, int n)
{
    int found[NMAX + 1], pairs = 0;
    for (int i = 0; i < n; i++)
        for (int above = 0; above < 2; above++) {
            int count = rb_hash_grid_near(g, i, above, found), at = 0;
            for (int j = above ? i + 1 : 0; j < n; j++) {
                if (j == i || !boxes_meet(&box[i], &box[j])) continue;
                CHECK(at < count);
                CHECK_INT(found[at++], j);
            }
            CHECK_INT(at, count);
            if (above) pairs += count;
        }
    return pairs;
}

static rb_aabb box_at(const double c[3], const double half[3])
{
    rb_aabb b;
    for (int k = 0; k < 3; k++) {
        b.lo[k] = c[k] - half[k];
        b.hi[k] = c[k] + half[k];
    }
    return b;
}

/* Sizes over four decades; now and then a box is swept far beyond its size, or infinite. */
TEST(moving_boxes_against_all_pairs)
{
    int pairs = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 2 + (int)(rb_rng_next(&rng) % (NMAX - 2));
        double size[NMAX], c[NMAX][3], v[NMAX][3], half[NMAX][3];
        rb_aabb box[NMAX];
        for (int i = 0; i < n; i++) {
            size[i] = pow(10.0, rb_rng_uniform(&rng, -3.0, 0.5));
            for (int k = 0; k < 3; k++) {
                c[i][k] = rb_rng_uniform(&rng, -2.0, 2.0);
                v[i][k] = rb_rng_uniform(&rng, -0.05, 0.05);
                half[i][k] = 0.5 * size[i] * rb_rng_uniform(&rng, 0.1, 1.0);
            }
        }
        rb_hash_grid *g = rb_hash_grid_new(n, size, NULL);
        CHECK(g != NULL);
        for (int step = 0; step < 30; step++) {
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < 3; k++) c[i][k] += v[i][k];
                box[i] = box_at(c[i], half[i]);
                if (rb_rng_next(&rng) % 50 == 0) box[i].hi[step % 3] += 100.0 * size[i];
                if (rb_rng_next(&rng) % 200 == 0) box[i].lo[step % 3] = -INFINITY;
                rb_hash_grid_move(g, i, &box[i]);
            }
            if (step % 5 == 0) pairs += check_all(g, box, n);
        }
        rb_hash_grid_free(g);
    }
    CHECK(pairs > 1000);
}

/* Boxes on the corners of cells, boxes without extent, bodies beyond the last cell. */
TEST(borders_points_and_far_places)
{
    double size[NMAX], zero[3] = { 0.0, 0.0, 0.0 };
    rb_aabb box[NMAX];
    int n = 0;
    for (int x = -2; x <= 2; x++)
        for (int y = -2; y <= 2; y++)
            for (int z = -1; z <= 1; z++) {
                double c[3] = { 0.5 * x, 0.5 * y, z }, half[3] = { 0.25, 0.25, 0.5 };
                size[n] = 1.0;
                box[n] = box_at(c, n % 3 ? half : zero);
                n++;
            }
    for (int k = 0; k < 20; k++, n++) {
        double c[3] = { 1e12 * (k % 4), k % 3 ? 1e300 : 0.5, 0.0 }, half[3] = { 1.0, 1.0, 1.0 };
        size[n] = k % 5 ? 2.0 : k % 2 ? 0.0 : INFINITY;
        box[n] = box_at(c, half);
    }
    rb_hash_grid *g = rb_hash_grid_new(n, size, NULL);
    CHECK(g != NULL);
    for (int i = 0; i < n; i++) rb_hash_grid_move(g, i, &box[i]);
    CHECK(check_all(g, box, n) > 100);
    rb_hash_grid_free(g);
}

/* A body that stays in its cells is not entered again. */
TEST(small_motions_cost_nothing)
{
    double size[2] = { 0.3, 0.3 }, half[3] = { 0.1, 0.1, 0.1 }, c[3] = { 0.7, 0.7, 0.7 };
    rb_hash_grid *g = rb_hash_grid_new(2, size, NULL);
    CHECK(g != NULL);
    rb_aabb box = box_at(c, half);
    CHECK_INT(rb_hash_grid_move(g, 0, &box), 1);
    CHECK(rb_hash_grid_cells(g, 0) >= 1 && rb_hash_grid_cells(g, 0) <= 8);
    for (int k = 0; k < 100; k++) {
        c[0] += 1e-4;
        box = box_at(c, half);
        CHECK_INT(rb_hash_grid_move(g, 0, &box), 0);
    }
    CHECK_INT((int)rb_hash_grid_entered(g), 1);
    rb_hash_grid_free(g);
}

/* The order of the moves does not show in the answers, and slots of cells that were left are used
 * again: bodies that travel far never fill the table. */
TEST(long_journeys)
{
    double size[40], half[3] = { 0.2, 0.2, 0.2 };
    rb_aabb box[40];
    for (int i = 0; i < 40; i++) size[i] = i % 4 ? 0.4 : 3.0;
    rb_hash_grid *a = rb_hash_grid_new(40, size, NULL), *b = rb_hash_grid_new(40, size, NULL);
    CHECK(a && b);
    rb_rng rng = rb_rng_make(1);
    for (int step = 0; step < 3000; step++) {
        for (int i = 0; i < 40; i++) {
            double c[3];
            for (int k = 0; k < 3; k++) c[k] = 0.8 * step + rb_rng_uniform(&rng, -1.0, 1.0);
            box[i] = box_at(c, half);
            rb_hash_grid_move(a, i, &box[i]);
        }
        for (int i = 39; i >= 0; i--) rb_hash_grid_move(b, i, &box[i]);
        if (step % 100) continue;
        CHECK(check_all(a, box, 40) == check_all(b, box, 40));
    }
    rb_hash_grid_free(a);
    rb_hash_grid_free(b);
}

/* 10,000 boxes that move: the same pairs as the tree of boxes finds; both times are printed. */
TEST(ten_thousand_beside_the_tree)
{
    enum { N = 10000, STEPS = 20 };
    static double size[N], c[N][3], v[N][3];
    static rb_aabb box[N];
    static int found[N + 1];
    double least[2] = { INFINITY, INFINITY };
    rb_rng rng = rb_rng_make(1);
    for (int i = 0; i < N; i++) {
        size[i] = rb_rng_uniform(&rng, 0.4, 1.0);
        for (int k = 0; k < 3; k++) {
            c[i][k] = rb_rng_uniform(&rng, 0.0, 40.0);
            v[i][k] = rb_rng_uniform(&rng, -2e-3, 2e-3);
        }
    }
    rb_hash_grid *g = rb_hash_grid_new(N, size, NULL);
    rb_arena *arena = rb_arena_new(NULL, 0);
    CHECK(g && arena);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++) {
            double half[3] = { 0.5 * size[i], 0.5 * size[i], 0.5 * size[i] };
            for (int k = 0; k < 3; k++) c[i][k] += v[i][k];
            box[i] = box_at(c[i], half);
        }
        long pairs[2] = { 0, 0 }, sum[2] = { 0, 0 };
        clock_t begin = clock();
        for (int i = 0; i < N; i++) rb_hash_grid_move(g, i, &box[i]);
        for (int i = 0; i < N; i++) {
            int count = rb_hash_grid_near(g, i, 1, found);
            for (int k = 0; k < count; k++) sum[0] += (long)found[k] * (i % 97 + 1);
            pairs[0] += count;
        }
        clock_t middle = clock();
        rb_broad broad;
        rb_mark mark = rb_arena_mark(arena);
        CHECK(rb_broad_make(&broad, N, box, arena));
        for (int i = 0; i < N; i++) {
            int count = rb_broad_query(&broad, &box[i], i, found);
            for (int k = 0; k < count; k++) sum[1] += (long)found[k] * (i % 97 + 1);
            pairs[1] += count;
        }
        rb_arena_reset(arena, mark);
        least[0] = fmin(least[0], (double)(middle - begin) / CLOCKS_PER_SEC);
        least[1] = fmin(least[1], (double)(clock() - middle) / CLOCKS_PER_SEC);
        CHECK_INT(pairs[0], pairs[1]);
        CHECK_INT(sum[0], sum[1]);
        CHECK(pairs[0] > N / 10);
    }
    printf("%d boxes, move all and list all pairs: hash %.2f ms, tree %.2f ms\n", (int)N,
           1e3 * least[0], 1e3 * least[1]);
    rb_arena_free(arena);
    rb_hash_grid_free(g);
}

TEST(every_allocation_may_fail)
{
    double size[10];
    for (int i = 0; i < 10; i++) size[i] = 0.1 * (i + 1);
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_hash_grid *g = rb_hash_grid_new(10, size, &alloc);
        int passed = memory.requests < k;
        CHECK_INT(g != NULL, passed);
        rb_hash_grid_free(g);
        CHECK_INT(memory.live, 0);
        if (passed) break;
    }
}

TEST_MAIN(RUN(moving_boxes_against_all_pairs), RUN(borders_points_and_far_places),
          RUN(small_motions_cost_nothing), RUN(long_journeys), RUN(ten_thousand_beside_the_tree),
          RUN(every_allocation_may_fail))
