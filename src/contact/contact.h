/* From gaps to complementarity problems: the constraints of one step.
 *
 * rb_constraints_build writes contacts, joint limits, dry joint friction and equalities as rows
 * u = J v; rb_island_open extracts one independent problem; a formulation (formulations/) writes
 * an island as rb_problem and reads the impulses back. Nothing here moves the state.
 * Theory: docs/theory/contact.md, equations (F.*). */
#ifndef RB_CONTACT_CONTACT_H
#define RB_CONTACT_CONTACT_H

#include "rattleback/collide.h"
#include "rattleback/dynamics.h"
#include "rattleback/step.h"

/* ---- constraints ------------------------------------------------------------------------------
 */

/* As in rb_touch_id. */
typedef enum rb_constraint_kind {
    RB_CONSTRAINT_CONTACT = 0, /* rows n, t1, t2 (condim 1: n), torsion (4), roll t1, roll t2 (6) */
    RB_CONSTRAINT_LIMIT,       /* joint or tendon limit: one row, u >= 0 opens                    */
    RB_CONSTRAINT_DRY,         /* dry friction of a dof or tendon: one row, |p| <= bound          */
    RB_CONSTRAINT_EQUALITY     /* bilateral rows                                                  */
} rb_constraint_kind;

typedef struct rb_constraint {
    int kind;         /* rb_constraint_kind                                                   */
    rb_touch_id id;   /* identity from step to step                                           */
    int object;       /* contact index, joint, dof, tendon (njnt_all + t) or equality             */
    int row, nrow;    /* its rows in the set                                                  */
    int dof, ndof;    /* its dofs in the set: all ancestors of what it touches, ascending     */
    ptrdiff_t block;  /* its J in the set, nrow x ndof row major                              */
    int single_entry; /* 1: one row, and all of it but its last entry is 0                    */
    int island;       /* -1: touches nothing that can move                                    */
    int condim;       /* contacts: 1, 3, 4, 6                                                 */
    rb_material material; /* of the pair; no NAN is left where a number is needed                 */
    const double *polygon; /* friction polygon in the basis (t1, t2), x mirrored where
                              polygon_side is -1; NULL: none                    (npolygon x 2)    */
    int npolygon, polygon_side;
    int inner;       /* contacts: 1: overlap of a mechanism with itself (F.7)                 */
    int face, nface; /* contacts: the first of its face, and how many it has (F.6)             */
    double gap;      /* [m] or [rad], > 0 open; of inner contacts above their floor          */
    double floor;    /* inner contacts: where their gap may end, (F.8) [m]; else 0           */
    double bound;    /* RB_CONSTRAINT_DRY: h times the friction force [N s]                  */
} rb_constraint;

/* All rows of a step; arrays from the arena of rb_data. */
typedef struct rb_constraints {
    int n;            /* constraints: contacts, limits, dry friction, equalities                */
    int ncontact;     /* the first ones                                                         */
    rb_constraint *c; /*                                                        (n)             */
    int nrow;
    int *dof;      /*                                                        (c->dof, ndof)  */
    double *J;     /*                                                        (c->block)      */
    double *frame; /* world axes n, t1, t2 of contacts, as rows              (ncontact x 9)  */
    double *point; /* where the contact acts, world                          (ncontact x 3)  */
    double *acts;  /* where it acts on either body, world                    (ncontact x 6)  */
    double *drive; /* velocity along the row of what is moved by the caller: mocap bodies,
                      conveyors; u = J v + drive                             (nrow)          */
    double *error; /* equalities: closure error; others 0                    (nrow)          */
    int nisland;
    int *island_start; /*                                                        (nisland + 1)   */
    int *tree_island;  /* island of each tree, -1: none                          (ntree)         */
    int *island_order; /* constraints by island, in their own order              (n)             */
} rb_constraints;

/* `contacts` as rb_collide wrote them. Limits that motion at the present velocity changed by at
 * most dv_max could close within h are rows too. `start`: the set at the start of the step, which
 * knows the overlap of the model; NULL: this is it. Needs kinematics, velocity, frames. */
rb_status rb_constraints_build(const rb_model *m, rb_data *d, const rb_step_opts *o, double h,
                               double dv_max, const rb_contact *contacts, int ncontact,
                               const rb_constraints *start, rb_constraints *out);

/* u = J v + drive for all rows. */
void rb_constraints_velocity(const rb_constraints *set, const double *v, double *u);

/* f += J' p of all rows: generalised impulses. */
void rb_constraints_force(const rb_constraints *set, const double *p, double *f);

/* 1: the impulses p of the rows of c are inside its cone or bounds, where nothing slides. */
int rb_constraint_holds(const rb_constraint *c, const double *p);

/* The material of a pair (F.1): the larger coefficient, the priority, an explicit pair, what is
 * said of the two, the overrides of the options. *grain_geom is the geom in whose frame the grain
 * is. Returns condim. */
int rb_pair_material(const rb_model *m, int geom1, int geom2, const rb_step_opts *o,
                     rb_material *out, int *grain_geom);

/* ---- islands ----------------------------------------------------------------------------------
 */

