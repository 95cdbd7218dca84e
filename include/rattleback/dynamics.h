/* Articulated dynamics in minimal coordinates, one algorithm per call.
 *
 *     M(q) qdd + c(q, v) = tau,      dq = N(q) v
 *
 * Conventions: rattleback/model.h. A call reads what the call named in `needs` wrote. Nothing
 * allocates after the first call of its kind with the same sizes (the arena of rb_data is warm).
 * Theory: docs/theory/dynamics.md, equations (D.*). */
#ifndef RATTLEBACK_DYNAMICS_H
#define RATTLEBACK_DYNAMICS_H

#include "rattleback/base.h"
#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kinematics -------------------------------------------------------------------------------
 */

void rb_kinematics(const rb_model *m, rb_data *d); /* q -> link_p .. dof_S                        */
void rb_tendons(const rb_model *m, rb_data *d);    /* link frames -> ten_length, ten_J of spatial
                                                       tendons; rb_kinematics does it             */

/* Length and rate of a tendon of any kind. A spatial one needs kinematics. */
double rb_tendon_length(const rb_model *m, const rb_data *d, int tendon);
double rb_tendon_rate(const rb_model *m, const rb_data *d, int tendon);

/* Points that a spatial tendon passes, world, straight from one to the next but over surfaces, and
 * the branch of each: pulleys before it. Their number, 0 for other tendons; at most capacity are
 * written. Needs kinematics. */
int rb_tendon_path(const rb_model *m, const rb_data *d, int tendon, int capacity, double *point,
                   int *branch);

void rb_velocity(const rb_model *m, rb_data *d); /* v -> link_w, link_v, link_a; needs kinematics */
void rb_frames(const rb_model *m, rb_data *d);   /* body, geom, site frames; needs kinematics   */

/* q (+) h v on the manifold, quaternions by the exponential map; out may be q. And its inverse: the
 * v that leads from q0 to q1 in h = 1 (shortest rotation). */
void rb_integrate(const rb_model *m, const double *q, const double *v, double h, double *out);
void rb_difference(const rb_model *m, const double *q0, const double *q1, double *v);
void rb_normalize(const rb_model *m, double *q); /* quaternions to unit length */

/* Jacobian of a point of a body: rows 0..2 angular velocity, 3..5 velocity of the point, world
 * axes; point in world coordinates, not NULL. J is 6 x nv, row major. Needs kinematics. */
void rb_jacobian(const rb_model *m, const rb_data *d, int body, const double point[3], double *J);

/* dJ/dt v: acceleration (angular; of the point) at qdd = 0. Needs velocity. */
void rb_jacobian_bias(const rb_model *m, const rb_data *d, int body, const double point[3],
                      double a[6]);

/* Velocity of a point of a body: v[0..2] angular [rad/s], v[3..5] that of the point [m/s], world
 * axes; point in world coordinates, not NULL. Needs velocity. */
void rb_point_velocity(const rb_model *m, const rb_data *d, int body, const double point[3],
                       double v[6]);

/* ---- forces -----------------------------------------------------------------------------------
 */

/* Recursive Newton-Euler. tau = M qdd + c for qdd given, NULL: zero. Springs, dampers, actuators
 * and contacts are no part of it. Needs velocity. */
void rb_inverse(const rb_model *m, rb_data *d, const double *qdd, double *tau);
void rb_bias(const rb_model *m, rb_data *d);    /* -> d->c                                       */
void rb_passive(const rb_model *m, rb_data *d); /* springs, dampers, gravcomp -> d->passive      */
void rb_actuator_row(const rb_model *m, const rb_data *d, int actuator,
                     double *row); /* moment arms: rate = row . v; needs kinematics (nv_all)     */
void rb_actuator_axis(const rb_model *m, const rb_data *d, int actuator, int axis,
                      double *row); /* of an orientation servo: of one of its three axes         */
double rb_actuator_length(const rb_model *m, const rb_data *d, int actuator,
                          double *rate); /* of its transmission, and the rate; needs velocity    */
void rb_actuation(const rb_model *m, rb_data *d); /* ctrl, act -> actuation, act_force, act_dot */
void rb_wrench_force(const rb_model *m, const rb_data *d, double *tau); /* tau += J' d->wrench */

/* ---- mass matrix ------------------------------------------------------------------------------
 */

void rb_mass(const rb_model *m, rb_data *d); /* composite bodies -> d->M; armature in  */
rb_status rb_mass_factor(const rb_model *m, rb_data *d); /* M = L' D L -> d->L; RB_SINGULAR */
void rb_mass_solve(const rb_model *m, const rb_data *d, double *x); /* x = M^-1 x */
void rb_mass_multiply(const rb_model *m, const rb_data *d, const double *x, double *y);
void rb_mass_dense(const rb_model *m, const rb_data *d, double *M); /* nv x nv, both triangles */

/* ---- articulated bodies -----------------------------------------------------------------------
 */

/* P, U, D of all links. `extra` (nv, may be NULL) is added to the armature: implicit damping.
 * RB_SINGULAR names nothing; rb_model_name of err-free callers: dof in *bad (may be NULL). */
rb_status rb_aba_factor(const rb_model *m, rb_data *d, const double *extra, int *bad);

/* qdd = M^-1 (tau - c), after rb_aba_factor and rb_velocity. */
void rb_aba_solve(const rb_model *m, rb_data *d, const double *tau, double *qdd);

/* x = M^-1 x, after rb_aba_factor: no velocity, no gravity. */
void rb_aba_apply(const rb_model *m, rb_data *d, double *x);

