/* The reader and the writer of LCP files: what is accepted, every sentence of refusal, budgets,
 * memory failures, files with marks, carriage returns, blank and bad lines. */
#include "io_support.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#define Q1 "\"q\":[1]"

/* ---- accepted ----------------------------------------------------------------------------------
 */

TEST(reads_a_dense_lcp)
{
    rb_problem_entry *e =
        parse(RB_FORMAT_LCP, "{\"name\":\"a\",\"n\":2,\"M\":[[2,1e0],[1,2.5]],\"q\":[-5,-6],"
                             "\"comment\":{\"deep\":[1,\"x\"]},\"z\":null}");
    const rb_problem *p = &e->problem;
    CHECK_STR(e->name, "a");
    CHECK_STR(e->expected, "");
    CHECK_INT(e->line, 7);
    CHECK_INT(p->kind, RB_LCP);
    CHECK_INT(p->n, 2);
    CHECK_INT(p->W.form, RB_DENSE);
    check_same_bits(p->W.dense, (double[]){ 2, 1, 1, 2.5 }, 4);
    check_same_bits(p->q, (double[]){ -5, -6 }, 2);
    rb_problem_entry_free(e);
}

TEST(integers_of_any_length_are_numbers)
{
    rb_problem_entry *e =
        parse(RB_FORMAT_LCP, "{\"M\":[[123456789012345678901234567890]],\"q\":[-0]}");
    CHECK(e->problem.W.dense[0] == 123456789012345678901234567890.0);
    CHECK(e->problem.q[0] == 0.0);
    CHECK_STR(e->name, "line-7");
    rb_problem_entry_free(e);
}

TEST(triplets_are_added_up_in_rows)
{
    rb_problem_entry *e = parse(RB_FORMAT_LCP, "{\"M\":{\"rows\":3,\"cols\":3,\"i\":[2,0,2,1,2],"
                                               "\"j\":[2,1,0,1,2],\"v\":[1,2,3,4,0.5]},"
                                               "\"q\":[1,2,3]}");
    const rb_matrix *W = &e->problem.W;
    CHECK_INT(W->form, RB_BSR);
    CHECK_INT(W->bs, 1);
    const int ptr[] = { 0, 1, 2, 4 }, col[] = { 1, 1, 0, 2 };
    CHECK(memcmp(W->ptr, ptr, sizeof ptr) == 0);
    CHECK(memcmp(W->col, col, sizeof col) == 0);
    check_same_bits(W->val, (double[]){ 2, 4, 3, 1.5 }, 4);
    rb_problem_entry_free(e);
}

TEST(bounds_make_a_boxed_problem)
{
    rb_problem_entry *e = parse(RB_FORMAT_LCP, "{\"M\":[[1,0,0],[0,1,0],[0,0,1]],\"q\":[1,2,3],"
                                               "\"lo\":[0,null,-2],\"hi\":[null,null,-2]}");
    CHECK_INT(e->problem.kind, RB_BOX);
    check_same_bits(e->problem.lo, (double[]){ 0, -INFINITY, -2 }, 3);
    check_same_bits(e->problem.hi, (double[]){ INFINITY, INFINITY, -2 }, 3);
    rb_problem_entry_free(e);

    /* a missing lo is 0, a lo of null is unbounded; bounds of an LCP leave it an LCP */
    e = parse(RB_FORMAT_LCP, "{\"M\":[[1]]," Q1 ",\"hi\":[4]}");
    CHECK(e->problem.lo[0] == 0.0 && e->problem.hi[0] == 4.0);
    rb_problem_entry_free(e);
    e = parse(RB_FORMAT_LCP, "{\"M\":[[1]]," Q1 ",\"lo\":null,\"hi\":[4]}");
    CHECK(e->problem.lo[0] == -INFINITY);
    rb_problem_entry_free(e);
    e = parse(RB_FORMAT_LCP, "{\"M\":[[1]]," Q1 ",\"lo\":[0],\"hi\":[null]}");
    CHECK_INT(e->problem.kind, RB_LCP);
    CHECK(e->problem.lo == NULL && e->problem.hi == NULL);
    rb_problem_entry_free(e);
}

