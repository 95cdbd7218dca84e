/* The five families of scenes. Each adds bodies and contacts until the wanted number of contacts is
 * there; the last patch is cut short, which only makes it less regular. */
#include "corpus_scene.h"

#include <math.h>

#define HALF_WIDTH  0.1 /* half side of a typical box [m] */
#define MAX_COLUMNS 4
#define ARENA       1.0 /* half width of the place where a pile lies [m] */

/* Half widths of a box; all alike where the scene has no jitter. */
static void draw_half(scene *s, double half[3])
{
    for (int k = 0; k < 3; k++)
        half[k] = HALF_WIDTH * (1.0 + s->jitter * scene_range(s, -1.0, 1.0));
}

/* Boxes on boxes in up to four columns, four contacts per face: every face is redundant, and a
 * column of k boxes has k levels through which a load must go. */
void scene_stack(scene *s)
{
    int boxes = (s->want + 3) / 4;
    int columns = scene_pick(s, 1, boxes < MAX_COLUMNS ? boxes : MAX_COLUMNS);
    double top[MAX_COLUMNS] = { 0 }, below[MAX_COLUMNS][2];
    int last[MAX_COLUMNS];
    for (int i = 0; i < columns; i++) last[i] = -1;

    for (int i = 0; i < boxes; i++) {
        int col = i % columns;
        double half[3];
        draw_half(s, half);
        double shift = s->jitter * HALF_WIDTH * scene_range(s, -0.5, 0.5);
        double com[3] = { 3.0 * HALF_WIDTH * col + shift, 0.0, top[col] + half[2] };
        int b = scene_add_body(s, com, half, 0);

        /* the corners of the smaller face carry the load */
        double x = last[col] < 0 ? half[0] : fmin(half[0], below[col][0]);
        double y = last[col] < 0 ? half[1] : fmin(half[1], below[col][1]);
        for (int corner = 0; corner < 4; corner++) {
            double at[3] = { com[0] + (corner & 1 ? x : -x), com[1] + (corner & 2 ? y : -y),
                             top[col] };
            const double up[3] = { 0.0, 0.0, 1.0 };
            scene_add_contact(s, last[col], b, at, up);
        }
        last[col] = b;
        below[col][0] = half[0];
        below[col][1] = half[1];
        top[col] += 2.0 * half[2];
    }
}

/* Bodies one above the other in a groove, each held by both walls. Steep walls and large friction
 * jam: impulses can then carry any self-stress. Parallel walls are the extreme case. */
void scene_wedge(scene *s)
{
    double slope = scene_chance(s, 0.2) ? 0.0 : scene_range(s, 0.0, 2.5);
    if (scene_chance(s, 0.1)) slope = -0.2 * slope; /* walls that close towards the top */
    double length = sqrt(1.0 + slope * slope);
    double left[3] = { 1.0 / length, 0.0, slope / length };
    double right[3] = { -1.0 / length, 0.0, slope / length };
    int below = -1;

    while (s->ncon < s->want && !s->failed) {
        double half[3], com[3] = { 0.0, 0.0, 2.5 * HALF_WIDTH * s->nbody };
        draw_half(s, half);
        com[1] = s->jitter * HALF_WIDTH * scene_range(s, -1.0, 1.0);
        int b = scene_add_body(s, com, half, scene_chance(s, 0.3));
        int k = scene_pick(s, 1, 4);
        double at_left[3], at_right[3], under[3];
        for (int d = 0; d < 3; d++) {
            at_left[d] = com[d] - HALF_WIDTH * left[d];
            at_right[d] = com[d] - HALF_WIDTH * right[d];
            under[d] = com[d] - (d == 2 ? half[2] : 0.0);
        }
        scene_add_patch(s, -1, b, at_left, left, 0.5 * HALF_WIDTH, k);
        scene_add_patch(s, -1, b, at_right, right, 0.5 * HALF_WIDTH, k);
        const double up[3] = { 0.0, 0.0, 1.0 };
        if (below >= 0 && scene_chance(s, 0.6))
            scene_add_patch(s, below, b, under, up, 0.6 * HALF_WIDTH, scene_pick(s, 1, 4));
        below = scene_chance(s, 0.8) ? b : -1;
    }
}

/* One finger of a grasp: a body of its own that moves towards the object along -n. */
static void add_finger(scene *s, int object, const double n[3], double squeeze)
{
    double half[3], com[3], at[3];
    draw_half(s, half);
    for (int d = 0; d < 3; d++) {
        at[d] = s->body[object].com[d] + HALF_WIDTH * n[d];
        com[d] = at[d] + half[0] * n[d];
    }
    int finger = scene_add_body(s, com, half, scene_chance(s, 0.5));
    if (finger < 0) return;
    for (int d = 0; d < 3; d++) s->body[finger].velocity[3 + d] = -squeeze * n[d];
    scene_add_patch(s, object, finger, at, n, 0.3 * HALF_WIDTH, scene_pick(s, 1, 4));
}

/* Objects held by two to six fingers with a squeezing velocity; objects of one problem may touch.
 */
