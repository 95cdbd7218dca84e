/* Sparse block LU against dense LU, and the elimination order it rests on. */
#include "test.h"

#include "math/block_lu.h"
#include "math/dense.h"
#include "math/order.h"
#include "memory_budget.h"

enum { MOST_BLOCKS = 40, MOST_ROWS = 3 * MOST_BLOCKS };

/* A random symmetric pattern with diagonal, its blocks, and the same matrix dense. */
typedef struct sparse {
    int nb, bs, n;
    int ptr[MOST_BLOCKS + 1], col[MOST_BLOCKS * MOST_BLOCKS];
    double val[MOST_BLOCKS * MOST_BLOCKS * 9];
    double dense[MOST_ROWS * MOST_ROWS];
} sparse;

static sparse S; /* large: not on the stack */

static void random_pattern(rb_rng *rng, int nb, double density)
{
    static unsigned char linked[MOST_BLOCKS][MOST_BLOCKS];
    memset(linked, 0, sizeof linked);
    for (int i = 0; i < nb; i++) {
        linked[i][i] = 1;
        for (int j = 0; j < i; j++) {
            linked[i][j] = linked[j][i] = rb_rng_uniform(rng, 0.0, 1.0) < density;
        }
    }
    int used = 0;
    for (int i = 0; i < nb; i++) {
        S.ptr[i] = used;
        for (int j = 0; j < nb; j++) {
            if (linked[i][j]) S.col[used++] = j;
        }
    }
    S.ptr[nb] = used;
}

/* Unsymmetric values; heavy diagonals where no pivoting between blocks is to be safe. */
static void random_values(rb_rng *rng, int nb, int bs, double diagonal)
{
    S.nb = nb;
    S.bs = bs;
    S.n = nb * bs;
    memset(S.dense, 0, sizeof S.dense);
    for (int i = 0; i < nb; i++) {
        for (int e = S.ptr[i]; e < S.ptr[i + 1]; e++) {
            for (int k = 0; k < bs * bs; k++) {
                double v = rb_rng_uniform(rng, -1.0, 1.0);
                if (S.col[e] == i && k % (bs + 1) == 0) v += diagonal;
                S.val[e * bs * bs + k] = v;
                S.dense[(i * bs + k / bs) * S.n + S.col[e] * bs + k % bs] = v;
            }
        }
    }
}

static rb_block_lu analyse(rb_arena *arena)
{
    rb_block_lu f;
    CHECK_INT(rb_block_lu_analyse(&f, S.nb, S.bs, S.ptr, S.col, 1000000, arena), RB_OK);
    return f;
}

static int is_permutation(const int *order, int n)
{
    int seen[MOST_BLOCKS * 10] = { 0 };
    for (int k = 0; k < n; k++) {
        if (order[k] < 0 || order[k] >= n || seen[order[k]]++) return 0;
    }
    return 1;
}

TEST(agrees_with_dense_lu)
{
    static double LU[MOST_ROWS * MOST_ROWS], x[MOST_ROWS], y[MOST_ROWS], work[MOST_ROWS];
    static int perm[MOST_ROWS];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        rb_rng rng = rb_rng_make(seed);
        int nb = 1 + (int)(seed % MOST_BLOCKS);
        random_pattern(&rng, nb, rb_rng_uniform(&rng, 0.0, 0.3));
        random_values(&rng, nb, 1 + (int)(seed % 3), 12.0);
        rb_block_lu f = analyse(arena);
        CHECK(is_permutation(f.order, nb));
        for (int k = 0; k < nb; k++) CHECK_INT(f.place[f.order[k]], k);

        /* twice: a factorisation leaves nothing behind that disturbs the next */
        for (int round = 0; round < 2; round++) {
            rb_block_lu_factor(&f, S.val);
            CHECK_INT(f.perturbed, 0);
            CHECK(f.pivot_ratio > 0.0 && f.pivot_ratio <= 1.0);
            for (int i = 0; i < S.n; i++) x[i] = y[i] = rb_rng_uniform(&rng, -1.0, 1.0);
            rb_block_lu_solve(&f, x, work);
            memcpy(LU, S.dense, sizeof LU);
            CHECK_INT(rb_lu_factor(LU, S.n, perm), S.n);
            rb_lu_solve(LU, S.n, perm, y);
            for (int i = 0; i < S.n; i++) CHECK_NEAR(x[i], y[i], 1e-12);
        }
        rb_arena_free(arena);
    }
}

