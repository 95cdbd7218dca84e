/* W in its three forms: products, conversions, patterns and islands agree. */
#include "test.h"

#include "memory_budget.h"
#include "solve/matrix.h"

enum { MOST = 48 };

/* One random W = J Minv J' in all forms: n rows in blocks that share few bodies. */
typedef struct forms {
    int n, nbody;
    int jptr[MOST + 1], jcol[MOST * 6], start[20];
    double jval[MOST * 6], minv[20 * 9];
    double dense[MOST * MOST];
    rb_operator op;
    rb_matrix as_operator, as_dense;
} forms;

static forms F;

/* Minv of a body is a full, not even symmetric, block of 1 to 3 dofs: more than masses need. */
static void make_bodies(rb_rng *rng, int nbody)
{
    int entries = 0;
    F.nbody = nbody;
    F.start[0] = 0;
    for (int b = 0; b < nbody; b++) {
        int k = 1 + (int)(rb_rng_next(rng) % 3);
        F.start[b + 1] = F.start[b] + k;
        for (int e = 0; e < k * k; e++) F.minv[entries++] = rb_rng_uniform(rng, -1.0, 1.0);
    }
}

/* Each group of `group` rows touches one or two bodies. */
static void make_rows(rb_rng *rng, int n, int group)
{
    int used = 0, a = 0, b = 0;
    F.n = n;
    for (int i = 0; i < n; i++) {
        if (i % group == 0) {
            a = (int)(rb_rng_next(rng) % (unsigned)F.nbody);
            b = (int)(rb_rng_next(rng) % (unsigned)F.nbody);
        }
        F.jptr[i] = used;
        int first = a < b ? a : b, second = a < b ? b : a;
        for (int d = F.start[first]; d < F.start[first + 1]; d++) F.jcol[used++] = d;
        for (int d = F.start[second]; second != first && d < F.start[second + 1]; d++) {
            F.jcol[used++] = d;
        }
        for (int e = F.jptr[i]; e < used; e++) F.jval[e] = rb_rng_uniform(rng, -1.0, 1.0);
    }
    F.jptr[n] = used;
    F.op = (rb_operator){ F.start[F.nbody], F.jptr, F.jcol, F.jval, F.nbody, F.start, F.minv };
    F.as_operator = (rb_matrix){ .form = RB_OPERATOR, .op = &F.op };
}

static double minv_entry(int r, int c)
{
    int at = 0;
    for (int b = 0; b < F.nbody; b++) {
        int k = F.start[b + 1] - F.start[b];
        int inside = r >= F.start[b] && r < F.start[b + 1] && c >= F.start[b] && c < F.start[b + 1];
        if (inside) return F.minv[at + (r - F.start[b]) * k + c - F.start[b]];
        at += k * k;
    }
    return 0.0;
}

/* The triple product by its definition. */
static void make_dense(void)
{
    for (int i = 0; i < F.n; i++) {
        for (int j = 0; j < F.n; j++) {
            double sum = 0.0;
            for (int a = F.jptr[i]; a < F.jptr[i + 1]; a++) {
                for (int b = F.jptr[j]; b < F.jptr[j + 1]; b++) {
                    sum += F.jval[a] * minv_entry(F.jcol[a], F.jcol[b]) * F.jval[b];
                }
            }
            F.dense[i * F.n + j] = sum;
        }
    }
    F.as_dense = (rb_matrix){ .form = RB_DENSE, .dense = F.dense };
}

/* n is a multiple of 12, so that blocks of 1, 2, 3, 4 and 6 all fit. */
static void make_forms(uint64_t seed)
{
    rb_rng rng = rb_rng_make(seed);
    make_bodies(&rng, 2 + (int)(seed % 12));
    make_rows(&rng, 12 * (1 + (int)(seed % 4)), 3);
    make_dense();
}

static const int block_sizes[] = { 1, 2, 3, 4, 6 };

static void check_same_product(const rb_matrix *W, const double *x, const double *plain,
                               rb_arena *arena)
{
    double y[MOST];
    CHECK_INT(rb_matrix_apply(W, F.n, x, arena, y), RB_OK);
    for (int i = 0; i < F.n; i++) CHECK_NEAR(y[i], plain[i], 1e-12);
}