void scene_grasp(scene *s)
{
    int before = -1;
    while (s->ncon < s->want && !s->failed) {
        double half[3], com[3] = { 0.0, 2.0 * HALF_WIDTH * s->nbody, 0.5 };
        draw_half(s, half);
        int object = scene_add_body(s, com, half, scene_chance(s, 0.3));
        int fingers = scene_pick(s, 2, 6), opposed = scene_chance(s, 0.6);
        double squeeze = scene_range(s, 0.01, 1.0), n[3] = { 1.0, 0.0, 0.0 };
        for (int i = 0; i < fingers && !s->failed; i++) {
            if (i > 0 && opposed && (i & 1))
                for (int d = 0; d < 3; d++) n[d] = -n[d]; /* antipodal to the one before */
            else if (i > 0 || s->jitter > 0.0)
                scene_direction(s, n);
            add_finger(s, object, n, squeeze * scene_range(s, 0.5, 1.0));
        }
        if (before >= 0 && scene_chance(s, 0.5) && !s->failed) {
            const double along[3] = { 0.0, 1.0, 0.0 };
            double at[3] = { com[0], com[1] - HALF_WIDTH, com[2] };
            scene_add_patch(s, before, object, at, along, 0.5 * HALF_WIDTH, scene_pick(s, 1, 4));
        }
        before = object;
    }
}

/* The nearest earlier body, or the ground; a plausible neighbour in a pile. */
static int pile_partner(scene *s, int b)
{
    if (b == 0 || scene_chance(s, 0.3)) return -1;
    int best = 0;
    double best_distance2 = INFINITY;
    int first = b > 8 ? scene_pick(s, 0, b - 8) : 0, beyond = first + 8 < b ? first + 8 : b;
    for (int a = first; a < beyond; a++) {
        double distance2 = 0.0;
        for (int d = 0; d < 3; d++) {
            double apart = s->body[b].com[d] - s->body[a].com[d];
            distance2 += apart * apart;
        }
        if (distance2 < best_distance2) {
            best_distance2 = distance2;
            best = a;
        }
    }
    return best;
}

/* From a to b along their centres, tilted a little as between the faces of boxes. */
static void pile_normal(scene *s, int a, int b, double n[3])
{
    double tilt[3], length2 = 0.0;
    scene_direction(s, tilt);
    for (int d = 0; d < 3; d++) {
        n[d] = a < 0 ? (d == 2 ? 1.0 : 0.0) : s->body[b].com[d] - s->body[a].com[d];
        length2 += n[d] * n[d];
    }
    double length = sqrt(length2);
    for (int d = 0; d < 3; d++) n[d] = n[d] / length + s->jitter * tilt[d];
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int d = 0; d < 3; d++) n[d] /= length;
}

/* Boxes and balls at random places; each new patch joins a random body with a neighbour or with
 * the ground. */
void scene_pile(scene *s)
{
    int bodies = 1 + s->want / scene_pick(s, 2, 4);
    for (int b = 0; b < bodies && !s->failed; b++) {
        double half[3], com[3];
        draw_half(s, half);
        com[0] = scene_range(s, -ARENA, ARENA);
        com[1] = scene_range(s, -ARENA, ARENA);
        com[2] = half[2] + scene_range(s, 0.0, ARENA);
        scene_add_body(s, com, half, scene_chance(s, 0.4));
    }
    for (int i = 0; s->ncon < s->want && !s->failed; i++) {
        int b = i < bodies ? i : scene_pick(s, 0, bodies - 1);
        int a = pile_partner(s, b);
        double n[3], at[3];
        pile_normal(s, a, b, n);
        for (int d = 0; d < 3; d++) at[d] = s->body[b].com[d] - s->body[b].radius * n[d];
        scene_add_patch(s, a, b, at, n, 0.5 * HALF_WIDTH, scene_pick(s, 1, 4));
    }
}

/* A row of bodies pressed against each other, straight or arched, its ends free or against walls,
 * in the air or lying on the ground. */
void scene_chain(scene *s)
{
    double arch = scene_chance(s, 0.5) ? scene_range(s, -0.3, 0.3) : 0.0;
    int walls = scene_pick(s, 0, 2), lying = scene_chance(s, 0.5), k = scene_pick(s, 1, 4);
    double length = sqrt(1.0 + arch * arch);
    double left[3] = { 1.0 / length, 0.0, arch / length };
    double right[3] = { 1.0 / length, 0.0, -arch / length };
    int before = -1;

    while (s->ncon < s->want && !s->failed) {
        double half[3], com[3] = { 2.0 * HALF_WIDTH * s->nbody, 0.0, HALF_WIDTH };
        draw_half(s, half);
        int b = scene_add_body(s, com, half, scene_chance(s, 0.3));
        double at[3] = { com[0] - HALF_WIDTH, 0.0, com[2] }, under[3] = { com[0], 0.0, 0.0 };
        const double up[3] = { 0.0, 0.0, 1.0 };
        if (before >= 0 || walls > 0)
            scene_add_patch(s, before, b, at, b & 1 ? right : left, 0.5 * HALF_WIDTH, k);
        if (lying) scene_add_patch(s, -1, b, under, up, 0.5 * HALF_WIDTH, scene_pick(s, 1, 2));
        before = b;

        /* the far wall, where two or three more contacts are left */
        if (walls == 2 && s->want - s->ncon <= k) {
            double end[3] = { com[0] + HALF_WIDTH, 0.0, com[2] };
            scene_add_patch(s, b, -1, end, left, 0.5 * HALF_WIDTH, k);
        }
    }
}