/* Rows that are the identity, as Newton has them for open contacts, in a pattern that is not. */
TEST(open_rows_cost_nothing_and_stay)
{
    static double x[MOST_ROWS], b[MOST_ROWS], work[MOST_ROWS];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        rb_rng rng = rb_rng_make(seed);
        random_pattern(&rng, 20, 0.2);
        random_values(&rng, 20, 3, 12.0);
        for (int i = 0; i < 20; i += 2) {
            for (int e = S.ptr[i]; e < S.ptr[i + 1]; e++) {
                for (int k = 0; k < 9; k++) {
                    double v = S.col[e] == i && k % 4 == 0 ? 1.0 : 0.0;
                    S.val[e * 9 + k] = v;
                    S.dense[(i * 3 + k / 3) * S.n + S.col[e] * 3 + k % 3] = v;
                }
            }
        }
        rb_block_lu f = analyse(arena);
        rb_block_lu_factor(&f, S.val);
        for (int i = 0; i < S.n; i++) x[i] = b[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        rb_block_lu_solve(&f, x, work);
        for (int i = 0; i < S.n; i++) {
            CHECK_NEAR(rb_dot(S.dense + i * S.n, x, S.n), b[i], 1e-12);
            if (i / 3 % 2 == 0) CHECK(x[i] == b[i]);
        }
        rb_arena_free(arena);
    }
}

/* ---- shared out ---- */

enum { GRID = 18, GRID_BLOCKS = GRID * GRID, GRID_ROWS = 6 * GRID_BLOCKS };

static int grid_pattern(int *ptr, int *col)
{
    int used = 0;
    for (int i = 0; i < GRID_BLOCKS; i++) {
        ptr[i] = used;
        for (int j = 0; j < GRID_BLOCKS; j++) {
            int dx = abs(i % GRID - j % GRID), dy = abs(i / GRID - j / GRID);
            if (dx <= 1 && dy <= 1) col[used++] = j;
        }
    }
    ptr[GRID_BLOCKS] = used;
    return used;
}

static int members;

static void run_backwards(void *ctx, void (*task)(void *work, int k), void *work)
{
    (void)ctx;
    for (int k = members - 1; k >= 0; k--) task(work, k);
}

static void solve_grid(const rb_team *team, const int *ptr, const int *col, const double *val,
                       double *x)
{
    static double work[GRID_ROWS];
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_block_lu f;
    arena->team = team;
    CHECK_INT(rb_block_lu_analyse(&f, GRID_BLOCKS, 6, ptr, col, 1000000, arena), RB_OK);
    CHECK(f.top < GRID_BLOCKS);
    rb_block_lu_factor(&f, val);
    rb_block_lu_solve(&f, x, work);
    CHECK_INT(f.perturbed, 0);
    rb_arena_free(arena);
}

/* The members of a team work backwards, one after the other. */
TEST(a_team_finds_the_same_bits)
{
    static int ptr[GRID_BLOCKS + 1], col[9 * GRID_BLOCKS];
    static double val[9 * GRID_BLOCKS * 36], b[GRID_ROWS], x[GRID_ROWS], alone[GRID_ROWS];
    rb_rng rng = rb_rng_make(7);
    int blocks = grid_pattern(ptr, col);
    for (int k = 0; k < 36 * blocks; k++) val[k] = rb_rng_uniform(&rng, -1.0, 1.0);
    for (int i = 0; i < GRID_BLOCKS; i++) {
        for (int e = ptr[i]; e < ptr[i + 1]; e++) {
            for (int k = 0; k < 6 && col[e] == i; k++) val[36 * e + 7 * k] += 40.0;
        }
    }
    for (int i = 0; i < GRID_ROWS; i++) alone[i] = b[i] = rb_rng_uniform(&rng, -1.0, 1.0);
    solve_grid(NULL, ptr, col, val, alone);
    for (int i = 0; i < GRID_BLOCKS; i++) { /* it is a solution */
        for (int r = 0; r < 6; r++) {
            double sum = 0.0;
            for (int e = ptr[i]; e < ptr[i + 1]; e++)
                for (int k = 0; k < 6; k++) sum += val[36 * e + 6 * r + k] * alone[6 * col[e] + k];
            CHECK_NEAR(sum, b[6 * i + r], 1e-12);
        }
    }
    for (members = 2; members <= 5; members++) {
        rb_team team = { members, run_backwards, NULL };
        memcpy(x, b, sizeof x);
        solve_grid(&team, ptr, col, val, x);
        CHECK_INT(memcmp(x, alone, sizeof x), 0);
    }
}

