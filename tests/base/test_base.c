/* Hash, random numbers, sorting, status texts, errors and the default allocator. */
#include "test.h"

#include "base/error.h"
#include "base/sort.h"

/* ---- hash --------------------------------------------------------------------------------------
 */

/* Published vectors of 64-bit FNV-1a. */
TEST(hash_vectors)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = { { "", UINT64_C(0xcbf29ce484222325) },
                  { "a", UINT64_C(0xaf63dc4c8601ec8c) },
                  { "b", UINT64_C(0xaf63df4c8601f1a5) },
                  { "foobar", UINT64_C(0x85944171f73967e8) } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK(rb_hash(RB_HASH_INIT, known[i].text, strlen(known[i].text)) == known[i].hash);
    }
}

TEST(hash_is_chainable)
{
    const char *text = "rattleback";
    uint64_t whole = rb_hash(RB_HASH_INIT, text, 10);
    for (size_t cut = 0; cut <= 10; cut++) {
        uint64_t head = rb_hash(RB_HASH_INIT, text, cut);
        CHECK(rb_hash(head, text + cut, 10 - cut) == whole);
    }
    CHECK(rb_hash(RB_HASH_INIT, "rattlebacl", 10) != whole);
}

/* ---- random numbers ----------------------------------------------------------------------------
 */

/* One step of PCG-XSH-RR written from the paper: multiply, add the increment, permute. */
static uint32_t plain_pcg(uint64_t *state, uint64_t increment)
{
    uint64_t old = *state;
    *state = old * UINT64_C(6364136223846793005) + increment;
    uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t rotation = (uint32_t)(old >> 59);
    for (uint32_t i = 0; i < rotation; i++) shifted = (shifted >> 1) | (shifted << 31);
    return shifted;
}

/* The demonstration of the reference implementation: state 42, stream 54. */
TEST(pcg_reference_sequence)
{
    static const uint32_t round1[] = { 0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                       0x83d2f293, 0xbfa4784b, 0xcbed606e };
    rb_rng rng = { 0, (54u << 1) | 1 };
    rb_rng_next(&rng);
    rng.state += 42;
    rb_rng_next(&rng);
    for (int i = 0; i < 6; i++) CHECK(rb_rng_next(&rng) == round1[i]);
}

TEST(rng_follows_the_definition)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        uint64_t state = rng.state;
        for (int i = 0; i < 200; i++) CHECK(rb_rng_next(&rng) == plain_pcg(&state, rng.stream));
    }
}

/* Every stored problem and every recorded campaign hangs on these numbers. */
TEST(rng_golden_numbers)
{
    static const uint32_t first[3][4] = { { 0xe4c14788, 0x379c6516, 0x5c4ab3bb, 0x601d23e0 },
                                          { 0xf3b68eb8, 0x60c85394, 0x0040fbf9, 0x6d793abd },
                                          { 0x32a67a31, 0xa00cee8c, 0x1597a21b, 0xe70022e8 } };
    static const uint64_t seeds[3] = { 0, 1, UINT64_C(0xfedcba9876543210) };
    for (int s = 0; s < 3; s++) {
        rb_rng rng = rb_rng_make(seeds[s]);
        for (int i = 0; i < 4; i++) {
            uint32_t number = rb_rng_next(&rng);
            if (number != first[s][i]) print_error("observed 0x%08" PRIx32 "\n", number);
            CHECK(number == first[s][i]);
        }
    }
}

TEST(rng_seeds_differ)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        TEST_SEED(seed);
        rb_rng a = rb_rng_make(seed), b = rb_rng_make(seed + 1);
        int same = 0;
        for (int i = 0; i < 100; i++) same += rb_rng_next(&a) == rb_rng_next(&b);
        CHECK(same <= 1);
    }
}

/* Mean 1/2 and variance 1/12; five standard errors of 100,000 draws. */
TEST(uniform_range_and_moments)
{
    enum { DRAWS = 100000, BINS = 20 };
    rb_rng rng = rb_rng_make(3);
    double sum = 0.0, square = 0.0;
    int bin[BINS] = { 0 };
    for (int i = 0; i < DRAWS; i++) {
        double x = rb_rng_uniform(&rng, 0.0, 1.0);
        CHECK(x >= 0.0 && x < 1.0);
        bin[(int)(x * BINS)]++;
        sum += x;
        square += (x - 0.5) * (x - 0.5);
    }
    CHECK_NEAR(sum / DRAWS, 0.5, 5.0 * 0.29 / sqrt(DRAWS));
    CHECK_NEAR(square / DRAWS, 1.0 / 12.0, 5.0 * 0.075 / sqrt(DRAWS));
    for (int i = 0; i < BINS; i++) CHECK_NEAR(bin[i], DRAWS / BINS, 5.0 * sqrt(DRAWS / BINS));
    for (int i = 0; i < 1000; i++) {
        double x = rb_rng_uniform(&rng, -3.0, -2.5);
        CHECK(x >= -3.0 && x < -2.5);
    }
}

