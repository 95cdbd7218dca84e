#include "report.h"

#include <math.h>
#include <string.h>

enum { NAME_WIDTH = 36 };

void report_name(FILE *out, const char *name, int most)
{
    int width = 0;
    for (const char *c = name; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if ((byte & 0xC0) != 0x80 && ++width > most) break;
        putc(byte < 0x20 || byte == 0x7F ? '?' : byte, out);
    }
    for (; width < most; width++) putc(' ', out);
}

static void put_seconds(FILE *out, double seconds)
{
    if (seconds < 1e-3)
        fprintf(out, "%8.1f us", seconds * 1e6);
    else if (seconds < 1.0)
        fprintf(out, "%8.2f ms", seconds * 1e3);
    else
        fprintf(out, "%8.2f s ", seconds);
}

void report_head(FILE *out, const char *size_name)
{
    fprintf(out, "%-*s %8s  %-13s %-7s %9s %10s %11s  %s\n", NAME_WIDTH, "name", size_name,
            "solver", "status", "relative", "iterations", "time", "path");
}

void report_row(FILE *out, const answer *a)
{
    const rb_problem *p = &a->entry->problem;
    report_name(out, a->entry->name, NAME_WIDTH);
    fprintf(out, " %8d  %-13s ", p->kind == RB_CONE ? p->nc : p->n, a->solver->name);
    if (a->status != RB_OK) {
        fprintf(out, "refused: %s\n", a->error.text);
        return;
    }
    fprintf(out, "%-7s %9.1e %10d ", outcome_name(a->info.outcome), a->info.cert.relative,
            a->info.iterations);
    put_seconds(out, a->seconds);
    fprintf(out, "  %s\n", a->info.path);
    if (a->info.bad_row >= 0)
        fprintf(out, "    row %d contradicts the other equalities\n", a->info.bad_row);
}

void tally_add(tally *t, const answer *a)
{
    int solved = a->status == RB_OK && a->info.outcome == RB_SOLVED;
    t->count++;
    t->solved += solved;
    t->ray += a->status == RB_OK && a->info.outcome == RB_RAY;
    t->failed += a->status != RB_OK || a->info.outcome == RB_FAILED;
    t->seconds += a->seconds;
    if (solved) t->worst = fmax(t->worst, a->info.cert.relative);
    if (strcmp(a->entry->expected, "solvable") == 0) {
        t->solvable++;
        t->solvable_solved += solved;
    } else if (*a->entry->expected) {
        t->unsolvable++;
        t->unsolvable_solved += solved;
    }
}

void report_summary(FILE *out, const tally tallies[REPORT_MAX_SOLVERS])
{
    fprintf(out, "\n%-13s %8s %7s %7s %7s %15s %11s", "solver", "problems", "solved", "ray",
            "failed", "worst certified", "time");
    int known = 0;
    for (int k = 0; rb_solvers[k] && k < REPORT_MAX_SOLVERS; k++)
        known |= tallies[k].solvable || tallies[k].unsolvable;
    fputs(known ? "  known solvable: solved  known unsolvable: called solved\n" : "\n", out);
    for (int k = 0; rb_solvers[k] && k < REPORT_MAX_SOLVERS; k++) {
        const tally *t = &tallies[k];
        if (!t->count) continue;
        fprintf(out, "%-13s %8d %7d %7d %7d %15.1e ", rb_solvers[k]->name, t->count, t->solved,
                t->ray, t->failed, t->worst);
        put_seconds(out, t->seconds);
        if (known)
            fprintf(out, "  %11d of %-8d  %17d of %d", t->solvable_solved, t->solvable,
                    t->unsolvable_solved, t->unsolvable);
        putc('\n', out);
    }
}