TEST(singular_diagonals_are_counted)
{
    static double x[MOST_ROWS], work[MOST_ROWS];
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_rng rng = rb_rng_make(1);
    random_pattern(&rng, 6, 0.0); /* diagonal only */
    random_values(&rng, 6, 3, 12.0);
    for (int k = 0; k < 9; k++) S.val[2 * 9 + k] = 0.0; /* block 2 is zero     */
    for (int k = 0; k < 9; k++) S.val[4 * 9 + k] = 1.0; /* block 4 has rank 1  */
    rb_block_lu f = analyse(arena);
    rb_block_lu_factor(&f, S.val);
    CHECK_INT(f.perturbed, 2);
    CHECK(f.pivot_ratio < 1e-15);
    for (int i = 0; i < 18; i++) x[i] = 0.0;
    x[0] = 1.0;
    rb_block_lu_solve(&f, x, work);
    for (int i = 0; i < 18; i++) CHECK(isfinite(x[i]));

    /* the next regular factorisation is not spoilt */
    random_values(&rng, 6, 3, 12.0);
    rb_block_lu_factor(&f, S.val);
    CHECK_INT(f.perturbed, 0);

    /* all zero: finite all the same */
    memset(S.val, 0, sizeof S.val);
    rb_block_lu_factor(&f, S.val);
    CHECK_INT(f.perturbed, 6);
    rb_arena_free(arena);
}

static void chain_pattern(int nb)
{
    int used = 0;
    for (int i = 0; i < nb; i++) {
        S.ptr[i] = used;
        for (int j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < nb) S.col[used++] = j;
        }
    }
    S.ptr[nb] = used;
    S.nb = nb;
    S.bs = 1;
    S.n = nb;
}

TEST(a_chain_has_no_fill)
{
    for (int nb = 1; nb <= MOST_BLOCKS; nb++) {
        TEST_SEED(nb);
        rb_arena *arena = rb_arena_new(NULL, 0);
        chain_pattern(nb);
        rb_block_lu f = analyse(arena);
        CHECK_INT(f.uptr[nb], nb - 1);
        CHECK_INT(f.lptr[nb], nb - 1);
        rb_arena_free(arena);
    }
}

/* A star eliminated from its rays has no fill; from its centre it would be full. */
TEST(a_star_is_eliminated_from_outside)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    int used = 0;
    for (int i = 0; i < MOST_BLOCKS; i++) {
        S.ptr[i] = used;
        for (int j = 0; j < MOST_BLOCKS; j++) {
            if (i == 0 || j == 0 || i == j) S.col[used++] = j;
        }
    }
    S.ptr[MOST_BLOCKS] = used;
    S.nb = MOST_BLOCKS;
    S.bs = 1;
    rb_block_lu f = analyse(arena);
    CHECK_INT(f.uptr[MOST_BLOCKS], MOST_BLOCKS - 1);
    rb_arena_free(arena);
}

/* Fill by plain elimination on a matrix of flags, in the order given. */
static int plain_fill(const int *order)
{
    static unsigned char linked[MOST_BLOCKS][MOST_BLOCKS];
    int place[MOST_BLOCKS], fill = 0;
    memset(linked, 0, sizeof linked);
    for (int k = 0; k < S.nb; k++) place[order[k]] = k;
    for (int i = 0; i < S.nb; i++) {
        for (int e = S.ptr[i]; e < S.ptr[i + 1]; e++) linked[place[i]][place[S.col[e]]] = 1;
    }
    for (int k = 0; k < S.nb; k++) {
        for (int i = k + 1; i < S.nb; i++) {
            for (int j = k + 1; j < S.nb; j++) linked[i][j] |= linked[i][k] && linked[k][j];
        }
    }
    for (int k = 0; k < S.nb; k++) {
        for (int j = k + 1; j < S.nb; j++) fill += linked[k][j];
    }
    return fill;
}

TEST(fill_is_what_elimination_makes)
{
    long long better = 0, natural = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        rb_rng rng = rb_rng_make(seed);
        int nb = 1 + (int)(seed % MOST_BLOCKS), plain[MOST_BLOCKS];
        random_pattern(&rng, nb, rb_rng_uniform(&rng, 0.0, 0.3));
        S.nb = nb;
        S.bs = 1;
        rb_block_lu f = analyse(arena);
        CHECK_INT(f.uptr[nb], plain_fill(f.order));
        for (int k = 0; k < nb; k++) {
            for (int u = f.uptr[k] + 1; u < f.uptr[k + 1]; u++) CHECK(f.ucol[u] > f.ucol[u - 1]);
            for (int l = f.lptr[k] + 1; l < f.lptr[k + 1]; l++) CHECK(f.lcol[l] > f.lcol[l - 1]);
            plain[k] = k;
        }
        better += f.uptr[nb];
        natural += plain_fill(plain);
        rb_arena_free(arena);
    }
    CHECK(better < natural * 8 / 10); /* minimum degree is worth its time */
}

