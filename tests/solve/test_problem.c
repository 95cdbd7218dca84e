/* rb_problem_check: each of its messages, and problems that must pass. */
#include "test.h"

#include "rattleback/solve.h"

/* A valid problem of two rows in each form, to be spoilt by one field. */
static const double dense[4] = { 2.0, 1.0, 1.0, 2.0 }, q[2] = { -1.0, 1.0 };
static const double lo[2] = { 0.0, -INFINITY }, hi[2] = { INFINITY, 1.0 }, mu[1] = { 0.5 };
static const int ptr[3] = { 0, 2, 3 }, col[3] = { 0, 1, 1 };
static const double val[3] = { 2.0, 1.0, 2.0 };
static const int start[3] = { 0, 1, 2 };
static const double minv[2] = { 1.0, 2.0 };
static const rb_operator op = { 2, ptr, col, val, 2, start, minv };

static rb_problem valid(unsigned kind, rb_form form)
{
    rb_problem p = { .kind = kind, .n = 2, .q = q };
    p.W.form = form;
    if (form == RB_DENSE) p.W.dense = dense;
    if (form == RB_BSR) p.W = (rb_matrix){ .form = RB_BSR, .bs = 1, .ptr = ptr, .col = col };
    if (form == RB_BSR) p.W.val = val;
    if (form == RB_OPERATOR) p.W.op = &op;
    if (kind == RB_BOX) {
        p.lo = lo;
        p.hi = hi;
    }
    if (kind == RB_CONE) {
        p.nc = 1;
        p.dim = 2;
        p.mu = mu;
    }
    return p;
}

/* Refused with this status and these words, with and without a place for the message. */
static void check_refused(const rb_problem *p, rb_status status, const char *words)
{
    rb_error err = { 0 };
    CHECK_INT(rb_problem_check(p, &err), status);
    CHECK_INT(err.status, status);
    CHECK_CONTAINS(err.text, words);
    CHECK_INT(rb_problem_check(p, NULL), status);

    /* and rb_solve refuses it without touching the answer */
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    double z[4] = { 7.0, 7.0, 7.0, 7.0 };
    CHECK_INT(rb_solve(p, &opts, z, &info), status);
    CHECK(z[0] == 7.0 && z[1] == 7.0);
}

TEST(valid_problems_pass)
{
    static const unsigned kinds[] = { RB_LCP, RB_BOX, RB_CONE };
    for (int k = 0; k < 3; k++) {
        for (int form = RB_DENSE; form <= RB_OPERATOR; form++) {
            rb_problem p = valid(kinds[k], (rb_form)form);
            rb_error err = { 0 };
            CHECK_INT(rb_problem_check(&p, &err), RB_OK);
            CHECK_STR(err.text, "");
        }
    }
}

TEST(sizes)
{
    rb_problem p = valid(RB_LCP, RB_DENSE);
    p.n = 0;
    check_refused(&p, RB_BAD_INPUT, "n = 0: expected at least one row");
    p.n = -5;
    check_refused(&p, RB_BAD_INPUT, "n = -5: expected at least one row");
    p.n = RB_MAX_ROWS + 1;
    check_refused(&p, RB_TOO_LARGE, "n = 200001: at most 200000 rows");
    p.n = RB_MAX_DENSE_ROWS + 1;
    check_refused(&p, RB_TOO_LARGE, "n = 20001: an LCP or a box is solved with a dense matrix");
    p = valid(RB_CONE, RB_DENSE);
    p.n = RB_MAX_DENSE_ROWS + 1;
    check_refused(&p, RB_TOO_LARGE, "20001 rows: a dense matrix has at most 20000");
}

