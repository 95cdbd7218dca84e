/* Seeded contact problems: a scene (bodies and contacts) and the complementarity problem of one
 * time step of it, in any of the forms the solvers take. A problem is a pure function of its seed
 * and options: same bits on every machine, because nothing but + - * / and sqrt makes it.
 *
 * Scenes: redundant box stacks, wedges, grasps, random piles and chains; 1 contact and up, mass
 * ratios up to 2^20, friction 0 .. 1.2. Uses the public headers only. */
#ifndef RB_BENCH_CORPUS_H
#define RB_BENCH_CORPUS_H

#include "rattleback/solve.h"

typedef enum rb_corpus_family {
    RB_CORPUS_STACK = 0, /* box columns, four contacts per face                                */
    RB_CORPUS_WEDGE,     /* bodies between two inclined or parallel walls                      */
    RB_CORPUS_GRASP,     /* objects squeezed by two to six moving fingers                      */
    RB_CORPUS_PILE,      /* a random contact graph of boxes and spheres                        */
    RB_CORPUS_CHAIN,     /* rows and arches of bodies, ends free or jammed                     */
    RB_CORPUS_FAMILIES
} rb_corpus_family;

typedef enum rb_corpus_form {
    RB_CORPUS_CONE = 0, /* exact cones, W dense                                                */
    RB_CORPUS_CONE_BSR, /* the same, W block sparse                                            */
    RB_CORPUS_CONE_OP,  /* the same, W as J Minv J'                                            */
    RB_CORPUS_CONE_2D,  /* pairs (n, t1)                                                       */
    RB_CORPUS_ST4_V,    /* Stewart-Trinkle, 4 directions, velocity level (Anitescu-Potra)      */
    RB_CORPUS_ST8_V,    /* 8 directions                                                        */
    RB_CORPUS_ST4_P,    /* position level, gaps >= 0                                           */
    RB_CORPUS_ST8_P,
    RB_CORPUS_PHANTOM,   /* phantom inertia and relaxation, pure LCP                           */
    RB_CORPUS_BOX,       /* box friction, bounds from a previous normal impulse                */
    RB_CORPUS_MIXED_ST,  /* ball joints as free variables and st4-v                            */
    RB_CORPUS_MIXED_BOX, /* ball joints as free variables and box friction                     */
    RB_CORPUS_FORMS
} rb_corpus_form;

typedef struct rb_corpus_opts {
    int family;       /* rb_corpus_family, -1: from the seed                                   */
    int form;         /* rb_corpus_form, -1: from the seed                                     */
    int contacts;     /* exact number of contacts, 0: from the seed, 1 .. 64                   */
    int directions;   /* even number of friction directions, 0: as the form says               */
    double perturb;   /* relative change of every free velocity, 0: none                       */
    uint64_t permute; /* != 0: contacts in another order, a permutation drawn from this seed   */
} rb_corpus_opts;

struct rb_corpus_rows; /* bodies and Jacobian rows, bench/corpus_rows.h */

typedef struct rb_corpus_problem {
    rb_problem problem; /* what a solver takes; points into memory owned here                  */
    char name[64];      /* "stack-st4-v:000123"                                                */
    uint64_t seed;
    rb_corpus_opts opts; /* with family, form, contacts and directions filled in               */
    int solvable;        /* 1: theory says that a solution exists                              */
    int velocity_level;  /* 1: no gaps; always solvable                                        */
    int nc;              /* contacts                                                           */
    int *order;          /* contact c of this problem is contact order[c] of the scene (nc)    */
    double *mu;          /* friction coefficients                                   (nc)       */
    double *W;           /* 3 nc compliance, NULL in the block sparse and operator forms       */
    double *T;           /* phantom only: inverse of the relaxed tangential block (2nc x 2nc)  */
    double *offset_t;    /* phantom only: tangential q + d                          (2 nc)     */
    struct rb_corpus_rows *rows;
    void *blocks; /* everything allocated, freed by rb_corpus_free                             */
} rb_corpus_problem;

/* Everything drawn from the seed, nothing changed. */
rb_corpus_opts rb_corpus_opts_default(void);

/* RB_OK, RB_NOMEM (nothing to free) or RB_BAD_INPUT (an option out of range). */
rb_status rb_corpus_make(uint64_t seed, const rb_corpus_opts *opts, rb_corpus_problem *out);
void rb_corpus_free(rb_corpus_problem *p);

/* The same problem with every free velocity changed by up to `relative`: warm-start runs. The
 * change is made to the motion of the bodies, not to q itself, so that a velocity-level problem
 * stays solvable. */
rb_status rb_corpus_perturb(const rb_corpus_problem *p, double relative, rb_corpus_problem *out);

/* The same problem with its contacts in another order. */
rb_status rb_corpus_permute(const rb_corpus_problem *p, uint64_t seed, rb_corpus_problem *out);

/* Contact impulses (n, t1, t2) of an answer z, in the scene's order of contacts    (3 nc) [N s] */
rb_status rb_corpus_impulses(const rb_corpus_problem *p, const double *z, double *impulse);

/* Contact velocities (n, t1, t2) after the impulses of z, in the scene's order     (3 nc) [m/s].
 * Computed through the bodies, v+ = vf + Minv J' p, so every form is measured alike. */
rb_status rb_corpus_velocities(const rb_corpus_problem *p, const double *z, double *velocity);

/* Largest entry of q, at least the speed that gravity gives in one step [m/s]. */
double rb_corpus_speed(const rb_corpus_problem *p);

/* "stack", "st4-v", ...; NULL for a number out of range. */
const char *rb_corpus_family_name(int family);
const char *rb_corpus_form_name(int form);

/* -1 where there is none of that name. */
int rb_corpus_family_find(const char *name);
int rb_corpus_form_find(const char *name);

#endif
