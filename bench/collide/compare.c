/* Pairs of shapes on paths of close poses, by every engine that is there, in one run: nanoseconds
 * of the quickest round, and how far its gaps are from ours. Two ratios: of the quickest other
 * engine that gives the same kind of answer (a distance while apart, a manifold while touching) to
 * ours, and of the quickest of all, which may tell less: yes or no, or a depth without points.
 *
 * usage: compare_collide OUT [ROUNDS]      writes OUT/collide.csv and OUT/collide.md */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

static const side *const sides[] = {
    &side_ours,    &side_ours_vclip, &side_ours_warm,
#ifdef WITH_CCD
    &side_ccd_gjk, &side_ccd_mpr,
#endif
#ifdef WITH_BULLET
    &side_bullet,
#endif
#ifdef WITH_MUJOCO
    &side_mujoco,
#endif
};
enum { NSIDE = sizeof sides / sizeof sides[0], OURS = 3 };

typedef struct score {
    double ns, worst; /* worst: difference of a gap from ours [m] */
    long answers, refused, queries;
} score;

enum { PATHS = 12 };

static void time_family(const family *f, int touching, int rounds, score *s)
{
    static path p;
    double total[NSIDE] = { 0.0 };
    for (int n = 0; n < PATHS; n++) {
        make_path(f, touching, 1.0, 1000u + (uint64_t)n, &p);
        void *handle[NSIDE];
        double least[NSIDE], gap[POSES];
        for (int k = 0; k < NSIDE; k++) {
            handle[k] = sides[k]->make(&p);
            least[k] = INFINITY;
        }
        for (int round = 0; round < rounds; round++) {
            for (int k = 0; k < NSIDE; k++) {
                if (!handle[k]) continue;
                double begin = seconds(), sum = 0.0;
                for (int i = 0; i < POSES; i++) sum += sides[k]->query(handle[k], i);
                volatile double keep = sum;
                (void)keep;
                least[k] = fmin(least[k], seconds() - begin);
            }
        }
        for (int k = 0; k < NSIDE; k++) {
            if (!handle[k]) continue;
            total[k] += 1e9 * least[k] / POSES / PATHS;
            s[k].ns = total[k];
            for (int i = 0; i < POSES; i++) {
                double x = sides[k]->query(handle[k], i);
                if (k == 0) gap[i] = x;
                s[k].queries++;
                if (isnan(x)) {
                    s[k].refused++;
                    continue;
                }
                s[k].answers++;
                s[k].worst = fmax(s[k].worst, fabs(x - gap[i]));
            }
            sides[k]->release(handle[k]);
        }
        free_path(&p);
    }
}

static void write_rows(FILE *csv, FILE *md, const family *f, int touching, const score *s)
{
    double best = INFINITY, alike = INFINITY;
    fprintf(md, "| %s |", f->name);
    for (int k = 0; k < NSIDE; k++) {
        if (s[k].queries == 0) {
            fprintf(md, " |");
            continue;
        }
        const char *does = sides[k]->does[touching];
        fprintf(csv, "%s,%s,%s,%s,%.1f,%.2e,%ld,%ld\n", f->name, touching ? "touching" : "apart",
                sides[k]->name, does, s[k].ns, s[k].worst, s[k].queries, s[k].refused);
        fprintf(md, " %.0f |", s[k].ns);
        if (k < OURS) continue;
        best = fmin(best, s[k].ns);
        if (strcmp(does, touching ? "manifold" : "distance") == 0) alike = fmin(alike, s[k].ns);
    }
    double ours = s[0].ns;
    for (int k = 1; k < OURS; k++) {
        if (s[k].queries > 0) ours = fmin(ours, s[k].ns);
    }
    if (alike < INFINITY)
        fprintf(md, " %.2f | %.2f |\n", alike / ours, best / ours);
    else
        fprintf(md, " | %.2f |\n", best / ours);
    printf("%-22s %-9s", f->name, touching ? "touching" : "apart");
    for (int k = 0; k < NSIDE; k++) {
        if (s[k].queries > 0) printf("  %s %.0f ns (%.0e)", sides[k]->name, s[k].ns, s[k].worst);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char name[4096];
    if (argc < 2) {
        fprintf(stderr, "usage: compare_collide OUT [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 15;
    const char *only = argc > 3 ? argv[3] : "";
    snprintf(name, sizeof name, "%s/collide.csv", argv[1]);
    FILE *csv = fopen(name, "w");
    snprintf(name, sizeof name, "%s/collide.md", argv[1]);
    FILE *md = fopen(name, "w");
    if (!csv || !md) {
        fprintf(stderr, "compare_collide: %s cannot be written\n", name);
        return 2;
    }
    fprintf(csv, "pair,poses,engine,answer,ns,worst_difference_m,queries,without_answer\n");
    for (int touching = 0; touching < 2; touching++) {
        fprintf(md, "\n%s, ns per query:\n\n| pair |",
                touching ? "Overlapping by up to 1 mm" : "Apart");
        for (int k = 0; k < NSIDE; k++) {
            fprintf(md, " %s%s%s |", sides[k]->name, sides[k]->does[touching][0] ? ": " : "",
                    sides[k]->does[touching]);
        }
        fprintf(md,
                " best other with the same kind of answer / ours | best of all others / ours |\n");
        fprintf(md, "|---|");
        for (int k = 0; k < NSIDE + 2; k++) fprintf(md, "---|");
        fprintf(md, "\n");
        for (int f = 0; f < nfamily; f++) {
            score s[NSIDE];
            if (!strstr(families[f].name, only)) continue;
            memset(s, 0, sizeof s);
            time_family(&families[f], touching, rounds, s);
            write_rows(csv, md, &families[f], touching, s);
        }
    }
    fclose(csv);
    fclose(md);
    return 0;
}