/* The identity in blocks of three: cones of that size are solved, an LCP would be made dense. */
TEST(sparse_problems_that_would_be_made_dense)
{
    enum { BLOCKS = RB_MAX_DENSE_ROWS / 3 + 1, ROWS = 3 * BLOCKS };
    static int first[BLOCKS + 1], column[BLOCKS];
    static double block[9 * BLOCKS], push[ROWS], rough[BLOCKS], z[ROWS], top[ROWS];
    for (int b = 0; b < BLOCKS; b++) {
        first[b + 1] = b + 1;
        column[b] = b;
        rough[b] = 0.5;
        for (int i = 0; i < 3; i++) block[9 * b + 4 * i] = 1.0;
        push[3 * b] = -1.0;
    }
    rb_problem p = { .kind = RB_CONE, .n = ROWS, .q = push, .nc = BLOCKS, .dim = 3, .mu = rough };
    p.W = (rb_matrix){ .form = RB_BSR, .bs = 3, .ptr = first, .col = column, .val = block };
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    CHECK_INT(rb_solve(&p, &opts, z, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
    for (unsigned kind = RB_LCP; kind <= RB_BOX; kind++) {
        for (int i = 0; i < ROWS; i++) top[i] = INFINITY;
        p = (rb_problem){ .kind = kind, .n = ROWS, .q = push, .W = p.W, .lo = z, .hi = top };
        check_refused(&p, RB_TOO_LARGE, "solved with a dense matrix of at most 20000 rows");
        CHECK_INT(rb_solve(&p, &opts, z, &info), RB_TOO_LARGE);
    }
}

TEST(kinds)
{
    static const unsigned bad[] = { 0, 3, 5, 8, 255 };
    for (int k = 0; k < 5; k++) {
        rb_problem p = valid(RB_LCP, RB_DENSE);
        p.kind = bad[k];
        check_refused(&p, RB_BAD_INPUT, "expected RB_LCP, RB_BOX or RB_CONE");
    }
}

TEST(numbers_of_a_dense_problem)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int k = 0; k < 3; k++) {
        double W[4] = { 1.0, 2.0, bad[k], 1.0 }, v[2] = { 1.0, bad[k] };
        rb_problem p = valid(RB_LCP, RB_DENSE);
        p.W.dense = W;
        check_refused(&p, RB_BAD_INPUT, "W: stored value 2 is not a finite number");
        p.W.dense = dense;
        p.q = v;
        check_refused(&p, RB_BAD_INPUT, "q[1] is not a finite number");
    }

    /* large but finite is fine, and so are their differences */
    double large[2] = { 1.7e308, -1.7e308 };
    rb_problem p = valid(RB_LCP, RB_DENSE);
    p.q = large;
    CHECK_INT(rb_problem_check(&p, NULL), RB_OK);

    p.q = NULL;
    check_refused(&p, RB_BAD_INPUT, "q is missing: expected 2 numbers");
    p.q = q;
    p.W.dense = NULL;
    check_refused(&p, RB_BAD_INPUT, "W: the values are missing");
}

TEST(block_sparse)
{
    rb_problem p = valid(RB_LCP, RB_BSR);
    p.W.form = (rb_form)9;
    check_refused(&p, RB_BAD_INPUT, "W: expected a dense, block sparse or operator form");
    static const int bad_bs[] = { 0, -1, 3, 4 };
    for (int k = 0; k < 4; k++) {
        p = valid(RB_LCP, RB_BSR);
        p.W.bs = bad_bs[k];
        check_refused(&p, RB_BAD_INPUT, "W: expected a dense, block sparse or operator form");
    }
    p = valid(RB_LCP, RB_BSR);
    p.W.ptr = NULL;
    check_refused(&p, RB_BAD_INPUT, "W: row pointers or columns are missing");
    p = valid(RB_LCP, RB_BSR);
    p.W.col = NULL;
    check_refused(&p, RB_BAD_INPUT, "W: row pointers or columns are missing");
    p = valid(RB_LCP, RB_BSR);
    p.W.val = NULL;
    check_refused(&p, RB_BAD_INPUT, "W: the values are missing");

    static const int offset[3] = { 1, 2, 3 }, down[3] = { 0, 2, 1 };
    p = valid(RB_LCP, RB_BSR);
    p.W.ptr = offset;
    check_refused(&p, RB_BAD_INPUT, "W: row pointers or columns are missing");
    p.W.ptr = down;
    check_refused(&p, RB_BAD_INPUT, "W: row pointers descend at row 1");

    static const int cols[4][3] = { { 0, 2, 1 }, { -1, 1, 1 }, { 1, 0, 1 }, { 1, 1, 1 } };
    static const char *const words[4] = { "W: column 2 in row 0", "W: column -1 in row 0",
                                          "W: column 0 in row 0", "W: column 1 in row 0" };
    for (int k = 0; k < 4; k++) {
        p = valid(RB_LCP, RB_BSR);
        p.W.col = cols[k];
        check_refused(&p, RB_BAD_INPUT, words[k]);
    }
    static const double poisoned[3] = { 1.0, 1.0, NAN };
    p = valid(RB_LCP, RB_BSR);
    p.W.val = poisoned;
    check_refused(&p, RB_BAD_INPUT, "W: stored value 2 is not a finite number");
}

