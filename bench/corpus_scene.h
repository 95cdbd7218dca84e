/* A scene: rigid bodies with velocities, contacts between them, ball joints. Internal to bench/.
 *
 * Velocities are (angular, linear) in world axes at the centre of mass. A contact's normal points
 * from body a to body b and its impulse acts on b; body -1 is the fixed ground. */
#ifndef RB_BENCH_SCENE_H
#define RB_BENCH_SCENE_H

#include "corpus.h"

#define GRAVITY 9.81 /* [m/s2] */

typedef struct scene_body {
    double mass;        /* [kg]                                          */
    double radius;      /* half of a typical width [m]                   */
    double com[3];      /* [m]                                           */
    double inv_I[9];    /* inverse inertia, world axes [1 / (kg m2)]     */
    double velocity[6]; /* free velocity of the step: gravity is in it   */
} scene_body;

typedef struct scene_contact {
    int a, b;
    double point[3], normal[3]; /* [m], unit */
    double mu;
    double gap;                            /* >= 0 [m]                                      */
    double normal_prev;                    /* normal impulse of the last step, box friction */
    double slip_prev[2], friction_prev[2]; /* [m/s], [N]: bristle offset */
} scene_contact;

typedef struct scene_joint {
    int a, b;
    double point[3];
} scene_joint;

typedef struct scene {
    int nbody, ncon, njoint;
    int body_cap, con_cap, joint_cap;
    scene_body *body;
    scene_contact *contact;
    scene_joint *joint;
    int want;         /* contacts to make                                   */
    double h;         /* time step [s]                                      */
    int mass_bits;    /* masses spread over 2^mass_bits                     */
    double mu_common; /* >= 0: every contact has it                         */
    double gap_max;   /* 0: every gap is closed [m]                         */
    double jitter;    /* relative spread of sizes and places, 0: all alike  */
    int failed;       /* an allocation failed                               */
    rb_rng rng;
} scene;

/* Fills s with the family's bodies and exactly `contacts` contacts; joints > 0 adds some. */
rb_status scene_make(scene *s, uint64_t seed, int family, int contacts, int joints);
void scene_free(scene *s);

/* Contacts in another order: order[c] is the former index of contact c. */
void scene_permute(scene *s, uint64_t seed, int *order);

/* Every velocity component times 1 + relative * [-1, 1). */
void scene_perturb(scene *s, double relative);

/* ---- what the families are built from ------------------------------------------------------- */

int scene_pick(scene *s, int lo, int hi); /* integer in lo .. hi   */
int scene_chance(scene *s, double probability);
double scene_range(scene *s, double lo, double hi);
void scene_direction(scene *s, double out[3]); /* a random unit vector  */

/* A box (round = 0) or ball at com, of half widths `half`, its axes along the world's. Returns its
 * index, -1 (and s->failed) when out of memory. */
int scene_add_body(scene *s, const double com[3], const double half[3], int round);

/* One contact; nothing happens once the wanted number is reached. */
void scene_add_contact(scene *s, int a, int b, const double point[3], const double normal[3]);

/* k contacts on a patch of the given half width around point: 1 = the point, 2 = a line, 3 or 4 =
 * a rectangle in the plane. */
void scene_add_patch(scene *s, int a, int b, const double point[3], const double normal[3],
                     double half, int k);

void scene_frame(const double n[3], double t1[3], double t2[3]);

/* The families, each until scene.ncon == scene.want. */
void scene_stack(scene *s);
void scene_wedge(scene *s);
void scene_grasp(scene *s);
void scene_pile(scene *s);
void scene_chain(scene *s);

#endif
