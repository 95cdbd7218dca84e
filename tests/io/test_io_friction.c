/* The reader and the writer of friction files: local and global problems against arithmetic done
 * here, every sentence of refusal, memory failures, round trips. */
#include "io_support.h"

#define LOCAL1  "\"W\":[[1,0,0],[0,1,0],[0,0,1]],\"q\":[-1,0,0]"
#define GLOBAL1 "\"M\":[[2]],\"H\":[[1,0]],\"f\":[-4],\"w\":[0,0],\"mu\":[0.5]"

/* ---- local -------------------------------------------------------------------------------------
 */

TEST(reads_a_local_problem)
{
    rb_problem_entry *e =
        parse(RB_FORMAT_FRICTION,
              "{\"name\":\"a\",\"kind\":\"local\",\"dim\":2,\"nc\":2,\"mu\":[0.5,0],"
              "\"q\":[-1,2,3,4],\"W\":{\"rows\":4,\"cols\":4,\"i\":[3,0,1,3,0],"
              "\"j\":[2,0,3,2,1],\"v\":[1,2,3,0.5,7]},\"baseline\":{}}");
    const rb_problem *p = &e->problem;
    CHECK_INT(p->kind, RB_CONE);
    CHECK_INT(p->n, 4);
    CHECK_INT(p->nc, 2);
    CHECK_INT(p->dim, 2);
    check_same_bits(p->mu, (double[]){ 0.5, 0 }, 2);
    check_same_bits(p->q, (double[]){ -1, 2, 3, 4 }, 4);
    CHECK_INT(p->W.form, RB_BSR);
    CHECK_INT(p->W.bs, 2);
    const int ptr[] = { 0, 2, 3 }, col[] = { 0, 1, 1 };
    CHECK(memcmp(p->W.ptr, ptr, sizeof ptr) == 0);
    CHECK(memcmp(p->W.col, col, sizeof col) == 0);
    check_same_bits(p->W.val, (double[]){ 2, 7, 0, 0, 0, 0, 0, 3, 0, 0, 1.5, 0 }, 12);
    rb_problem_entry_free(e);
}

TEST(dimension_counts_and_kind_may_be_left_out)
{
    rb_problem_entry *e = parse(RB_FORMAT_FRICTION, "{" LOCAL1 ",\"mu\":0.25}");
    CHECK_INT(e->problem.dim, 3);
    CHECK_INT(e->problem.nc, 1);
    check_same_bits(e->problem.mu, (double[]){ 0.25 }, 1);
    rb_problem_entry_free(e);
}

/* ---- global ------------------------------------------------------------------------------------
 */

/* Solves A x = b by elimination with row exchanges; A and b are destroyed. Written here so that the
 * reader's inverse has something to differ from. */
static void solve_here(double *A, double *b, int m)
{
    for (int c = 0; c < m; c++) {
        int best = c;
        for (int i = c + 1; i < m; i++)
            if (fabs(A[i * m + c]) > fabs(A[best * m + c])) best = i;
        for (int j = 0; j < m; j++) {
            double held = A[c * m + j];
            A[c * m + j] = A[best * m + j];
            A[best * m + j] = held;
        }
        double held = b[c];
        b[c] = b[best];
        b[best] = held;
        for (int i = 0; i < m; i++) {
            if (i == c) continue;
            double factor = A[i * m + c] / A[c * m + c];
            for (int j = c; j < m; j++) A[i * m + j] -= factor * A[c * m + j];
            b[i] -= factor * b[c];
        }
    }
    for (int i = 0; i < m; i++) b[i] /= A[i * m + i];
}

enum { DOFS = 6, ROWS = 4 };

/* Dofs (0, 3, 5) and (1, 4) are coupled and lie apart, 2 is alone. */
typedef struct sample {
    double M[DOFS * DOFS], H[DOFS * ROWS], f[DOFS], w[ROWS];
} sample;