/* The square of a block size near the limit does not fit an int; no block is stored. */
TEST(one_huge_empty_block)
{
    enum { N = 100000 };
    static double zero[N];
    static const int none[2] = { 0, 0 }, no_col[1] = { 0 };
    static const double no_val[1] = { 0.0 };
    rb_problem p = { .kind = RB_CONE, .n = N, .q = zero, .nc = N / 2, .dim = 2, .mu = zero };
    p.W = (rb_matrix){ .form = RB_BSR, .bs = N, .ptr = none, .col = no_col, .val = no_val };
    CHECK_INT(rb_problem_check(&p, NULL), RB_OK);
}

TEST(operator_form)
{
    const char *dofs = "operator: expected 1 to 200000 degrees of freedom in blocks";
    rb_problem p = valid(RB_LCP, RB_OPERATOR);
    rb_operator o = op;
    p.W.op = NULL;
    check_refused(&p, RB_BAD_INPUT, dofs);
    p.W.op = &o;
    o.m = 0;
    check_refused(&p, RB_BAD_INPUT, dofs);
    o.m = RB_MAX_ROWS + 1;
    check_refused(&p, RB_BAD_INPUT, dofs);
    o = op;
    o.nblock = 0;
    check_refused(&p, RB_BAD_INPUT, dofs);
    o = op;
    o.start = NULL;
    check_refused(&p, RB_BAD_INPUT, dofs);

    static const int down[3] = { 0, 2, 1 }, outside[3] = { 0, 2, 1 };
    o = op;
    o.jptr = NULL;
    check_refused(&p, RB_BAD_INPUT, "operator J: row pointers or columns are missing");
    o = op;
    o.jptr = down;
    check_refused(&p, RB_BAD_INPUT, "operator J: row pointers descend at row 1");
    o = op;
    o.jcol = outside;
    check_refused(&p, RB_BAD_INPUT, "operator J: column 2 in row 0: expected ascending columns");
    o = op;
    o.jval = NULL;
    check_refused(&p, RB_BAD_INPUT, "operator J: the values are missing");
    static const double poisoned[3] = { 1.0, INFINITY, 1.0 };
    o = op;
    o.jval = poisoned;
    check_refused(&p, RB_BAD_INPUT, "operator J: stored value 1 is not a finite number");
}

TEST(operator_blocks)
{
    rb_problem p = valid(RB_LCP, RB_OPERATOR);
    rb_operator o = op;
    p.W.op = &o;
    static const int empty[3] = { 0, 0, 2 }, backwards[3] = { 0, 2, 1 }, gap[3] = { 1, 2, 3 };
    static const int more[3] = { 0, 1, 3 };
    o.start = empty;
    check_refused(&p, RB_BAD_INPUT, "operator: block 0 of Minv is empty");
    o.start = backwards;
    check_refused(&p, RB_BAD_INPUT, "operator: block 1 of Minv is empty");
    o.start = gap;
    check_refused(&p, RB_BAD_INPUT, "operator: the blocks of Minv do not cover 2 dofs");
    o.start = more;
    check_refused(&p, RB_BAD_INPUT, "operator: the blocks of Minv do not cover 2 dofs");
    o = op;
    o.minv = NULL;
    check_refused(&p, RB_BAD_INPUT, "operator Minv: the values are missing");
    static const double poisoned[2] = { NAN, 1.0 };
    o.minv = poisoned;
    check_refused(&p, RB_BAD_INPUT, "operator Minv: stored value 0 is not a finite number");
}

