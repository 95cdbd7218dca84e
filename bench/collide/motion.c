/* V-Clip from the features of the pose before, by how far the shapes move from query to query: the
 * paths of compare_collide with their motion scaled.
 *
 * usage: motion_collide OUT [TURNS]      writes OUT/vclip.csv and OUT/vclip.md */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

enum { PATHS = 12, ROUNDS = 30, MOST_ROWS = 64 };

static const double motions[] = { 0.0, 0.1, 1.0, 10.0 };
enum { NMOTION = sizeof motions / sizeof motions[0] };

typedef struct score {
    double ns, steps, again; /* again: share of queries that end where they begin [1] */
    double move, turn;       /* mean of the centre of shape 2 [m], and of its axes [rad] */
} score;

/* Along the path, forth and back in turns: every query begins with the features of a pose close by.
 */
static void pass(const path *p, int back, rb_vclip *cache, rb_vclip_result *out)
{
    for (int k = 0; k < POSES; k++) {
        int i = back ? POSES - 1 - k : k;
        rb_shape a = shape_at(p, 0, i), b = shape_at(p, 1, i);
        rb_vclip_query(&a, &b, cache, &out[i]);
    }
}

/* How far shape 2 moves and turns from pose i to the next. */
static void add_motion(const path *p, int i, score *s)
{
    const placed *here = &p->at[i][1], *there = &p->at[i + 1][1];
    double square = 0.0, trace = 0.0;
    for (int k = 0; k < 3; k++) square += pow(there->p[k] - here->p[k], 2.0);
    for (int k = 0; k < 9; k++) trace += pow(there->R[k] - here->R[k], 2.0);
    if (square < 1e-24) return; /* rounding of the same pose */
    s->move += sqrt(square) / (POSES - 1) / PATHS;
    s->turn += sqrt(0.5 * trace) / (POSES - 1) / PATHS;
}

static score measure(const family *f, double motion)
{
    static path p;
    static rb_vclip_result out[POSES];
    score s = { 0 };
    for (int n = 0; n < PATHS; n++) {
        rb_vclip cache = { { 0, 0 } };
        double least = INFINITY;
        make_path(f, 0, motion, 1000u + (uint64_t)n, &p);
        for (int round = 0; round < ROUNDS; round++) {
            double begin = seconds();
            pass(&p, round % 2, &cache, out);
            if (round > 0) least = fmin(least, seconds() - begin);
        }
        s.ns += 1e9 * least / POSES / PATHS;
        for (int i = 0; i < POSES; i++) {
            s.steps += (double)out[i].steps / POSES / PATHS;
            s.again += (out[i].steps == 1) / (double)POSES / PATHS;
            if (i > 0) add_motion(&p, i - 1, &s);
        }
        free_path(&p);
    }
    return s;
}

static int is_polyhedra(const family *f)
{
    return f->type[0] >= RB_GEOM_BOX && f->type[1] >= RB_GEOM_BOX;
}

static void write_tables(FILE *csv, FILE *md, const score *row)
{
    fprintf(csv, "pair,motion,move_m,turn_rad,steps,same_features,ns\n");
    fprintf(md,
            "V-Clip from the features of the pose before, ns per query. Motion: mean from query "
            "to query, of a centre / of the turn.\n\n"
            "| pair | motion | pairs of features a query | queries that keep theirs | ns |\n"
            "|---|---|---|---|---|\n");
    for (int f = 0; f < nfamily; f++) {
        for (int k = 0; k < NMOTION && is_polyhedra(&families[f]); k++, row++) {
            fprintf(csv, "%s,%g,%.2e,%.2e,%.3f,%.3f,%.1f\n", families[f].name, motions[k],
                    row->move, row->turn, row->steps, row->again, row->ns);
            fprintf(md, "| %s | %.2g mm / %.2g mrad | %.2f | %.1f %% | %.0f |\n", families[f].name,
                    1e3 * row->move, 1e3 * row->turn, row->steps, 100.0 * row->again, row->ns);
        }
    }
}

int main(int argc, char **argv)
{
    static score row[MOST_ROWS];
    char name[4096];
    if (argc < 2) {
        fprintf(stderr, "usage: motion_collide OUT [TURNS]\n");
        return 2;
    }
    int turns =
        argc > 2 ? atoi(argv[2]) : 8; /* a machine that others use as well is slow at times */
    for (int turn = 0; turn < turns; turn++) {
        int n = 0;
        for (int f = 0; f < nfamily; f++) {
            for (int k = 0; k < NMOTION && is_polyhedra(&families[f]); k++, n++) {
                double before = turn > 0 ? row[n].ns : INFINITY;
                row[n] = measure(&families[f], motions[k]);
                row[n].ns = fmin(row[n].ns, before);
            }
        }
    }
    snprintf(name, sizeof name, "%s/vclip.csv", argv[1]);
    FILE *csv = fopen(name, "w");
    snprintf(name, sizeof name, "%s/vclip.md", argv[1]);
    FILE *md = fopen(name, "w");
    if (!csv || !md) {
        fprintf(stderr, "motion_collide: %s cannot be written\n", name);
        return 2;
    }
    write_tables(csv, md, row);
    fclose(csv);
    fclose(md);
    return 0;
}