TEST(all_forms_apply_alike)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        make_forms(seed);
        rb_rng rng = rb_rng_make(seed);
        double x[MOST], plain[MOST] = { 0.0 };
        for (int i = 0; i < F.n; i++) x[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        for (int i = 0; i < F.n; i++) {
            for (int j = 0; j < F.n; j++) plain[i] += F.dense[i * F.n + j] * x[j];
        }
        check_same_product(&F.as_dense, x, plain, arena);
        check_same_product(&F.as_operator, x, plain, arena);
        for (int b = 0; b < 5; b++) {
            rb_matrix bsr;
            CHECK_INT(rb_matrix_to_bsr(&F.as_operator, F.n, block_sizes[b], arena, &bsr), RB_OK);
            check_same_product(&bsr, x, plain, arena);
        }
        rb_arena_free(arena);
    }
}

static void check_same_dense(const rb_matrix *W, double tol, rb_arena *arena)
{
    static double A[MOST * MOST];
    for (int i = 0; i < F.n * F.n; i++) A[i] = NAN; /* everything is written */
    CHECK_INT(rb_matrix_to_dense(W, F.n, arena, A), RB_OK);
    for (int i = 0; i < F.n * F.n; i++) CHECK_NEAR(A[i], F.dense[i], tol);
    const double *view = rb_matrix_dense(W, F.n, arena);
    CHECK(view != NULL);
    CHECK(memcmp(view, A, (size_t)(F.n * F.n) * sizeof *A) == 0);
}

TEST(all_forms_become_the_same_dense_matrix)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        make_forms(seed);
        check_same_dense(&F.as_dense, 0.0, arena);
        check_same_dense(&F.as_operator, 1e-13, arena);
        CHECK(rb_matrix_dense(&F.as_dense, F.n, arena) == F.dense); /* no copy */
        for (int b = 0; b < 5; b++) {
            rb_matrix one, other;
            CHECK_INT(rb_matrix_to_bsr(&F.as_dense, F.n, block_sizes[b], arena, &one), RB_OK);
            check_same_dense(&one, 0.0, arena);

            /* from blocks of one size to blocks of another, through no rounding */
            for (int c = 0; c < 5; c++) {
                CHECK_INT(rb_matrix_to_bsr(&one, F.n, block_sizes[c], arena, &other), RB_OK);
                check_same_dense(&other, 0.0, arena);
            }
        }
        rb_arena_free(arena);
    }
}

static int has_block(const rb_matrix *W, int i, int j)
{
    for (int e = W->ptr[i]; e < W->ptr[i + 1]; e++) {
        if (W->col[e] == j) return 1;
    }
    return 0;
}

/* Symmetric, ascending, with every diagonal, and no larger than the couplings ask for. */
static void check_pattern(const rb_matrix *W, int nb)
{
    CHECK_INT(W->ptr[0], 0);
    for (int i = 0; i < nb; i++) {
        CHECK(has_block(W, i, i));
        for (int e = W->ptr[i]; e < W->ptr[i + 1]; e++) {
            CHECK(e == W->ptr[i] || W->col[e] > W->col[e - 1]);
            CHECK(has_block(W, W->col[e], i));
        }
    }
}

TEST(patterns_are_symmetric_with_diagonal)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        make_forms(seed);
        for (int b = 0; b < 5; b++) {
            int bs = block_sizes[b], nb = F.n / bs;
            rb_matrix from_dense, from_operator;
            CHECK_INT(rb_matrix_to_bsr(&F.as_dense, F.n, bs, arena, &from_dense), RB_OK);
            CHECK_INT(rb_matrix_to_bsr(&F.as_operator, F.n, bs, arena, &from_operator), RB_OK);
            check_pattern(&from_dense, nb);
            check_pattern(&from_operator, nb);
            for (int i = 0; i < nb; i++) {
                for (int e = from_dense.ptr[i]; e < from_dense.ptr[i + 1]; e++) {
                    CHECK(has_block(&from_operator, i, from_dense.col[e]));
                }
            }
        }
        rb_arena_free(arena);
    }
}

/* One sided and empty: [[0, 5], [0, 0]] gets its mirror and its diagonal as zeros. */
TEST(one_sided_coupling_is_mirrored)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    const double A[4] = { 0.0, 5.0, 0.0, 0.0 };
    const int ptr[3] = { 0, 1, 1 }, col[1] = { 1 };
    const double val[1] = { 5.0 };
    const rb_matrix W[2] = { { .form = RB_DENSE, .dense = A },
                             { .form = RB_BSR, .bs = 1, .ptr = ptr, .col = col, .val = val } };
    for (int k = 0; k < 2; k++) {
        rb_matrix out;
        CHECK_INT(rb_matrix_to_bsr(&W[k], 2, 1, arena, &out), RB_OK);
        check_pattern(&out, 2);
        CHECK_INT(out.ptr[2], 4);
        CHECK(out.val[0] == 0.0 && out.val[1] == 5.0 && out.val[2] == 0.0 && out.val[3] == 0.0);
        int label[2];
        CHECK_INT(rb_matrix_islands(&W[k], 2, 1, arena, label), 1);
    }
    rb_arena_free(arena);
}