TEST(normal_moments)
{
    enum { DRAWS = 50000 };
    rb_rng rng = rb_rng_make(4);
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double x = rb_rng_normal(&rng);
        CHECK(fabs(x) <= 6.0);
        sum += x;
        square += x * x;
    }
    CHECK_NEAR(sum / DRAWS, 0.0, 5.0 / sqrt(DRAWS));
    CHECK_NEAR(square / DRAWS, 1.0, 5.0 * 1.42 / sqrt(DRAWS));
}

/* ---- sort --------------------------------------------------------------------------------------
 */

TEST(sort_orders_and_keeps_everything)
{
    int x[300], count[64];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = (int)(seed - 1);
        memset(count, 0, sizeof count);
        for (int i = 0; i < n; i++) {
            x[i] = (int)(rb_rng_next(&rng) % 64) - 32;
            count[x[i] + 32]++;
        }
        rb_sort_ints(x, n);
        for (int i = 1; i < n; i++) CHECK(x[i - 1] <= x[i]);
        for (int i = 0; i < n; i++) count[x[i] + 32]--;
        for (int i = 0; i < 64; i++) CHECK_INT(count[i], 0);
    }
    int ends[3] = { INT32_MAX, 0, INT32_MIN };
    rb_sort_ints(ends, 3);
    CHECK(ends[0] == INT32_MIN && ends[1] == 0 && ends[2] == INT32_MAX);
    rb_sort_ints(NULL, 0);
}

/* ---- status, errors, allocator -----------------------------------------------------------------
 */

TEST(status_texts)
{
    static const struct {
        rb_status status;
        const char *text;
    } all[] = { { RB_OK, "ok" },
                { RB_NOMEM, "out of memory" },
                { RB_BAD_INPUT, "bad input" },
                { RB_UNSUPPORTED, "not supported by this solver" },
                { RB_TOO_LARGE, "too large" },
                { RB_FILE, "file error" },
                { RB_SINGULAR, "singular inertia" },
                { RB_FULL, "no room for all contacts" },
                { RB_UNSOLVED, "no certified answer" },
                { RB_JAMMED, "jammed" },
                { RB_CROWDED, "more events than the budget of a step" },
                { RB_BUDGET, "more work than the budget of a step" },
                { RB_CANCELLED, "cancelled" },
                { (rb_status)(RB_CANCELLED + 1), "unknown status" },
                { (rb_status)77, "unknown status" } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_STR(rb_status_text(all[i].status), all[i].text);
    }
}

TEST(errors_are_filled_and_cut)
{
    rb_error err = { .line = 12, .file = "a.json" };
    CHECK_INT(rb_fail(&err, RB_TOO_LARGE, "row %d of %s", 3, "W"), RB_TOO_LARGE);
    CHECK_INT(err.status, RB_TOO_LARGE);
    CHECK_STR(err.text, "row 3 of W");
    CHECK_STR(err.file, "a.json"); /* where is the reader's business */
    CHECK_INT(err.line, 12);
    CHECK_INT(rb_fail(NULL, RB_NOMEM, "nobody listens"), RB_NOMEM);

    char longer[2 * sizeof err.text];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    CHECK_INT(rb_fail(&err, RB_BAD_INPUT, "%s", longer), RB_BAD_INPUT);
    CHECK_INT((long long)strlen(err.text), (long long)sizeof err.text - 1);
}

TEST(default_allocator_is_libc)
{
    rb_alloc a = rb_alloc_default();
    unsigned char *block = a.alloc(a.ctx, 10);
    CHECK(block != NULL);
    memset(block, 5, 10);
    block = a.resize(a.ctx, block, 1000);
    CHECK(block != NULL && block[0] == 5 && block[9] == 5);
    a.release(a.ctx, block);
    a.release(a.ctx, NULL);
}

TEST_MAIN(RUN(hash_vectors), RUN(hash_is_chainable), RUN(pcg_reference_sequence),
          RUN(rng_follows_the_definition), RUN(rng_golden_numbers), RUN(rng_seeds_differ),
          RUN(uniform_range_and_moments), RUN(normal_moments),
          RUN(sort_orders_and_keeps_everything), RUN(status_texts), RUN(errors_are_filled_and_cut),
          RUN(default_allocator_is_libc))