static sample make_sample(uint64_t seed, int symmetric)
{
    static const int group[DOFS] = { 0, 1, 2, 0, 1, 0 };
    rb_rng rng = rb_rng_make(seed);
    sample s = { 0 };
    for (int i = 0; i < DOFS; i++) {
        for (int j = 0; j < DOFS; j++)
            if (group[i] == group[j]) s.M[i * DOFS + j] = rb_rng_uniform(&rng, -1.0, 1.0);
        s.M[i * DOFS + i] += 4.0;
        for (int k = 0; k < ROWS; k++) s.H[i * ROWS + k] = rb_rng_normal(&rng);
        s.f[i] = rb_rng_normal(&rng);
    }
    for (int i = 0; i < DOFS && symmetric; i++)
        for (int j = 0; j < i; j++) s.M[i * DOFS + j] = s.M[j * DOFS + i];
    for (int k = 0; k < ROWS; k++) s.w[k] = rb_rng_normal(&rng);
    return s;
}

static int put_array(char *out, const char *key, const double *x, int count)
{
    int at = sprintf(out, ",\"%s\":", key);
    for (int k = 0; k < count; k++) at += sprintf(out + at, "%c%.17g", k ? ',' : '[', x[k]);
    return at + sprintf(out + at, "]");
}

/* As triplets in a scrambled order, one of them given in two parts. */
static int put_matrix(char *out, const char *key, const double *A, int rows, int cols)
{
    char i[2048] = "", j[2048] = "", v[4096] = "";
    for (int k = 0; k < rows * cols; k++) {
        int e = k * 7 % (rows * cols); /* 7 divides neither 24 nor 36 */
        if (A[e] == 0.0) continue;
        int parts = e == 0 ? 2 : 1;
        for (int part = 0; part < parts; part++) {
            sprintf(i + strlen(i), "%s%d", *i ? "," : "", e / cols);
            sprintf(j + strlen(j), "%s%d", *j ? "," : "", e % cols);
            sprintf(v + strlen(v), "%s%.17g", *v ? "," : "", A[e] / parts);
        }
    }
    return sprintf(out, ",\"%s\":{\"rows\":%d,\"cols\":%d,\"i\":[%s],\"j\":[%s],\"v\":[%s]}", key,
                   rows, cols, i, j, v);
}

static rb_problem_entry *parse_sample(const sample *s)
{
    char text[16384];
    int at = sprintf(text, "{\"kind\":\"global\",\"dim\":2,\"mu\":0.3");
    at += put_matrix(text + at, "M", s->M, DOFS, DOFS);
    at += put_matrix(text + at, "H", s->H, DOFS, ROWS);
    at += put_array(text + at, "f", s->f, DOFS);
    at += put_array(text + at, "w", s->w, ROWS);
    sprintf(text + at, "}");
    return parse(RB_FORMAT_FRICTION, text);
}

/* H' M^-1 b for a vector b. */
static void condense(const sample *s, const double *b, double *out)
{
    double M[DOFS * DOFS], x[DOFS];
    memcpy(M, s->M, sizeof M);
    memcpy(x, b, sizeof x);
    solve_here(M, x, DOFS);
    for (int k = 0; k < ROWS; k++) {
        out[k] = 0.0;
        for (int i = 0; i < DOFS; i++) out[k] += s->H[i * ROWS + k] * x[i];
    }
}

TEST(a_global_problem_is_condensed)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        sample s = make_sample(seed, seed % 2 == 0);
        rb_problem_entry *e = parse_sample(&s);
        CHECK_INT(e->problem.W.form, RB_OPERATOR);
        CHECK_INT(e->problem.W.op->nblock, 3);
        CHECK_INT(e->problem.W.op->m, DOFS);

        double shift[ROWS];
        condense(&s, s.f, shift);
        for (int k = 0; k < ROWS; k++) CHECK_NEAR(e->problem.q[k], s.w[k] + shift[k], 1e-13);
        for (int c = 0; c < ROWS; c++) {
            double unit[ROWS] = { 0 }, H_c[DOFS], wanted[ROWS], got[ROWS];
            unit[c] = 1.0;
            for (int i = 0; i < DOFS; i++) H_c[i] = s.H[i * ROWS + c];
            condense(&s, H_c, wanted);
            CHECK_INT(rb_problem_apply(&e->problem, unit, NULL, got), RB_OK);
            for (int k = 0; k < ROWS; k++) CHECK_NEAR(got[k], wanted[k], 1e-13);
        }
        rb_problem_entry_free(e);
    }
}