TEST(order_is_deterministic_and_groups_twins)
{
    /* blocks 4 i .. 4 i + 3 share their neighbourhood, as four contacts of a face do */
    enum { FACES = 10, NB = 4 * FACES };
    rb_arena *arena = rb_arena_new(NULL, 0);
    int used = 0, order[NB], again[NB], place[NB];
    for (int i = 0; i < NB; i++) {
        S.ptr[i] = used;
        for (int j = 0; j < NB; j++) {
            int a = i / 4, b = j / 4;
            if (a - b <= 1 && b - a <= 1) S.col[used++] = j;
        }
    }
    S.ptr[NB] = used;
    rb_mark mark = rb_arena_mark(arena);
    CHECK_INT(rb_minimum_degree(NB, S.ptr, S.col, arena, order), RB_OK);
    CHECK(is_permutation(order, NB));
    rb_arena_reset(arena, mark);
    CHECK(rb_push(arena, char, 12345) != NULL); /* other addresses, same order */
    CHECK_INT(rb_minimum_degree(NB, S.ptr, S.col, arena, again), RB_OK);
    CHECK(memcmp(order, again, sizeof order) == 0);
    for (int k = 0; k < NB; k++) place[order[k]] = k;
    for (int i = 0; i < NB; i++) CHECK_INT(place[i], place[i / 4 * 4] + i % 4);
    rb_arena_free(arena);
}

TEST(too_much_fill_is_refused)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_block_lu f;
    chain_pattern(MOST_BLOCKS);
    size_t needed = MOST_BLOCKS - 1;
    CHECK_INT(rb_block_lu_analyse(&f, S.nb, 3, S.ptr, S.col, needed, arena), RB_OK);
    CHECK_INT(rb_block_lu_analyse(&f, S.nb, 3, S.ptr, S.col, needed - 1, arena), RB_TOO_LARGE);
    CHECK_INT(rb_block_lu_analyse(&f, S.nb, 3, S.ptr, S.col, 0, arena), RB_TOO_LARGE);
    rb_arena_free(arena);
}

TEST(every_allocation_fails_in_turn)
{
    rb_rng rng = rb_rng_make(5);
    random_pattern(&rng, MOST_BLOCKS, 0.3);
    random_values(&rng, MOST_BLOCKS, 3, 12.0);
    int failures = 0;
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_arena *arena = rb_arena_new(&alloc, 0);
        rb_block_lu f;
        rb_status status =
            arena ? rb_block_lu_analyse(&f, S.nb, 3, S.ptr, S.col, 1000000, arena) : RB_NOMEM;
        CHECK(status == RB_OK || status == RB_NOMEM);
        failures += status == RB_NOMEM;
        rb_arena_free(arena);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) {
            CHECK_INT(status, RB_OK);
            break;
        }
    }
    CHECK(failures >= 2);
}

/* The arena hides most failures of single requests; a budget of bytes reaches every push. */
TEST(every_budget_of_memory)
{
    rb_rng rng = rb_rng_make(5);
    random_pattern(&rng, MOST_BLOCKS, 0.3);
    rb_status status = RB_NOMEM;
    int failures = 0;
    for (size_t bytes = 20000; status != RB_OK; bytes += 1000) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        rb_arena *arena = rb_arena_new(&alloc, 0);
        CHECK(arena != NULL);
        rb_block_lu f;
        status = rb_block_lu_analyse(&f, MOST_BLOCKS, 3, S.ptr, S.col, 1000000, arena);
        CHECK(status == RB_OK || status == RB_NOMEM);
        failures += status == RB_NOMEM;
        rb_arena_free(arena);
        CHECK_INT(budget.memory.live, 0);
    }
    CHECK(failures > 20);
}

TEST_MAIN(RUN(agrees_with_dense_lu), RUN(open_rows_cost_nothing_and_stay),
          RUN(a_team_finds_the_same_bits), RUN(singular_diagonals_are_counted),
          RUN(a_chain_has_no_fill), RUN(a_star_is_eliminated_from_outside),
          RUN(fill_is_what_elimination_makes), RUN(order_is_deterministic_and_groups_twins),
          RUN(too_much_fill_is_refused), RUN(every_allocation_fails_in_turn),
          RUN(every_budget_of_memory))