/* Forward dynamics: qdd = M^-1 (tau - c). Runs kinematics and velocity itself, and leaves the U and
 * D of rb_aba_factor for rb_aba_apply, rb_upsilon and rb_impulse, but not the P of rb_aba_solve.
 * RB_SINGULAR: qdd holds no answer. */
rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd);

/* ---- energy and momentum ----------------------------------------------------------------------
 */

double rb_energy_kinetic(const rb_model *m,
                         const rb_data *d); /* armature included; needs velocity */
double rb_energy_potential(const rb_model *m, const rb_data *d); /* gravity and springs */

/* Of everything that moves; p and L about the com, world axes. Needs velocity. */
void rb_momentum(const rb_model *m, const rb_data *d, double com[3], double p[3], double L[3]);

/* Centre of mass of all bodies but the world's own. Needs kinematics. */
void rb_center_of_mass(const rb_model *m, const rb_data *d, double com[3]);

/* ---- operational space ------------------------------------------------------------------------
 */

/* A point fixed to a body, given in world coordinates. */
typedef struct rb_point {
    int body;
    double pos[3];
} rb_point;

/* Upsilon of all links (D.14), after rb_aba_factor. */
void rb_upsilon(const rb_model *m, rb_data *d);

/* W = J M^-1 J' of the linear velocities of n points, 3n x 3n, world axes, row major (D.17).
 * Exactly symmetric; exactly zero between trees and for points fixed to the world. Needs
 * rb_upsilon. RB_NOMEM only. */
rb_status rb_compliance(const rb_model *m, rb_data *d, int n, const rb_point *points, double *W);

/* Velocity change dv (nv) of the whole tree from linear impulses p (n x 3) at points, O(links)
 * (D.18). Needs rb_aba_factor. RB_NOMEM only. */
rb_status rb_impulse(const rb_model *m, rb_data *d, int n, const rb_point *points, const double *p,
                     double *dv);

/* ---- bilateral rows ---------------------------------------------------------------------------
 */

/* The active equalities as rows J v = 0 on velocities, J qdd + bias = 0 on accelerations. Which
 * rows a type has, their units and signs: (D.19). */
typedef struct rb_rows {
    int n;         /* rows                                                                     */
    int *eq;       /* equality of each row                                         (n)         */
    int *start;    /* CSR: first entry of each row, one more at the end            (n + 1)     */
    int *dof;      /* ascending within a row                                       (start[n])  */
    double *J;     /*                                                              (start[n])  */
    double *error; /* violation of the constraint in the row's unit, first minus second (n)    */
    double *bias;  /* dJ/dt v                                                      (n)         */
    double *drive; /* rate of the error by what the caller moves: it is J v + drive (n)        */
    void *block;   /* position of the arena before: for rb_rows_release                        */
    size_t left;
} rb_rows;

/* The arrays come from the arena of d and hold until they are released; the last rows made are
 * released first. Needs velocity. RB_NOMEM leaves rows empty, with nothing to release. */
rb_status rb_loop_rows(const rb_model *m, rb_data *d, rb_rows *rows);
void rb_rows_release(rb_data *d, rb_rows *rows);

typedef struct rb_loop_info {
    int rows, rank;  /* rank < rows: some rows are redundant, which is allowed                   */
    double residual; /* max |J qdd + bias| over max(1, |bias|, |J qdd_free|): rows that contradict
                        each other show here                                                     */
} rb_loop_info;

/* qdd of M qdd + c = tau + J' lam, J qdd + bias = 0 (D.21). lam are the multipliers of the active
 * rows, as many as rb_loop_rows has, and may be NULL; redundant rows get zero. info may be NULL.
 * Needs rb_aba_factor and velocity. RB_NOMEM only. */
rb_status rb_forward_loops(const rb_model *m, rb_data *d, const double *tau, double *qdd,
                           double *lam, rb_loop_info *info);

/* State and inputs of `d` in the maximal form `max` of its model (rb_spec_maximal, compiled): the
 * links get their poses and velocities, the rotors the coordinates of their joints. tau on joints
 * without rotor becomes wrenches on the two bodies that give the same motion. Needs velocity of d;
 * RB_BAD_INPUT where the models do not belong together. */
rb_status rb_maximal_state(const rb_model *m, const rb_data *d, const rb_model *max,
                           rb_data *d_max);

/* The inverse of rb_maximal_state (D.54): q and v of the tree from the poses and velocities of its
 * maximal form, the coordinates continued from those of d. Needs kinematics and velocity of d_max.
 * RB_UNSOLVED: poses that the joints do not allow; the nearest found is there. */
rb_status rb_minimal_state(const rb_model *max, const rb_data *d_max, const rb_model *m,
                           rb_data *d);

/* ---- smooth motion ----------------------------------------------------------------------------
 */

typedef struct rb_smooth_info {
    int iterations; /* of all substeps, failed attempts included                                */
    int substeps;   /* of the last attempt                                                      */
    double change;  /* what one more iteration would change, relative to the largest velocity     */
    int converged;
    double made; /* energy created by the rule itself, where links rotate fast (D.45) [J]         */
} rb_smooth_info;

/* One contact-free step of length h > 0 by the implicit midpoint rule (D.36): springs, dampers and
 * servos implicit; d->tau, d->wrench and controls are constant in the step. Equalities,
 * limits and dry friction are not part of it. Moves q, v, act, time; what depends on them is left
 * at some midpoint: run rb_kinematics and rb_velocity before reading it. A step that fails leaves
 * the state as it was: RB_SINGULAR, RB_NOMEM, or RB_OK with converged = 0. info may be NULL. */
rb_status rb_smooth_step(const rb_model *m, rb_data *d, double h, rb_smooth_info *info);

#ifdef __cplusplus
}
#endif

#endif
