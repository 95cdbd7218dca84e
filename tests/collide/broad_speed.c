/* The broad phase alone: pairs of n boxes by the grid and by the tree, a jittered lattice with few
 * pairs and a random heap with many. Processor time of the quickest round.
 *
 * usage: broad_collide OUT [ROUNDS]      writes OUT/broad.csv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collide/broad.h"

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void place(rb_aabb *box, int n, int heap)
{
    rb_rng rng = rb_rng_make(3);
    int side = (int)ceil(cbrt(n) - 1e-9);
    for (int i = 0; i < n; i++) {
        int cell[3] = { i % side, i / side % side, i / side / side };
        for (int k = 0; k < 3; k++) {
            double c = cell[k] + 0.2 * rb_rng_uniform(&rng, -1.0, 1.0), half = 0.35;
            if (heap) {
                c = rb_rng_uniform(&rng, 0.0, side);
                half = rb_rng_uniform(&rng, 0.2, 0.55);
            }
            box[i].lo[k] = c - half;
            box[i].hi[k] = c + half;
        }
    }
}

/* Milliseconds; *pairs: how many. */
static double measure(const rb_aabb *box, int n, int tree, int rounds, rb_arena *arena, int *pairs)
{
    double best = INFINITY;
    for (int r = 0; r < rounds; r++) {
        rb_mark mark = rb_arena_mark(arena);
        int *first = NULL, *partner, done = 1;
        double begin = milliseconds();
        if (tree) {
            rb_broad broad;
            if (!rb_broad_make(&broad, n, box, arena)) exit(1);
            if (!rb_broad_pairs(&broad, arena, &first, &partner)) exit(1);
        } else if (!rb_grid_pairs(n, box, arena, &first, &partner, &done)) {
            exit(1);
        }
        best = fmin(best, milliseconds() - begin);
        *pairs = done ? first[n] : -1;
        rb_arena_reset(arena, mark);
    }
    return best;
}

int main(int argc, char **argv)
{
    enum { MOST = 100000 };
    char name[4096];
    static rb_aabb box[MOST];
    if (argc < 2) {
        fprintf(stderr, "usage: broad_collide OUT [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 40;
    snprintf(name, sizeof name, "%s/broad.csv", argv[1]);
    FILE *csv = fopen(name, "w");
    rb_arena *arena = rb_arena_new(NULL, (size_t)64 << 20);
    if (!csv || !arena) return 2;
    fprintf(csv, "boxes,scene,way,ms,pairs\n");
    for (int n = 100; n <= MOST; n *= 10) {
        for (int heap = 0; heap < 2; heap++) {
            place(box, n, heap);
            for (int tree = 0; tree < 2; tree++) {
                int pairs = 0;
                double ms = measure(box, n, tree, rounds, arena, &pairs);
                const char *scene = heap ? "heap" : "lattice", *way = tree ? "tree" : "grid";
                printf("%6d boxes, %-7s %s  %8.3f ms, %d pairs\n", n, scene, way, ms, pairs);
                fprintf(csv, "%d,%s,%s,%.4f,%d\n", n, scene, way, ms, pairs);
            }
        }
    }
    rb_arena_free(arena);
    return fclose(csv) != 0;
}
