/* Same inputs, same bits: the answers of auto on stored seeds have stored hashes, whatever compiler
 * and optimisation built the library, and whatever was solved before. */
#include "corpus_support.h"

#include "golden.h"

/* One family of problems: forms take turns with the seed. */
typedef struct golden_kind {
    const char *name;
    int form[4];
    const uint64_t *hash;
} golden_kind;

static const golden_kind lcp = {
    "lcp",
    { RB_CORPUS_ST4_V, RB_CORPUS_ST8_P, RB_CORPUS_PHANTOM, RB_CORPUS_ST8_V },
    golden_lcp,
};
static const golden_kind box = {
    "box",
    { RB_CORPUS_BOX, RB_CORPUS_BOX, RB_CORPUS_BOX, RB_CORPUS_BOX },
    golden_box,
};
static const golden_kind cone = {
    "cone",
    { RB_CORPUS_CONE, RB_CORPUS_CONE_BSR, RB_CORPUS_CONE_OP, RB_CORPUS_CONE_2D },
    golden_cone,
};
static const golden_kind mixed = {
    "mixed",
    { RB_CORPUS_MIXED_ST, RB_CORPUS_MIXED_BOX, RB_CORPUS_MIXED_ST, RB_CORPUS_MIXED_BOX },
    golden_mixed,
};

/* Hash of the answer to problem number k, solved in `arena` (NULL: one of its own). */
static uint64_t answer_hash(const golden_kind *kind, int k, rb_arena *arena)
{
    rb_corpus_problem p =
        support_make((uint64_t)(k + 1), k % RB_CORPUS_FAMILIES, kind->form[k % 4], 2 + k * 5 % 23);
    rb_solve_opts opts = support_opts("auto");
    static double z[SUPPORT_ROWS];
    memset(z, 0, sizeof z);
    opts.arena = arena;
    CHECK_INT(support_solve(&p.problem, &opts, z, NULL).outcome, RB_SOLVED);
    uint64_t hash = rb_hash(RB_HASH_INIT, z, (size_t)p.problem.n * sizeof *z);
    rb_corpus_free(&p);
    return hash;
}

/* On a failure all observed hashes are printed, ready for golden.h. */
static void check_hashes(const golden_kind *kind)
{
    uint64_t observed[GOLDEN_SEEDS];
    int moved = 0;
    for (int k = 0; k < GOLDEN_SEEDS; k++) {
        observed[k] = answer_hash(kind, k, NULL);
        moved += observed[k] != kind->hash[k];
    }
    for (int k = 0; moved && k < GOLDEN_SEEDS; k++) {
        print_error("golden_%s[%d] observed UINT64_C(0x%016" PRIx64 ")%s\n", kind->name, k,
                    observed[k], observed[k] == kind->hash[k] ? "" : ", moved");
    }
    CHECK_INT(moved, 0);
}

TEST(lcp_answers)
{
    check_hashes(&lcp);
}

TEST(box_answers)
{
    check_hashes(&box);
}

TEST(cone_answers)
{
    check_hashes(&cone);
}

TEST(mixed_answers)
{
    check_hashes(&mixed);
}

/* Backwards, in one arena that is full of the last problem's numbers. */
TEST(repeated_runs_in_one_arena)
{
    const golden_kind *const kinds[] = { &lcp, &box, &cone, &mixed };
    rb_arena *arena = rb_arena_new(NULL, 0);
    CHECK(arena != NULL);
    for (int round = 0; round < 2; round++) {
        for (int i = 4 * GOLDEN_SEEDS - 1; i >= 0; i--) {
            const golden_kind *kind = kinds[i % 4];
            TEST_SEED(i / 4 + 1);
            CHECK(answer_hash(kind, i / 4, arena) == answer_hash(kind, i / 4, NULL));
        }
    }
    rb_arena_free(arena);
}

TEST_MAIN(RUN(lcp_answers), RUN(box_answers), RUN(cone_answers), RUN(mixed_answers),
          RUN(repeated_runs_in_one_arena))