/* Spreads the smallest label through the couplings until nothing changes. */
static int plain_islands(int bs, int *label)
{
    int nb = F.n / bs, changed = 1, count = 0;
    for (int i = 0; i < nb; i++) label[i] = i;
    while (changed) {
        changed = 0;
        for (int i = 0; i < F.n * F.n; i++) {
            int a = i / F.n / bs, b = i % F.n / bs;
            if (F.dense[i] == 0.0 || label[a] == label[b]) continue;
            label[a] = label[b] = label[a] < label[b] ? label[a] : label[b];
            changed = 1;
        }
    }
    for (int i = 0; i < nb; i++) {
        if (label[i] == i) count++;
    }

    /* numbered in order of first appearance */
    int names[MOST], known = 0;
    for (int i = 0; i < nb; i++) {
        int k = 0;
        while (k < known && names[k] != label[i]) k++;
        if (k == known) names[known++] = label[i];
        label[i] = k;
    }
    return count;
}

TEST(islands_by_a_second_method)
{
    int most = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_arena *arena = rb_arena_new(NULL, 0);
        make_forms(seed);
        for (int b = 0; b < 5; b++) {
            int bs = block_sizes[b], plain[MOST], label[MOST];
            int count = plain_islands(bs, plain);
            rb_matrix bsr;
            CHECK_INT(rb_matrix_to_bsr(&F.as_dense, F.n, bs, arena, &bsr), RB_OK);
            const rb_matrix *W[3] = { &F.as_dense, &F.as_operator, &bsr };
            for (int k = 0; k < 3; k++) {
                CHECK_INT(rb_matrix_islands(W[k], F.n, bs, arena, label), count);
                CHECK(memcmp(label, plain, (size_t)(F.n / bs) * sizeof *label) == 0);
            }
            most = count > most ? count : most;
        }
        rb_arena_free(arena);
    }
    CHECK(most >= 4);
}

typedef rb_status use_memory(rb_arena *arena);

static rb_status use_apply(rb_arena *arena)
{
    double x[MOST] = { 1.0 }, y[MOST];
    return rb_matrix_apply(&F.as_operator, F.n, x, arena, y);
}

static rb_status use_bsr(rb_arena *arena)
{
    rb_matrix out;
    return rb_matrix_to_bsr(&F.as_operator, F.n, 3, arena, &out);
}

static rb_status use_dense(rb_arena *arena)
{
    return rb_matrix_dense(&F.as_operator, F.n, arena) ? RB_OK : RB_NOMEM;
}

static rb_status use_islands(rb_arena *arena)
{
    int label[MOST];
    return rb_matrix_islands(&F.as_operator, F.n, 3, arena, label) > 0 ? RB_OK : RB_NOMEM;
}

static rb_status with_budget(use_memory *use, size_t bytes)
{
    test_budget budget = { .left = bytes };
    rb_alloc alloc = test_budget_alloc(&budget);
    rb_arena *arena = rb_arena_new(&alloc, 0);
    if (!arena) return RB_NOMEM;

    /* the first block would hide every push */
    CHECK(rb_push(arena, char, rb_arena_bytes(arena)) != NULL);
    rb_status status = use(arena);
    rb_arena_free(arena);
    CHECK_INT(budget.memory.live, 0);
    return status;
}

TEST(out_of_memory_is_said)
{
    use_memory *const all[] = { use_apply, use_bsr, use_dense, use_islands };
    make_forms(11);
    for (int k = 0; k < 4; k++) {
        TEST_SEED(k);
        int refused = 0;
        rb_status status = RB_NOMEM;
        for (size_t bytes = 16384; status != RB_OK; bytes += 128, refused++) {
            status = with_budget(all[k], bytes);
            CHECK(status == RB_OK || status == RB_NOMEM);
            CHECK(bytes < 1 << 20);
        }
        CHECK(refused > 3);
    }
}

TEST_MAIN(RUN(all_forms_apply_alike), RUN(all_forms_become_the_same_dense_matrix),
          RUN(patterns_are_symmetric_with_diagonal), RUN(one_sided_coupling_is_mirrored),
          RUN(islands_by_a_second_method), RUN(out_of_memory_is_said))