/* One independent problem: constraints 0..n-1 of the island, rows renumbered 0..nrow-1. */
typedef struct rb_island {
    int n, nrow;
    double h;
    const rb_constraint **c; /*                                                        (n)        */
    int *row;                /* first row of each constraint within the island         (n)        */
    rb_matrix W;             /* J M^-1 J': dense, or where there are many triples an operator, or
                                blocks of 3 where all are plain contacts                          */
    const double *G; /* rb_island_open_some: W = G G' instead, W.dense is NULL      (nrow x nG)   */
    int nG;
    /* filled by the stepper */
    double *u;        /* velocity of the rows that the problem corrects: free velocity and what
                         gap, restitution or re-linearisation add                      (nrow)     */
    double *bias;     /* the part of u that gap, restitution and re-linearisation added (nrow)    */
    double *u_before; /* velocity of the rows before the step                          (nrow)     */
    double weight;    /* impulse that carries the island for one step, h g times its mass [N s]   */
    double *p_prev;   /* impulse of the row one step before, 0: new                    (nrow)     */
    unsigned char *mode_prev; /* rb_mode                                               (n)        */
    double *guess; /* where a solver may begin: p_prev, or the answer before a repair   (nrow) */
    int again;     /* it is the latter                                                            */
    int rough;     /* rb_mixed: digits beyond the tolerance do not count                          */
    unsigned char *left; /* cone: 1: left out of the problem, p = 0; NULL: none are    (n)        */
    /* the answer */
    double *p;           /* impulses                                                   (nrow)     */
    unsigned char *mode; /*                                                            (n)        */
} rb_island;

/* All arrays from the arena; u, bias, u_before, p_prev, guess, mode_prev zero. Needs rb_mass_factor
 * (with implicit terms on the diagonal of M where there are some). */
rb_status rb_island_open(const rb_model *m, const rb_data *d, const rb_constraints *set, int island,
                         double h, rb_arena *arena, rb_island *out);

/* The same with a dense W in the room of the caller, nrow x nrow; NULL: as above. */
rb_status rb_island_open_in(const rb_model *m, const rb_data *d, const rb_constraints *set,
                            int island, double h, double *W, rb_arena *arena, rb_island *out);

/* Nothing but contacts of one or three rows, limits and dry friction, each of which is one triple
 * of a cone problem. */
int rb_island_is_triples(const rb_constraints *set, int island);

/* The same with W as an operator alone where contacts crowd (rb_operator_crowd), and where there
 * are `least` triples of which some are no plain contacts. */
rb_status rb_island_open_crowd(const rb_model *m, const rb_data *d, const rb_constraints *set,
                               int island, double h, int least, rb_arena *arena, rb_island *out);

/* The same with a dense W that is known; it is not copied. */
rb_status rb_island_open_with(const rb_constraints *set, int island, double h, const double *W,
                              rb_arena *arena, rb_island *out);

/* The same without the constraints of the island that `left` marks, in the order of island_order;
 * dense, or as G where there are many more rows than freedoms. */
typedef struct rb_some {
    double *W; /* room for the matrix, or G; NULL: from the arena                (nrow x nrow)    */
    int known; /* 1: it is there                                                                  */
} rb_some;

rb_status rb_island_open_some(const rb_model *m, const rb_data *d, const rb_constraints *set,
                              int island, const unsigned char *left, double h, const rb_some *some,
                              rb_arena *arena, rb_island *out);

/* Rows and columns of what cannot move along a contact become zero (F.22); for formulations whose
 * problems are solved by pivoting. After u is filled. */
rb_status rb_island_drop_immovable(rb_island *island, rb_arena *arena);

/* ---- formulations ------------------------------------------------------------------------------
 */

/* A problem as a formulation wrote it. */
typedef struct rb_written {
    rb_problem problem;
    double *z;           /* guess in, answer out                                                 */
    unsigned char *mode; /* per row (LCP, box) or contact (cone)                                  */
    void *context;       /* the formulation's own                                                 */
} rb_written;

struct rb_formulation {
    const char *name;    /* "cone": the command-line word                                         */
    const char *summary; /* one line for --help                                                   */
    unsigned kind;       /* RB_LCP, RB_BOX or RB_CONE                                             */
    int push_out;  /* 1: overlap at the start is pushed out by the velocity, as printed      */
    int ahead;     /* 1: rows are first taken at q + h v                                    */
    int nonlinear; /* 1: geometry is evaluated again at the new position until it converges */
    int relaxes;   /* 1: normals are compliant where the material has a relaxation          */
    int lags;      /* 1: friction is bounded by the normal impulse of the step before       */
    rb_status (*write)(const rb_island *island, const rb_step_opts *o, rb_arena *arena,
                       rb_written *out);
    void (*read)(const rb_written *written, rb_island *island);
};

extern const rb_formulation rb_formulation_cone;
extern const rb_formulation rb_formulation_stewart_trinkle;
extern const rb_formulation rb_formulation_stewart_trinkle_nonlinear;
extern const rb_formulation rb_formulation_anitescu_potra;
extern const rb_formulation rb_formulation_dart;
extern const rb_formulation rb_formulation_jain;
extern const rb_formulation rb_formulation_phantom;
extern const rb_formulation rb_formulation_box;
extern const rb_formulation rb_formulation_hybrid_friction;

#endif