TEST(bounds)
{
    static const struct {
        double lo, hi;
        int ok;
    } cases[] = { { 0.0, 1.0, 1 },       { 1.0, 1.0, 1 },           { -INFINITY, INFINITY, 1 },
                  { -INFINITY, 3.0, 1 }, { 1.0, 0.0, 0 },           { NAN, 1.0, 0 },
                  { 0.0, NAN, 0 },       { INFINITY, INFINITY, 0 }, { -INFINITY, -INFINITY, 0 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double low[2] = { 0.0, cases[k].lo }, high[2] = { 1.0, cases[k].hi };
        rb_problem p = valid(RB_BOX, RB_DENSE);
        p.lo = low;
        p.hi = high;
        if (cases[k].ok)
            CHECK_INT(rb_problem_check(&p, NULL), RB_OK);
        else
            check_refused(&p, RB_BAD_INPUT, "expected lo <= hi");
    }
    rb_problem p = valid(RB_BOX, RB_DENSE);
    p.lo = NULL;
    check_refused(&p, RB_BAD_INPUT, "lo or hi is missing");
    p = valid(RB_BOX, RB_DENSE);
    p.hi = NULL;
    check_refused(&p, RB_BAD_INPUT, "lo or hi is missing");
    double low[2] = { 2.0, 0.0 }, high[2] = { 1.0, 1.0 };
    p = valid(RB_BOX, RB_DENSE);
    p.lo = low;
    p.hi = high;
    check_refused(&p, RB_BAD_INPUT, "lo[0] = 2, hi[0] = 1");
}

TEST(cones)
{
    static const int dims[] = { 0, 1, 4, -3 };
    for (int k = 0; k < 4; k++) {
        rb_problem p = valid(RB_CONE, RB_DENSE);
        p.dim = dims[k];
        check_refused(&p, RB_BAD_INPUT, ": expected 2 or 3");
    }
    rb_problem p = valid(RB_CONE, RB_DENSE);
    p.nc = 2;
    check_refused(&p, RB_BAD_INPUT, "2 rows: expected 2 per contact, 2 contacts");
    p.nc = 0;
    check_refused(&p, RB_BAD_INPUT, "2 rows: expected 2 per contact, 0 contacts");
    p = valid(RB_CONE, RB_DENSE);
    p.dim = 3;
    check_refused(&p, RB_BAD_INPUT, "2 rows: expected 3 per contact, 1 contacts");
    p = valid(RB_CONE, RB_DENSE);
    p.mu = NULL;
    check_refused(&p, RB_BAD_INPUT, "mu is missing: expected 1 numbers");

    static const double coefficients[] = { NAN, INFINITY, -0.1 };
    static const char *const words[] = { "mu[0] is not a finite number",
                                         "mu[0] is not a finite number",
                                         "mu[0] = -0.1: expected a number >= 0" };
    for (int k = 0; k < 3; k++) {
        p = valid(RB_CONE, RB_DENSE);
        p.mu = coefficients + k;
        check_refused(&p, RB_BAD_INPUT, words[k]);
    }
}

/* y = W x by hand in the three forms; the operator is J Minv J' = [[6, 4], [4, 8]]. */
TEST(apply_by_hand)
{
    const double x[2] = { 1.0, 10.0 };
    double y[2];
    rb_problem p = valid(RB_LCP, RB_DENSE);
    CHECK_INT(rb_problem_apply(&p, x, NULL, y), RB_OK);
    CHECK(y[0] == 12.0 && y[1] == 21.0);
    p = valid(RB_LCP, RB_BSR);
    CHECK_INT(rb_problem_apply(&p, x, NULL, y), RB_OK);
    CHECK(y[0] == 12.0 && y[1] == 20.0);
    p = valid(RB_LCP, RB_OPERATOR);
    CHECK_INT(rb_problem_apply(&p, x, NULL, y), RB_OK);
    CHECK(y[0] == 46.0 && y[1] == 84.0);

    /* scratch of the caller, and none to be had */
    test_memory memory = { 0 };
    rb_alloc alloc = test_alloc(&memory);
    rb_arena *arena = rb_arena_new(&alloc, 0);
    CHECK_INT(rb_problem_apply(&p, x, arena, y), RB_OK);
    CHECK(y[0] == 46.0 && y[1] == 84.0);
    rb_arena_free(arena);
    CHECK_INT(memory.live, 0);
}

TEST_MAIN(RUN(valid_problems_pass), RUN(sizes), RUN(sparse_problems_that_would_be_made_dense),
          RUN(kinds), RUN(numbers_of_a_dense_problem), RUN(block_sparse), RUN(one_huge_empty_block),
          RUN(operator_form), RUN(operator_blocks), RUN(bounds), RUN(cones), RUN(apply_by_hand))