TEST(is_comp_frees_variables)
{
    rb_problem_entry *e = parse(RB_FORMAT_LCP, "{\"M\":[[1,0,0],[0,1,0],[0,0,1]],\"q\":[1,2,3],"
                                               "\"is_comp\":[0,1,false]}");
    CHECK_INT(e->problem.kind, RB_BOX);
    check_same_bits(e->problem.lo, (double[]){ -INFINITY, 0, -INFINITY }, 3);
    check_same_bits(e->problem.hi, (double[]){ INFINITY, INFINITY, INFINITY }, 3);
    rb_problem_entry_free(e);
    e = parse(RB_FORMAT_LCP, "{\"M\":[[1]]," Q1 ",\"is_comp\":[true]}");
    CHECK_INT(e->problem.kind, RB_LCP);
    rb_problem_entry_free(e);
}

TEST(verdicts_of_the_corpora_are_kept)
{
    static const struct {
        const char *member, *expected;
    } cases[] = {
        { "\"status\":\"solvable\"", "solvable" },
        { "\"status\":\"infeasible\"", "infeasible" },
        { "\"status\":\"nosolution\"", "nosolution" },
        { "\"status\":\"late\"", "" },
        { "\"status\":3", "" },
        { "\"solvable\":true", "solvable" },
        { "\"solvable\":false", "nosolution" },
        { "\"solvable\":null", "" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[128];
        snprintf(text, sizeof text, "{\"M\":[[1]]," Q1 ",%s}", cases[k].member);
        rb_problem_entry *e = parse(RB_FORMAT_LCP, text);
        CHECK_STR(e->expected, cases[k].expected);
        rb_problem_entry_free(e);
    }
}

TEST(long_names_are_cut_between_characters)
{
    char text[1024] = "{\"M\":[[1]]," Q1 ",\"name\":\"x";
    for (int k = 0; k < 200; k++) strcat(text, "\xC3\xA9"); /* two bytes each */
    strcat(text, "\"}");
    rb_problem_entry *e = parse(RB_FORMAT_LCP, text);
    CHECK_INT((long long)strlen(e->name), 255);
    CHECK((unsigned char)e->name[254] == 0xA9);
    rb_problem_entry_free(e);
}

/* ---- refused -----------------------------------------------------------------------------------
 */

TEST(what_is_not_json_is_refused)
{
    static const bad_line lines[] = {
        { "hello", RB_BAD_INPUT, "line: not JSON, column" },
        { "3", RB_BAD_INPUT, "line: not JSON" },
        { "[1,2]", RB_BAD_INPUT, "line: an array; expected one JSON object" },
        { "{\"M\":[[1]],\"q\":[1]", RB_BAD_INPUT, "line: ends inside a value; expected one whole" },
        { "{\"M\":[[1]],\"q\":[1", RB_BAD_INPUT, "truncated" },
        { "{\"name\":\"abc", RB_BAD_INPUT, "truncated" },
        { "{\"name\":\"abc\\\"}", RB_BAD_INPUT, "truncated" },
        { "{\"M\":[[1]],\"q\":[1]} {", RB_BAD_INPUT, "truncated" },
        { "{\"M\":[[1]],\"q\":[1]} {}", RB_BAD_INPUT, "line: not JSON" },
        { "{\"M\":[[1]],\"q\":[1]]}", RB_BAD_INPUT, "line: not JSON" },
        { "{\"M\":[[1]],\"q\":[NaN]}", RB_BAD_INPUT, "JSON has no NaN and no Infinity" },
        { "{\"M\":[[1]],\"q\":[nan]}", RB_BAD_INPUT, "JSON has no NaN and no Infinity" },
        { "{\"M\":[[1]],\"q\":[Infinity]}", RB_BAD_INPUT, "JSON has no NaN and no Infinity" },
        { "{\"M\":[[1]],\"q\":[-Infinity]}", RB_BAD_INPUT, "line: not JSON" },
        { "{\"M\":[[1]],\"q\":[1e999]}", RB_BAD_INPUT, "expected finite numbers" },
        { "{\"M\":[[1]],\"q\":[-1e999]}", RB_BAD_INPUT, "expected finite numbers" },
        { "{\"q\":[1],\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "give every key once" },
        { "{\"name\":\"\xFF\",\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "line: not JSON" },
        { "{\"name\":\"\\u0000\",\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "line: not JSON" },
        { "{\"name\":\"a\x1B[31m\",\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "control character" },
    };
    check_refused(RB_FORMAT_LCP, lines, sizeof lines / sizeof *lines);
    check_refused_bytes(RB_FORMAT_LCP, "{\"a\":\0}", 7, RB_BAD_INPUT, "line: not JSON");
    check_refused_bytes(RB_FORMAT_LCP, "", 0, RB_BAD_INPUT, "line: not JSON");
}

TEST(wrong_sizes_are_refused)
{
    static const bad_line lines[] = {
        { "{\"n\":0,\"M\":[],\"q\":[]}", RB_BAD_INPUT, "n: 0; expected an integer 1 .. 20000" },
        { "{\"n\":-3,\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "n: -3; expected" },
        { "{\"n\":1.5,\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "n: 1.5; expected an integer" },
        { "{\"n\":100000,\"M\":[[1]],\"q\":[1]}", RB_TOO_LARGE,
          "n: 100000 is over the limit; expected 1 .. 20000" },
        { "{\"n\":1e300,\"M\":[[1]],\"q\":[1]}", RB_TOO_LARGE, "n: 1" },
        { "{\"M\":{\"rows\":20001,\"cols\":20001,\"i\":[],\"j\":[],\"v\":[]},\"q\":[1]}",
          RB_TOO_LARGE, "M: 20001 rows are over the limit; expected 1 .. 20000" },
        { "{\"M\":{\"rows\":200001,\"cols\":1,\"i\":[],\"j\":[],\"v\":[]},\"q\":[1]}", RB_TOO_LARGE,
          "rows: 200001 is over the limit" },
        { "{\"n\":2,\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "M: 1 rows; expected n = 2" },
        { "{\"M\":[],\"q\":[]}", RB_BAD_INPUT, "M: no rows; expected at least one" },
        { "{\"M\":[[]],\"q\":[1]}", RB_BAD_INPUT, "M[0]: 0 numbers; expected 1" },
        { "{\"M\":[[1,2]],\"q\":[1]}", RB_BAD_INPUT, "M: 1 x 2; expected a square matrix" },
        { "{\"M\":[[1,2],[3]],\"q\":[1,2]}", RB_BAD_INPUT,
          "M[1]: 1 numbers; expected 2 as in row" },
        { "{\"M\":[[1,2],[3,4]],\"q\":[1]}", RB_BAD_INPUT,
          "q: 1 numbers; expected 2, one per row" },
        { "{\"M\":[[1]],\"q\":[]}", RB_BAD_INPUT, "q: 0 numbers; expected 1, one per row of M" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[0],\"j\":[],\"v\":[1]},\"q\":[1]}", RB_BAD_INPUT,
          "M: i, j, v have 1, 0, 1 entries; expected equally many" },
        { "{\"M\":[[1]],\"q\":[1],\"lo\":[0,0]}", RB_BAD_INPUT, "lo: 2 numbers; expected 1" },
        { "{\"M\":[[1]],\"q\":[1],\"hi\":[]}", RB_BAD_INPUT, "hi: 0 numbers; expected 1" },
        { "{\"M\":[[1]],\"q\":[1],\"is_comp\":[]}", RB_BAD_INPUT,
          "is_comp: 0 numbers; expected 1" },
    };
    check_refused(RB_FORMAT_LCP, lines, sizeof lines / sizeof *lines);
}

TEST(wrong_types_are_refused)
{
    static const bad_line lines[] = {
        { "{\"q\":[1]}", RB_BAD_INPUT, "M: missing; expected a matrix" },
        { "{\"M\":[[1]]}", RB_BAD_INPUT, "q: missing; expected an array of numbers" },
        { "{\"W\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "rattleback friction" },
        { "{\"name\":3,\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "name: a number; expected a string" },
        { "{\"n\":\"1\",\"M\":[[1]],\"q\":[1]}", RB_BAD_INPUT, "n: a string; expected an integer" },
        { "{\"M\":3,\"q\":[1]}", RB_BAD_INPUT, "M: a number; expected an array of rows" },
        { "{\"M\":[1],\"q\":[1]}", RB_BAD_INPUT, "M[0]: a number; expected a row" },
        { "{\"M\":[[\"1\"]],\"q\":[1]}", RB_BAD_INPUT, "M[0][0]: a string; expected a number" },
        { "{\"M\":[[null]],\"q\":[1]}", RB_BAD_INPUT, "M[0][0]: null; expected a number" },
        { "{\"M\":[[1]],\"q\":1}", RB_BAD_INPUT, "q: a number; expected an array of numbers" },
        { "{\"M\":[[1]],\"q\":[true]}", RB_BAD_INPUT, "q[0]: true; expected a number" },
        { "{\"M\":[[1]],\"q\":[false]}", RB_BAD_INPUT, "q[0]: false; expected a number" },
        { "{\"M\":[[1]],\"q\":[{}]}", RB_BAD_INPUT, "q[0]: an object; expected a number" },
        { "{\"M\":{\"cols\":1,\"i\":[],\"j\":[],\"v\":[]},\"q\":[1]}", RB_BAD_INPUT,
          "M: \"rows\" missing; expected rows, cols, i, j and v" },
        { "{\"M\":{\"rows\":1,\"i\":[],\"j\":[],\"v\":[]},\"q\":[1]}", RB_BAD_INPUT,
          "M: \"cols\" missing" },
        { "{\"M\":{\"rows\":0,\"cols\":1,\"i\":[],\"j\":[],\"v\":[]},\"q\":[1]}", RB_BAD_INPUT,
          "rows: 0; expected an integer" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[],\"j\":[]},\"q\":[1]}", RB_BAD_INPUT,
          "M.v: missing; expected an array" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":2,\"j\":[],\"v\":[]},\"q\":[1]}", RB_BAD_INPUT,
          "M.i: a number; expected an array" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[1],\"j\":[0],\"v\":[1]},\"q\":[1]}", RB_BAD_INPUT,
          "M.i[0]: 1; expected an integer 0 .. 0" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[0],\"j\":[-1],\"v\":[1]},\"q\":[1]}", RB_BAD_INPUT,
          "M.j[0]: -1; expected an integer" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[0.5],\"j\":[0],\"v\":[1]},\"q\":[1]}", RB_BAD_INPUT,
          "M.i[0]: 0.5; expected an integer" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[0],\"j\":[0],\"v\":[\"\"]},\"q\":[1]}",
          RB_BAD_INPUT, "M.v[0]: a string; expected a number" },
        { "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[0,0],\"j\":[0,0],\"v\":[1e308,1e308]},\"q\":[1]}",
          RB_BAD_INPUT, "M: the entries given for (0, 0) add up to no finite number" },
    };
    check_refused(RB_FORMAT_LCP, lines, sizeof lines / sizeof *lines);
}

TEST(wrong_bounds_are_refused)
{
    static const bad_line lines[] = {
        { "{\"M\":[[1]],\"q\":[1],\"l\":[2],\"hi\":[1]}", RB_BAD_INPUT,
          "l: is not known; expected \"lo\"" },
        { "{\"M\":[[1]],\"q\":[1],\"upper\":[2]}", RB_BAD_INPUT,
          "upper: is not known; expected \"hi\"" },
        { "{\"M\":[[1]],\"q\":[1],\"lo\":[2],\"hi\":[1]}", RB_BAD_INPUT,
          "lo: row 0 has lo = 2 > hi = 1; expected lo <= hi" },
        { "{\"M\":[[1]],\"q\":[1],\"hi\":[-1]}", RB_BAD_INPUT, "lo = 0 > hi = -1" },
        { "{\"M\":[[1]],\"q\":[1],\"lo\":1}", RB_BAD_INPUT,
          "lo: expected an array of numbers and" },
        { "{\"M\":[[1]],\"q\":[1],\"hi\":[\"inf\"]}", RB_BAD_INPUT, "hi[0]: a string" },
        { "{\"M\":[[1]],\"q\":[1],\"lo\":[0],\"is_comp\":[1]}", RB_BAD_INPUT,
          "is_comp: given together with lo or hi" },
        { "{\"M\":[[1]],\"q\":[1],\"is_comp\":1}", RB_BAD_INPUT, "is_comp: expected an array" },
        { "{\"M\":[[1]],\"q\":[1],\"is_comp\":[2]}", RB_BAD_INPUT,
          "is_comp[0]: expected 0 (free)" },
        { "{\"M\":[[1]],\"q\":[1],\"is_comp\":[null]}", RB_BAD_INPUT, "is_comp[0]: expected 0" },
    };
    check_refused(RB_FORMAT_LCP, lines, sizeof lines / sizeof *lines);
}

/* ---- budgets -----------------------------------------------------------------------------------
 */

/* `count` copies of `unit` between two ends. */
static void check_many(const char *begin, const char *unit, size_t count, const char *end,
                       const char *sentence)
{
    size_t width = strlen(unit), size = strlen(begin) + count * width + strlen(end);
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    strcpy(text, begin);
    char *at = text + strlen(begin);
    for (size_t k = 0; k < count; k++, at += width) memcpy(at, unit, width);
    strcpy(at, end);
    check_refused_bytes(RB_FORMAT_LCP, text, size, RB_TOO_LARGE, sentence);
    free(text);
}

TEST(budgets_are_kept)
{
    check_many("{\"a\":", "[", RB_IO_MAX_DEPTH, "", "brackets nested 65 deep, the limit is 64");
    check_many("{\"a\":[[]", ",[]", RB_IO_MAX_CONTAINERS, "]}", "arrays and objects, the limit");
    check_many("{\"a\":0", ",\"b\":0", RB_IO_MAX_MEMBERS, "}", "keys, the limit is 65536");
    check_many("{\"a\":[0", ",0", RB_IO_MAX_VALUES, "]}", "line: more than 8388608 values");
    check_many("{\"a\":\"", "x", RB_IO_MAX_LINE, "\"}", "line: over the limit of 64 MiB");
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static const char *const all_forms[] = {
    "{\"name\":\"a\",\"M\":[[1,2],[3,4]],\"q\":[1,2]}",
    "{\"M\":[[1,2],[3,4]],\"q\":[1,2],\"lo\":[null,1],\"hi\":[3,4]}",
    "{\"M\":{\"rows\":1,\"cols\":1,\"i\":[0],\"j\":[0],\"v\":[3]},\"q\":[1],\"is_comp\":[0]}",
};
enum { NFORM = sizeof all_forms / sizeof *all_forms };

TEST(every_allocation_of_a_parse_may_fail)
{
    for (int k = 0; k < NFORM; k++) check_parse_without_memory(RB_FORMAT_LCP, all_forms[k]);
}

TEST(every_allocation_of_a_reader_may_fail)
{
    const char *text = "{\"M\":[[1]],\"q\":[1]}\n{\"M\":[[2]],\"q\":[1]}\n";
    const char *path = write_file(text, strlen(text));
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        int entries = 0, failures = 0;
        rb_problem_reader *reader = rb_problem_open(path, RB_FORMAT_LCP, &alloc, &err);
        if (!reader) CHECK_INT(err.status, RB_NOMEM);
        for (rb_problem_entry *e; reader;) {
            rb_status status = rb_problem_next(reader, &e, &err);
            if (status == RB_OK && !e) break;
            entries += status == RB_OK;
            failures += status == RB_NOMEM;
            rb_problem_entry_free(e);
        }
        rb_problem_close(reader);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) break;
        if (reader) CHECK_INT(entries, 1); /* one line was lost, the other one was not */
        if (reader) CHECK_INT(failures, 1);
    }
    unlink(path);
}

/* ---- writing -----------------------------------------------------------------------------------
 */

TEST(written_problems_are_read_back_to_the_bit)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        enum { N = 5 };
        double M[N * N], q[N], lo[N], hi[N];
        for (int k = 0; k < N * N; k++) M[k] = rb_rng_normal(&rng) * 1e-7;
        for (int i = 0; i < N; i++) {
            q[i] = rb_rng_uniform(&rng, -1e9, 1e9);
            lo[i] = i == 1 ? -INFINITY : -rb_rng_uniform(&rng, 0.0, 1.0);
            hi[i] = i == 2 ? INFINITY : rb_rng_uniform(&rng, 0.0, 1.0);
        }
        int boxed = seed % 2 == 0;
        rb_problem p = { .kind = boxed ? RB_BOX : RB_LCP,
                         .n = N,
                         .W = { .form = RB_DENSE, .dense = M },
                         .q = q,
                         .lo = boxed ? lo : NULL,
                         .hi = boxed ? hi : NULL };
        char *text = written(&p, "na\"m\\e\x1B\n");
        CHECK(strchr(text, '\n') == text + strlen(text) - 1);
        rb_problem_entry *e = parse(RB_FORMAT_LCP, text);
        CHECK_STR(e->name, "na\"m\\e\x1B\n");
        CHECK_INT(e->problem.kind, p.kind);
        check_same_bits(e->problem.W.dense, M, N * N);
        check_same_bits(e->problem.q, q, N);
        check_same_bits(e->problem.lo, p.lo, N);
        check_same_bits(e->problem.hi, p.hi, N);
        rb_problem_entry_free(e);
        free(text);
    }
}

TEST(written_blocks_are_read_back_as_rows)
{
    const int ptr[] = { 0, 1, 3 }, col[] = { 1, 0, 1 };
    const double val[] = { 1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12 }, q[] = { 1, 2, 3, 4 };
    rb_problem p = { .kind = RB_LCP,
                     .n = 4,
                     .W = { .form = RB_BSR, .bs = 2, .ptr = ptr, .col = col, .val = val },
                     .q = q };
    char *text = written(&p, "blocks");
    rb_problem_entry *e = parse(RB_FORMAT_LCP, text);
    const double x[] = { 1, 10, 100, 1000 };
    double direct[4], read[4];
    CHECK_INT(rb_problem_apply(&p, x, NULL, direct), RB_OK);
    CHECK_INT(rb_problem_apply(&e->problem, x, NULL, read), RB_OK);
    check_same_bits(direct, read, 4);
    rb_problem_entry_free(e);
    free(text);
}

/* J = [1 1; 0 2], Minv = diag(2, 3): W = J Minv J' = [5 6; 6 12]. */
static const int j_ptr[] = { 0, 2, 3 }, j_col[] = { 0, 1, 1 }, m_start[] = { 0, 1, 2 };
static const double j_val[] = { 1, 1, 2 }, m_inv[] = { 2, 3 };
static const rb_operator small_op = { .m = 2,
                                      .jptr = j_ptr,
                                      .jcol = j_col,
                                      .jval = j_val,
                                      .nblock = 2,
                                      .start = m_start,
                                      .minv = m_inv };

TEST(an_lcp_given_as_an_operator_is_multiplied_out)
{
    const double q[] = { 1, 2 };
    rb_problem p = {
        .kind = RB_LCP, .n = 2, .W = { .form = RB_OPERATOR, .op = &small_op }, .q = q
    };
    char *text = written(&p, "operator");
    rb_problem_entry *e = parse(RB_FORMAT_LCP, text);
    check_same_bits(e->problem.W.dense, (double[]){ 5, 6, 6, 12 }, 4);
    rb_problem_entry_free(e);
    free(text);
}

TEST(every_allocation_of_a_writer_may_fail)
{
    const double q[] = { 1, 2 };
    rb_problem p = {
        .kind = RB_LCP, .n = 2, .W = { .form = RB_OPERATOR, .op = &small_op }, .q = q
    };
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        FILE *out = tmpfile();
        rb_status status = rb_problem_write_json(out, "x", &p, &alloc, &err);
        fclose(out);
        CHECK_INT(memory.live, 0);
        CHECK_INT(status, memory.requests < k ? RB_OK : RB_NOMEM);
        if (status == RB_OK) break;
        CHECK_CONTAINS(err.text, "out of memory");
    }
}

TEST(a_writer_refuses_what_a_reader_would)
{
    const double q[] = { NAN }, M[] = { 1 };
    rb_problem p = { .kind = RB_LCP, .n = 1, .W = { .form = RB_DENSE, .dense = M }, .q = q };
    rb_error err = { 0 };
    FILE *out = tmpfile();
    CHECK_INT(rb_problem_write_json(out, "x", &p, NULL, &err), RB_BAD_INPUT);
    CHECK_INT(ftell(out), 0);
    fclose(out);
}

TEST(a_full_disk_is_noticed)
{
    const double q[] = { 1 }, M[] = { 1 };
    rb_problem p = { .kind = RB_LCP, .n = 1, .W = { .form = RB_DENSE, .dense = M }, .q = q };
    rb_error err = { 0 };
    FILE *out = fopen("/dev/full", "w");
    if (!out) SKIP("no /dev/full");
    CHECK_INT(rb_problem_write_json(out, "x", &p, NULL, &err), RB_FILE);
    CHECK_CONTAINS(err.text, "could not be written");
    fclose(out);
}

TEST(numbers_are_json_in_any_locale)
{
    const char *locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "C" };
    for (int k = 0; k < 3; k++) {
        if (!setlocale(LC_NUMERIC, locales[k])) continue;
        FILE *out = tmpfile();
        rb_json_put_number(out, 0.1);
        putc(' ', out);
        rb_json_put_number(out, NAN);
        char text[64] = { 0 };
        rewind(out);
        CHECK(fread(text, 1, sizeof text - 1, out) > 0);
        CHECK_STR(text, "0.10000000000000001 null");
        fclose(out);
    }
    setlocale(LC_NUMERIC, "C");
}

/* ---- files -------------------------------------------------------------------------------------
 */

TEST(files_are_read_line_by_line)
{
    static const char text[] = "\xEF\xBB\xBF{\"M\":[[1]],\"q\":[1]}\r\n"
                               "\r\n   \n"
                               "{\"M\":[[1]],\"q\":[1,2]}\n"
                               "\t{\"M\":[[2]],\"q\":[1]}  \n"
                               "{\"M\":[[3]],\"q\":[1]}";
    const char *path = write_file(text, sizeof text - 1);
    rb_error err = { 0 };
    rb_problem_reader *reader = rb_problem_open(path, RB_FORMAT_LCP, NULL, &err);
    CHECK(reader != NULL);
    static const int line[] = { 1, 4, 5, 6 };
    double before = 0.0;
    for (int k = 0; k < 4; k++) {
        rb_problem_entry *e;
        rb_status status = rb_problem_next(reader, &e, &err);
        if (line[k] == 4) {
            CHECK_INT(status, RB_BAD_INPUT);
            CHECK_INT(err.line, 4);
            CHECK_STR(err.file, path);
            CHECK(e == NULL);
        } else {
            CHECK_INT(status, RB_OK);
            CHECK_INT(e->line, line[k]);
        }
        rb_problem_entry_free(e);
        CHECK(rb_problem_progress(reader) > before);
        before = rb_problem_progress(reader);
    }
    CHECK(before == 1.0);
    for (int k = 0; k < 2; k++) {
        rb_problem_entry *e;
        CHECK_INT(rb_problem_next(reader, &e, &err), RB_OK);
        CHECK(e == NULL);
    }
    rb_problem_close(reader);
    unlink(path);
}

TEST(lines_across_chunks_are_whole)
{
    /* the reader takes 64 KiB at a time; these lines begin and end everywhere in a chunk */
    enum { LINES = 300, PAD = 700 };
    char *text = calloc(LINES, PAD + 64);
    CHECK(text != NULL);
    char *at = text;
    for (int k = 0; k < LINES; k++)
        at += sprintf(at, "{\"M\":[[1]],%*s\"q\":[%d]}\n", 1 + k * 7 % PAD, "", k);
    const char *path = write_file(text, (size_t)(at - text));
    free(text);
    rb_problem_reader *reader = rb_problem_open(path, RB_FORMAT_LCP, NULL, NULL);
    for (int k = 0; k < LINES; k++) {
        rb_problem_entry *e;
        CHECK_INT(rb_problem_next(reader, &e, NULL), RB_OK);
        CHECK(e->problem.q[0] == k);
        rb_problem_entry_free(e);
    }
    rb_problem_close(reader);
    unlink(path);
}

TEST(an_overlong_line_is_passed_over)
{
    size_t size = RB_IO_MAX_LINE + 1000;
    char *text = malloc(size + 64);
    CHECK(text != NULL);
    memset(text, ' ', size);
    size += (size_t)sprintf(text + size, "\n{\"M\":[[1]],\"q\":[1]}\n");
    const char *path = write_file(text, size);
    free(text);

    rb_error err = { 0 };
    rb_problem_entry *e;
    rb_problem_reader *reader = rb_problem_open(path, RB_FORMAT_LCP, NULL, &err);
    CHECK_INT(rb_problem_next(reader, &e, &err), RB_TOO_LARGE);
    CHECK_INT(err.line, 1);
    CHECK_CONTAINS(err.text, "line: over the limit of 64 MiB; give the matrix as triplets");
    CHECK_INT(rb_problem_next(reader, &e, &err), RB_OK);
    CHECK_INT(e->line, 2);
    rb_problem_entry_free(e);
    rb_problem_close(reader);
    unlink(path);
}

TEST(a_line_without_end_is_given_up)
{
    rb_error err = { 0 };
    rb_problem_entry *e;
    rb_problem_reader *reader = rb_problem_open("/dev/zero", RB_FORMAT_LCP, NULL, &err);
    if (!reader) SKIP("no /dev/zero");
    CHECK_INT(rb_problem_next(reader, &e, &err), RB_TOO_LARGE);
    CHECK_CONTAINS(err.text, "line: no end within 512 MiB");
    CHECK_INT(rb_problem_next(reader, &e, &err), RB_OK);
    CHECK(e == NULL);
    rb_problem_close(reader);
}

TEST(files_that_cannot_be_read_are_named)
{
    rb_error err = { 0 };
    CHECK(rb_problem_open("no_such_file.jsonl", RB_FORMAT_LCP, NULL, &err) == NULL);
    CHECK_INT(err.status, RB_FILE);
    CHECK_STR(err.file, "no_such_file.jsonl");
    CHECK_CONTAINS(err.text, "cannot be opened: No such file");

    rb_problem_reader *reader = rb_problem_open(".", RB_FORMAT_LCP, NULL, &err);
    CHECK(reader != NULL);
    rb_problem_entry *e;
    CHECK_INT(rb_problem_next(reader, &e, &err), RB_FILE);
    CHECK_CONTAINS(err.text, "cannot be read: Is a directory");
    CHECK_INT(rb_problem_next(reader, &e, &err), RB_OK);
    CHECK(e == NULL);
    rb_problem_close(reader);
}

TEST(a_pipe_has_no_progress)
{
    char path[] = "test_io_fifo.XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    close(descriptor);
    unlink(path);
    CHECK_INT(mkfifo(path, 0600), 0);
    FILE *both_ends = fopen(path, "r+");
    CHECK(both_ends != NULL);
    fputs("{\"M\":[[1]],\"q\":[1]}\n", both_ends);
    fflush(both_ends);
    rb_problem_reader *reader = rb_problem_open(path, RB_FORMAT_LCP, NULL, NULL);
    fclose(both_ends);
    rb_problem_entry *e;
    CHECK_INT(rb_problem_next(reader, &e, NULL), RB_OK);
    CHECK(e != NULL);
    CHECK(rb_problem_progress(reader) < 0.0);
    rb_problem_entry_free(e);
    rb_problem_close(reader);
    unlink(path);
}

TEST(nothing_may_be_closed_and_freed)
{
    rb_problem_close(NULL);
    rb_problem_entry_free(NULL);
}

static int count_problems(const char *path)
{
    rb_error err = { 0 };
    rb_problem_reader *reader = rb_problem_open(path, RB_FORMAT_LCP, NULL, &err);
    CHECK(reader != NULL);
    int count = 0;
    for (;; count++) {
        rb_problem_entry *e;
        rb_status status = rb_problem_next(reader, &e, &err);
        if (status != RB_OK) test_fail(path, err.line, "%s", err.text);
        if (!e) break;
        CHECK_INT(rb_problem_check(&e->problem, &err), RB_OK);
        rb_problem_entry_free(e);
    }
    rb_problem_close(reader);
    return count;
}

TEST(the_stored_corpora_are_read)
{
    CHECK_INT(count_problems(test_shared("data/lcp/lcp.jsonl")), 19);
    CHECK_INT(count_problems(test_shared("data/lcp/mlcp.jsonl")), 9);
    CHECK_INT(count_problems(test_shared("data/lcp/generated.jsonl")), 150);
}

TEST_MAIN(RUN(reads_a_dense_lcp), RUN(integers_of_any_length_are_numbers),
          RUN(triplets_are_added_up_in_rows), RUN(bounds_make_a_boxed_problem),
          RUN(is_comp_frees_variables), RUN(verdicts_of_the_corpora_are_kept),
          RUN(long_names_are_cut_between_characters), RUN(what_is_not_json_is_refused),
          RUN(wrong_sizes_are_refused), RUN(wrong_types_are_refused), RUN(wrong_bounds_are_refused),
          RUN(budgets_are_kept), RUN(every_allocation_of_a_parse_may_fail),
          RUN(every_allocation_of_a_reader_may_fail),
          RUN(written_problems_are_read_back_to_the_bit), RUN(written_blocks_are_read_back_as_rows),
          RUN(an_lcp_given_as_an_operator_is_multiplied_out),
          RUN(every_allocation_of_a_writer_may_fail), RUN(a_writer_refuses_what_a_reader_would),
          RUN(a_full_disk_is_noticed), RUN(numbers_are_json_in_any_locale),
          RUN(files_are_read_line_by_line), RUN(lines_across_chunks_are_whole),
          RUN(an_overlong_line_is_passed_over), RUN(a_line_without_end_is_given_up),
          RUN(files_that_cannot_be_read_are_named), RUN(a_pipe_has_no_progress),
          RUN(nothing_may_be_closed_and_freed), RUN(the_stored_corpora_are_read))
