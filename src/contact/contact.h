/* From gaps to complementarity problems: what holds and what may yield in one step.
 *
 * rb_constraints_build turns contacts, joint limits, dry joint friction and equalities into rows
 * u = J v; rb_island_* cut them into independent problems; a formulation (one file each, table.c)
 * writes an island as rb_problem and reads the impulses back. Nothing here moves the state.
 * Theory: docs/theory/contact.md, equations (F.*). */
#ifndef RB_CONTACT_CONTACT_H
#define RB_CONTACT_CONTACT_H

#include "rattleback/step.h"

typedef enum rb_constraint_kind {
    RB_CONSTRAINT_CONTACT =
        0,                 /* rows n, t1, t2 (condim 1: n only), torsion (4), roll1, roll2 (6) */
    RB_CONSTRAINT_LIMIT,   /* joint or tendon limit: one row, u >= 0 opens                     */
    RB_CONSTRAINT_DRY,     /* dry friction of a dof or tendon: one row, |p| <= bound           */
    RB_CONSTRAINT_EQUALITY /* bilateral rows                                                   */
} rb_constraint_kind;

typedef struct rb_constraint {
    int kind;
    int object;    /* contact index, joint, dof, tendon or equality                            */
    int row, nrow; /* its rows in the set                                                      */
    int island;
    int condim;   /* contacts: 1, 3, 4, 6                                                     */
    uint64_t key; /* identity from step to step: warm start, previous impulses                */
    rb_material material; /* of the pair, overrides applied, no NAN left where a number is needed */
    double gap;   /* [m] or [rad], > 0 open                                                   */
    double bound; /* RB_CONSTRAINT_DRY: h times the friction force [N s]                      */
    double restitution;
} rb_constraint;

/* All rows of a step; arrays from the arena of rb_data. */
typedef struct rb_constraints {
    int n;            /* constraints                                                             */
    rb_constraint *c; /*                                                             (n)         */
    int nrow;
    int *start, *dof; /* CSR of J over dofs, ascending                          (nrow+1), (nnz)  */
    double *J;        /*                                                             (nnz)       */
    double *axis;     /* world axes of contact rows n, t1, t2: 9 per contact         (9 ncontact) */
    double *drive;    /* velocity of prescribed motion along the row: mocap bodies, conveyors;
                         u = J v + drive                                             (nrow)      */
    double *error;    /* equalities: closure error; others 0                         (nrow)      */
    double *p_prev;   /* impulse of the same row one step before, 0 if new           (nrow)      */
    double *u_prev;   /* slip of the same row one step before, 0 if new              (nrow)      */
    unsigned char *mode_prev; /* rb_mode of the constraint one step before             (n) */
    int nisland;
    int *island_start; /* constraints sorted by island                                (nisland+1) */
    int *island_order; /* indices into c                                              (n)         */
} rb_constraints;

/* `contacts` as rb_collide wrote them; needs kinematics, velocity, frames. */
rb_status rb_constraints_build(const rb_model *m, rb_data *d, const rb_step_opts *o, double h,
                               const rb_contact *contacts, int ncontact, rb_constraints *out,
                               rb_error *err);

/* What a formulation sees of one island: rows renumbered 0..nrow-1, constraints 0..n-1. */
typedef struct rb_island {
    int n, nrow;
    const rb_constraint **c;
    int *row;         /* first row of each constraint within the island              (n)         */
    double *u;        /* velocity of the rows without impulses, drive included       (nrow)      */
    double *u_before; /* velocity of the rows before the step (restitution)          (nrow)      */
    double *bias;     /* added to u by the stepper: gap / h, re-linearisation, e u_before (nrow) */
    double *p_prev, *u_prev;  /*                                                        (nrow)  */
    unsigned char *mode_prev; /*                                                       (n) */
    rb_matrix W; /* J M^-1 J': dense, or block-sparse of 3 for large islands of plain contacts */
    double h;
    double *p; /* out: impulses                                               (nrow)      */
    unsigned char *mode; /* out: per constraint                                        (n) */
} rb_island;

/* J M^-1 J' of the rows of an island by the sparse L'DL factor (shallow trees) or the recursion of
 * D.14..D.17 (deep ones), whichever is cheaper; into `island->W`. Needs rb_mass_factor or
 * rb_aba_factor + rb_upsilon as rb_compliance_way() says for the model. */
rb_status rb_island_compliance(const rb_model *m, rb_data *d, const rb_constraints *set, int island,
                               rb_island *out);

struct rb_formulation {
    const char *name; /* "cone": the command-line word                                          */
    const char *summary; /* one line for --help */
    unsigned kind;      /* RB_LCP, RB_BOX or RB_CONE                                              */
    int position_level; /* 1: the gap is in the normal row (bias)                                 */
    /* island -> problem (arrays from the arena) and a guess z, modes from p_prev, mode_prev */
    rb_status (*write)(const rb_island *island, const rb_step_opts *o, rb_arena *arena,
                       rb_problem *problem, double **z, unsigned char **mode);
    /* answer -> island->p, island->mode */
    void (*read)(rb_island *island, const rb_step_opts *o, const rb_problem *problem,
                 const double *z, const unsigned char *mode);
};

#endif