TEST(a_symmetric_mass_has_a_symmetric_inverse)
{
    sample s = make_sample(3, 1);
    rb_problem_entry *e = parse_sample(&s);
    const double *minv = e->problem.W.op->minv; /* first block: dofs 0, 3, 5 */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) CHECK(minv[i * 3 + j] == minv[j * 3 + i]);
    rb_problem_entry_free(e);
}

TEST(the_units_of_a_dof_do_not_make_it_singular)
{
    /* a kilogram of mass and the inertia of a grain of sand in one coupled block */
    rb_problem_entry *e =
        parse(RB_FORMAT_FRICTION, "{\"dim\":2,\"mu\":0,\"M\":[[1e3,1e-9],[1e-9,1e-17]],"
                                  "\"H\":[[1,0],[0,1]],\"f\":[0,0],\"w\":[0,0]}");
    /* det = 1e-14 - 1e-18 */
    CHECK_NEAR(e->problem.W.op->minv[3] * 1e-17, 1.0 / (1.0 - 1e-4), 1e-12);
    rb_problem_entry_free(e);
}

TEST(a_large_coupled_mass_is_inverted)
{
    /* tridiagonal, 2 on the diagonal and -1 beside it: (A^-1)_ij = (i+1)(m-j)/(m+1) for i <= j */
    enum { M = 120 };
    char *text = malloc(1 << 16);
    CHECK(text != NULL);
    int at = sprintf(text, "{\"dim\":2,\"mu\":1,\"w\":[0,0],\"M\":[");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            at += sprintf(text + at, "%s%d%s",
                          j   ? ","
                          : i ? ",["
                              : "[",
                          i == j            ? 2
                          : abs(i - j) == 1 ? -1
                                            : 0,
                          j == M - 1 ? "]" : "");
    at += sprintf(text + at, "],\"f\":[");
    for (int i = 0; i < M; i++) at += sprintf(text + at, "%s0", i ? "," : "");
    sprintf(text + at, "],\"H\":{\"rows\":%d,\"cols\":2,\"i\":[0],\"j\":[0],\"v\":[1]}}", M);
    rb_problem_entry *e = parse(RB_FORMAT_FRICTION, text);
    free(text);
    CHECK_INT(e->problem.W.op->nblock, 1);
    for (int i = 0; i < M; i++)
        for (int j = i; j < M; j++)
            CHECK_NEAR(e->problem.W.op->minv[i * M + j], (i + 1.0) * (M - j) / (M + 1.0), 1e-11);
    rb_problem_entry_free(e);
}

/* ---- refused -----------------------------------------------------------------------------------
 */

