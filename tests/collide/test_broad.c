/* The broad phase against all pairs. */
#include "collide/broad.h"

#include "test.h"

enum { NMAX = 3000 };

static rb_aabb random_box(rb_rng *rng, double space, double size)
{
    rb_aabb b;
    for (int k = 0; k < 3; k++) {
        b.lo[k] = rb_rng_uniform(rng, -space, space);
        b.hi[k] = b.lo[k] + rb_rng_uniform(rng, 0.0, size);
    }
    return b;
}

static int boxes_meet(const rb_aabb *a, const rb_aabb *b)
{
    for (int k = 0; k < 3; k++) {
        if (a->hi[k] < b->lo[k] || b->hi[k] < a->lo[k]) return 0;
    }
    return 1;
}

static int grids; /* sets of boxes that a grid took */

/* Every query gives exactly the later boxes that meet, ascending. */
static int check_boxes(const rb_aabb *box, int n)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_broad broad;
    int *found = malloc(sizeof(int) * (size_t)(n + 1)), pairs = 0;
    CHECK(arena && found);
    int *first, *partner;
    CHECK(rb_broad_make(&broad, n, box, arena));
    CHECK(rb_broad_pairs(&broad, arena, &first, &partner));
    int *first_g = NULL, *partner_g = NULL, done;
    CHECK(rb_grid_pairs(n, box, arena, &first_g, &partner_g, &done));
    grids += done;
    CHECK(!done || first_g[n] == first[n]);
    for (int k = 0; done && k < first[n]; k++) CHECK_INT(partner_g[k], partner[k]);
    for (int i = 0; done && i <= n; i++) CHECK_INT(first_g[i], first[i]);
    for (int i = 0; i < n; i++) {
        int count = rb_broad_query(&broad, &box[i], i, found), at = 0;
        CHECK_INT(first[i + 1] - first[i], count);
        for (int k = 0; k < count; k++) CHECK_INT(partner[first[i] + k], found[k]);
        for (int j = i + 1; j < n; j++) {
            if (!boxes_meet(&box[i], &box[j])) continue;
            CHECK(at < count);
            CHECK_INT(found[at++], j);
        }
        CHECK_INT(at, count);
        pairs += count;
    }
    free(found);
    rb_arena_free(arena);
    return pairs;
}

TEST(finds_exactly_the_pairs_that_meet)
{
    static rb_aabb box[NMAX];
    int pairs = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 1 + (int)(rb_rng_next(&rng) % 200);
        for (int i = 0; i < n; i++) {
            box[i] = random_box(&rng, 1.0, seed % 3 == 0 ? 1.0 : 0.2);
        }

        /* one that covers everything, one far away, some without size, some twice */
        if (seed % 4 == 0) box[n / 2] = (rb_aabb){ { -9.0, -9.0, -9.0 }, { 9.0, 9.0, 9.0 } };
        if (seed % 5 == 0) box[0] = (rb_aabb){ { 1e9, 1e9, 1e9 }, { 1e9, 1e9, 1e9 } };
        if (seed % 7 == 0) {
            for (int i = 1; i < n; i += 2) box[i] = box[i - 1];
        }
        pairs += check_boxes(box, n);
    }
    CHECK(pairs > 10000);
    CHECK(grids > 50);
}

TEST(many_boxes_and_none)
{
    static rb_aabb box[NMAX];
    rb_rng rng = rb_rng_make(3);
    for (int i = 0; i < NMAX; i++) box[i] = random_box(&rng, 5.0, 1.0);
    CHECK(check_boxes(box, NMAX) > NMAX);
    CHECK_INT(check_boxes(box, 0), 0);
    CHECK_INT(check_boxes(box, 1), 0);

    /* all in one place */
    for (int i = 0; i < 100; i++) box[i] = box[0];
    CHECK_INT(check_boxes(box, 100), 100 * 99 / 2);
}

TEST(touching_counts_and_infinite_queries_find_all)
{
    rb_aabb box[3] = { { { 0.0, 0.0, 0.0 }, { 1.0, 1.0, 1.0 } },
                       { { 1.0, 0.0, 0.0 }, { 2.0, 1.0, 1.0 } },
                       { { 5.0, 5.0, 5.0 }, { 6.0, 6.0, 6.0 } } };
    CHECK_INT(check_boxes(box, 3), 1);
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_broad broad;
    int found[3];
    CHECK(arena && rb_broad_make(&broad, 3, box, arena));
    rb_aabb all = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    CHECK_INT(rb_broad_query(&broad, &all, -1, found), 3);
    CHECK_INT(found[2], 2);
    CHECK_INT(rb_broad_query(&broad, &all, 1, found), 1);
    rb_arena_free(arena);
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

TEST(out_of_memory_is_reported)
{
    static rb_aabb box[NMAX];
    rb_rng rng = rb_rng_make(5);
    for (int i = 0; i < NMAX; i++) box[i] = random_box(&rng, 1.0, 0.1);
    int enough = 0;
    for (int k = 2; !enough; k++) {
        int left = k;
        rb_alloc alloc = { scarce_alloc, NULL, scarce_release, &left };
        rb_arena *arena = rb_arena_new(&alloc, 0);
        rb_broad broad;
        CHECK(arena != NULL);
        enough = rb_broad_make(&broad, NMAX, box, arena);
        CHECK(k > 2 || !enough);
        rb_arena_free(arena);
    }
    for (int k = 2, met = 0; !met; k++) {
        int left = k, *first, *partner, done;
        rb_alloc alloc = { scarce_alloc, NULL, scarce_release, &left };
        rb_arena *arena = rb_arena_new(&alloc, 0);
        CHECK(arena != NULL);
        met = rb_grid_pairs(NMAX, box, arena, &first, &partner, &done);
        CHECK(k > 2 || !met);
        CHECK(!met || done);
        rb_arena_free(arena);
    }
}

TEST_MAIN(RUN(finds_exactly_the_pairs_that_meet), RUN(many_boxes_and_none),
          RUN(touching_counts_and_infinite_queries_find_all), RUN(out_of_memory_is_reported))
