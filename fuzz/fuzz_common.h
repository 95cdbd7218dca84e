/* One input = one line. What holds for every line that the reader accepts is checked here; a broken
 * promise traps. */
#ifndef RATTLEBACK_FUZZ_COMMON_H
#define RATTLEBACK_FUZZ_COMMON_H

#include <stdlib.h>
#include <string.h>

#include "rattleback/io.h"

/* Larger problems are read but not solved: a fuzzer lives on many runs. */
enum { FUZZ_MOST_ROWS = 24, FUZZ_MAX_ITER = 100 };

static inline void fuzz_require(int promise)
{
    if (!promise) __builtin_trap();
}

/* What is written is read again, as a problem of the same kind and size with the same q. */
static inline void fuzz_round_trip(rb_problem_format format, const rb_problem_entry *entry)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fuzz_require(out != NULL);
    fuzz_require(rb_problem_write_json(out, entry->name, &entry->problem, NULL, NULL) == RB_OK);
    fclose(out);

    rb_problem_entry *again = NULL;
    rb_status status = rb_problem_parse(format, text, size, 1, NULL, &again, NULL);
    fuzz_require(status == RB_OK);
    fuzz_require(again->problem.kind == entry->problem.kind);
    fuzz_require(again->problem.n == entry->problem.n);
    fuzz_require(memcmp(again->problem.q, entry->problem.q,
                        (size_t)entry->problem.n * sizeof *entry->problem.q) == 0);
    fuzz_require(strcmp(again->name, entry->name) == 0);
    rb_problem_entry_free(again);
    free(text);
}

/* `auto` climbs a long ladder before it gives up on a cone without a solution, which most mutated
 * ones are: one in 16 of them is given to it, chosen by the input's hash, the others to NSGS. */
static inline const rb_solver *fuzz_solver(const rb_problem *p, const uint8_t *bytes, size_t size)
{
    int cheap = p->kind == RB_CONE && rb_hash(RB_HASH_INIT, bytes, size) % 16 != 0;
    return rb_solver_find(cheap ? "nsgs" : "auto");
}

/* An answer called solved is certified again, a ray is checked again. */
static inline void fuzz_solve(const rb_problem *p, const rb_solver *solver, double tol)
{
    double z[FUZZ_MOST_ROWS] = { 0 }, ray[FUZZ_MOST_ROWS] = { 0 };
    unsigned char mode[FUZZ_MOST_ROWS] = { 0 };
    rb_info info = { .mode = mode, .ray = ray };
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = solver;
    opts.tol = tol;
    opts.max_iter = FUZZ_MAX_ITER;
    fuzz_require(rb_solve(p, &opts, z, &info) == RB_OK);

    if (info.outcome == RB_SOLVED) {
        rb_certificate cert;
        fuzz_require(rb_residual(p, z, NULL, &cert) == RB_OK);
        fuzz_require(cert.relative <= tol);
        for (int i = 0; i < p->n; i++) fuzz_require(z[i] - z[i] == 0.0);
    }
    if (info.outcome == RB_RAY) fuzz_require(rb_ray_check(p, ray) > 0);
}

/* Within the input: a caller may hand over text with newlines in it. */
static inline int fuzz_line_exists(int line, const uint8_t *bytes, size_t size)
{
    int last = 1;
    for (size_t i = 0; i < size; i++) last += bytes[i] == '\n';
    return line >= 1 && line <= last;
}

static inline void fuzz_line(rb_problem_format format, const uint8_t *bytes, size_t size,
                             double tol)
{
    rb_problem_entry *entry = NULL;
    rb_error err = { 0 };
    rb_status status = rb_problem_parse(format, (const char *)bytes, size, 1, NULL, &entry, &err);
    fuzz_require((status == RB_OK) == (entry != NULL));
    if (!entry) {
        fuzz_require(err.status == status && err.text[0] != '\0');
        fuzz_require(fuzz_line_exists(err.line, bytes, size));
        return;
    }
    fuzz_require(rb_problem_check(&entry->problem, NULL) == RB_OK);
    if (entry->problem.n <= FUZZ_MOST_ROWS) {
        fuzz_round_trip(format, entry);
        fuzz_solve(&entry->problem, fuzz_solver(&entry->problem, bytes, size), tol);
    }
    rb_problem_entry_free(entry);
}

#endif