TEST(wrong_contacts_are_refused)
{
    static const bad_line lines[] = {
        { "{}", RB_BAD_INPUT, "W: missing; expected W, q, mu or M, H, f, w, mu" },
        { "{\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "rattleback lcp" },
        { "{\"kind\":\"both\"," LOCAL1 ",\"mu\":0}", RB_BAD_INPUT,
          "kind: expected \"local\" or \"global\"" },
        { "{\"kind\":1," LOCAL1 ",\"mu\":0}", RB_BAD_INPUT, "kind: a number; expected a string" },
        { "{\"name\":[]," LOCAL1 ",\"mu\":0}", RB_BAD_INPUT, "name: an array; expected a string" },
        { "{" LOCAL1 "}", RB_BAD_INPUT, "mu: missing; expected an array of numbers" },
        { "{" LOCAL1 ",\"mu\":-0.5}", RB_BAD_INPUT,
          "mu: contact 0 has -0.5; expected a friction coefficient >= 0" },
        { "{" LOCAL1 ",\"mu\":[-1e-300]}", RB_BAD_INPUT, "mu: contact 0 has" },
        { "{" LOCAL1 ",\"mu\":[1,1]}", RB_BAD_INPUT, "mu: 2 numbers; expected 1, one per contact" },
        { "{" LOCAL1 ",\"mu\":[\"1\"]}", RB_BAD_INPUT, "mu[0]: a string; expected a number" },
        { "{" LOCAL1 ",\"mu\":null}", RB_BAD_INPUT, "mu: null; expected an array of numbers" },
        { "{" LOCAL1 ",\"mu\":0,\"dim\":4}", RB_TOO_LARGE, "dim: 4 is over the limit" },
        { "{" LOCAL1 ",\"mu\":0,\"dim\":1}", RB_BAD_INPUT, "dim: 1; expected an integer 2 .. 3" },
        { "{" LOCAL1 ",\"mu\":0,\"dim\":2}", RB_BAD_INPUT, "q: 3 numbers; expected a multiple" },
        { "{" LOCAL1 ",\"mu\":0,\"nc\":2}", RB_BAD_INPUT, "q: 3 numbers; expected nc * dim = 6" },
        { "{" LOCAL1 ",\"mu\":0,\"nc\":0}", RB_BAD_INPUT, "nc: 0; expected an integer" },
        { "{" LOCAL1 ",\"mu\":0,\"nc\":70000}", RB_TOO_LARGE,
          "nc: over the limit of 200000 rows, 66666 contacts" },
        { "{" LOCAL1 ",\"mu\":0,\"nc\":1000000}", RB_TOO_LARGE, "nc: 1000000 is over the limit" },
        { "{\"W\":[[1]],\"q\":[],\"mu\":0}", RB_BAD_INPUT, "q: empty; expected 3 numbers per" },
        { "{\"W\":[[1]],\"mu\":0}", RB_BAD_INPUT, "q: missing" },
        { "{\"kind\":\"local\",\"q\":[1,2,3],\"mu\":0}", RB_BAD_INPUT, "W: missing" },
        { "{\"W\":[[1,2]],\"q\":[1,2,3],\"mu\":0}", RB_BAD_INPUT, "W: 1 x 2; expected 3 x 3" },
        { "{\"W\":{\"rows\":3,\"cols\":3,\"i\":[0,0],\"j\":[0,0],\"v\":[1e308,1e308]},"
          "\"q\":[1,2,3],\"mu\":0}",
          RB_BAD_INPUT, "W: the entries given for (0, 0) add up to no finite number" },
    };
    check_refused(RB_FORMAT_FRICTION, lines, sizeof lines / sizeof *lines);
}

TEST(too_many_rows_are_refused)
{
    enum { ROWS_OVER = RB_MAX_ROWS + 1 };
    char *text = malloc(2 * ROWS_OVER + 64);
    CHECK(text != NULL);
    int at = sprintf(text, "{\"W\":[[1]],\"mu\":0,\"q\":[");
    for (int k = 0; k < ROWS_OVER; k++) at += sprintf(text + at, "%s0", k ? "," : "");
    sprintf(text + at, "]}");
    check_refused_bytes(RB_FORMAT_FRICTION, text, strlen(text), RB_TOO_LARGE,
                        "q: over the limit of 200000 rows");
    free(text);
}

TEST(wrong_global_problems_are_refused)
{
    static const bad_line lines[] = {
        { "{\"dim\":2,\"Minv\":[[1]]," GLOBAL1 "}", RB_BAD_INPUT, "Minv: given together with M" },
        { "{\"dim\":2,\"H\":[[1,0]],\"f\":[1],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT, "M: missing" },
        { "{\"dim\":2,\"kind\":\"global\",\"M\":[[1]],\"f\":[1],\"w\":[0,0],\"mu\":1}",
          RB_BAD_INPUT, "H: missing; expected a matrix" },
        { "{\"dim\":2,\"M\":[[1]],\"H\":[[1,0]],\"f\":[1],\"mu\":1}", RB_BAD_INPUT, "w: missing" },
        { "{\"dim\":2,\"M\":[[1]],\"H\":[[1,0]],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT,
          "f: missing" },
        { "{\"dim\":2,\"M\":[[1]],\"H\":[[1,0]],\"f\":[1,2],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT,
          "f: 2 numbers; expected 1, one per row of M" },
        { "{\"dim\":2,\"M\":[[1,2]],\"H\":[[1,0]],\"f\":[1],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT,
          "M: 1 x 2; expected 1 x 1" },
        { "{\"dim\":2,\"M\":[[1]],\"H\":[[1]],\"f\":[1],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT,
          "H: 1 x 1; expected 1 x 2" },
        { "{\"dim\":2,\"M\":[[0]],\"H\":[[1,0]],\"f\":[1],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT,
          "M: singular at degree of freedom 0; expected an invertible mass matrix" },
        { "{\"dim\":2,\"M\":[[1,0,0],[0,1,3],[0,3,9]],\"H\":[[1,0],[0,1],[0,0]],\"f\":[1,1,1],"
          "\"w\":[0,0],\"mu\":1}",
          RB_BAD_INPUT, "M: singular at degree of freedom 2" },
        { "{\"dim\":2,\"M\":[[1e-310]],\"H\":[[1,0]],\"f\":[1],\"w\":[0,0],\"mu\":1}", RB_BAD_INPUT,
          "M: its entries or those of its inverse overflow" },
        { "{\"dim\":2,\"M\":{\"rows\":1,\"cols\":1,\"i\":[0,0],\"j\":[0,0],\"v\":[1e308,1e308]},"
          "\"H\":[[1,0]],\"f\":[1],\"w\":[0,0],\"mu\":1}",
          RB_BAD_INPUT, "M: its entries" },
        { "{\"dim\":2,\"M\":[[1e-200]],\"H\":[[1,0]],\"f\":[1e200],\"w\":[0,0],\"mu\":1}",
          RB_BAD_INPUT, "f: the free velocity of row 0 overflows" },
        { "{\"dim\":2,\"M\":[[1]],\"H\":{\"rows\":1,\"cols\":2,\"i\":[0,0],\"j\":[1,1],"
          "\"v\":[1e308,1e308]},\"f\":[1],\"w\":[0,0],\"mu\":1}",
          RB_BAD_INPUT, "H: the entries given for" },
        { "{\"dim\":2,\"mu\":1,\"w\":[],\"M\":[[1]],\"H\":[[1]],\"f\":[1]}", RB_BAD_INPUT,
          "w: empty; expected 2 numbers per contact" },
    };
    check_refused(RB_FORMAT_FRICTION, lines, sizeof lines / sizeof *lines);
}

/* A mass of `dofs` dofs, each coupled to the first of its group of `group`. */
static char *arrow_mass(int dofs, int group)
{
    char *text = malloc((size_t)dofs * 48 + 256);
    CHECK(text != NULL);
    int at = sprintf(text,
                     "{\"dim\":2,\"mu\":1,\"w\":[0,0],\"f\":[],\"H\":{\"rows\":%d,\"cols\":2,"
                     "\"i\":[],\"j\":[],\"v\":[]},\"M\":{\"rows\":%d,\"cols\":%d,\"v\":[",
                     dofs, dofs, dofs);
    for (int k = 0; k < dofs; k++) at += sprintf(text + at, "%s1", k ? "," : "");
    at += sprintf(text + at, "],\"i\":[");
    for (int k = 0; k < dofs; k++) at += sprintf(text + at, "%s%d", k ? "," : "", k);
    at += sprintf(text + at, "],\"j\":[");
    for (int k = 0; k < dofs; k++) at += sprintf(text + at, "%s%d", k ? "," : "", k - k % group);
    sprintf(text + at, "]}}");
    return text;
}

TEST(masses_over_the_budget_are_refused)
{
    char *text = arrow_mass(RB_IO_MAX_MASS_BLOCK + 1, RB_IO_MAX_MASS_BLOCK + 1);
    check_refused_bytes(RB_FORMAT_FRICTION, text, strlen(text), RB_TOO_LARGE,
                        "M: couples 2049 degrees of freedom, the limit is 2048");
    free(text);
    text = arrow_mass(3 * RB_IO_MAX_MASS_BLOCK, RB_IO_MAX_MASS_BLOCK);
    check_refused_bytes(RB_FORMAT_FRICTION, text, strlen(text), RB_TOO_LARGE,
                        "M: its inverse has 12582912 entries, the limit is 8388608");
    free(text);
}

/* ---- memory and writing ------------------------------------------------------------------------
 */

TEST(every_allocation_of_a_parse_may_fail)
{
    static const char *const texts[] = {
        "{" LOCAL1 ",\"mu\":0.5}",
        "{" LOCAL1 ",\"mu\":[0.5]}",
        "{\"dim\":2,\"W\":{\"rows\":2,\"cols\":2,\"i\":[0,1],\"j\":[0,1],\"v\":[1,1]},\"q\":[1,2],"
        "\"mu\":1}",
        "{\"dim\":2," GLOBAL1 "}",
        "{\"dim\":2,\"Minv\":[[2]],\"H\":[[1,0]],\"w\":[0,0],\"mu\":[0.5]}",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        check_parse_without_memory(RB_FORMAT_FRICTION, texts[k]);
}

static void check_round_trip(const rb_problem *p)
{
    char *text = written(p, "again");
    rb_problem_entry *e = parse(RB_FORMAT_FRICTION, text);
    const rb_problem *r = &e->problem;
    CHECK_INT(r->kind, RB_CONE);
    CHECK_INT(r->n, p->n);
    CHECK_INT(r->nc, p->nc);
    CHECK_INT(r->dim, p->dim);
    check_same_bits(r->q, p->q, (size_t)p->n);
    check_same_bits(r->mu, p->mu, (size_t)p->nc);
    for (int i = 0; i < p->n; i++) {
        double x[16] = { 0 }, y[16], y_read[16];
        x[i] = 1.0;
        CHECK_INT(rb_problem_apply(p, x, NULL, y), RB_OK);
        CHECK_INT(rb_problem_apply(r, x, NULL, y_read), RB_OK);
        check_same_bits(y, y_read, (size_t)p->n);
    }
    rb_problem_entry_free(e);
    free(text);
}

TEST(written_problems_are_read_back_to_the_bit)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);

        /* as an operator, then as the dense matrix of the same operator, then in blocks */
        sample s = make_sample(seed, 1);
        rb_problem_entry *e = parse_sample(&s);
        check_round_trip(&e->problem);

        double dense[ROWS * ROWS];
        for (int c = 0; c < ROWS; c++) {
            double unit[ROWS] = { 0 }, column[ROWS];
            unit[c] = 1.0;
            CHECK_INT(rb_problem_apply(&e->problem, unit, NULL, column), RB_OK);
            for (int i = 0; i < ROWS; i++) dense[i * ROWS + c] = column[i];
        }
        rb_problem p = e->problem;
        p.W = (rb_matrix){ .form = RB_DENSE, .dense = dense };
        char *text = written(&p, "dense");
        rb_problem_entry *blocks = parse(RB_FORMAT_FRICTION, text);
        CHECK_INT(blocks->problem.W.form, RB_BSR);
        check_round_trip(&blocks->problem);
        rb_problem_entry_free(blocks);
        rb_problem_entry_free(e);
        free(text);
    }
}

TEST(the_stored_problems_are_read)
{
    rb_error err = { 0 };
    rb_problem_reader *reader = rb_problem_open(test_shared("data/friction_contact/problems.jsonl"),
                                                RB_FORMAT_FRICTION, NULL, &err);
    CHECK(reader != NULL);
    int count = 0, operators = 0;
    for (;; count++) {
        rb_problem_entry *e;
        rb_status status = rb_problem_next(reader, &e, &err);
        if (status != RB_OK) test_fail(err.file, err.line, "%s", err.text);
        if (!e) break;
        CHECK_INT(rb_problem_check(&e->problem, &err), RB_OK);
        operators += e->problem.W.form == RB_OPERATOR;
        rb_problem_entry_free(e);
    }
    rb_problem_close(reader);
    CHECK_INT(count, 33);
    CHECK_INT(operators, 6);
}

TEST_MAIN(RUN(reads_a_local_problem), RUN(dimension_counts_and_kind_may_be_left_out),
          RUN(a_global_problem_is_condensed), RUN(a_symmetric_mass_has_a_symmetric_inverse),
          RUN(the_units_of_a_dof_do_not_make_it_singular), RUN(a_large_coupled_mass_is_inverted),
          RUN(wrong_contacts_are_refused), RUN(too_many_rows_are_refused),
          RUN(wrong_global_problems_are_refused), RUN(masses_over_the_budget_are_refused),
          RUN(every_allocation_of_a_parse_may_fail), RUN(written_problems_are_read_back_to_the_bit),
          RUN(the_stored_problems_are_read))
