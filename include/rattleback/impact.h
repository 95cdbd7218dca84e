/* One frictional impact between two bodies, free, articulated or fixed.
 *
 *     du/dp_n = K (1, -mu e_t),   e_t = u_t / |u_t|       while the contact slides
 *
 * integrated over the normal impulse until the law of restitution ends it: sliding, sticking,
 * sliding on along the diverging ray, slip reversal, jamb. Conventions of rattleback/solve.h: the
 * normal points from body 1 to body 2, the impulse acts on body 2, triples are (n, t1, t2).
 * Theory: docs/theory/impact.md, equations (I.*). Files and command: docs/manual/impact.md. */
#ifndef RATTLEBACK_IMPACT_H
#define RATTLEBACK_IMPACT_H

#include "rattleback/base.h"
#include "rattleback/collide.h"
#include "rattleback/contact.h"
#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the problem ------------------------------------------------------------------------------
 */

/* Everything about an impact that matters, in contact axes (n, t1, t2). */
typedef struct rb_impact {
    double K[9]; /* collision matrix: du = K p, symmetric, no negative eigenvalue [1/kg]          */
    double u[3]; /* relative velocity before, u_n < 0: approaching [m/s]                          */
    double mu;   /* friction coefficient, >= 0                                                    */
    double e;    /* coefficient of restitution, 0 .. 1                                            */
    rb_restitution_law law;
} rb_impact;

/* RB_OK, or RB_BAD_INPUT with the reason in err (may be NULL). */
rb_status rb_impact_check(const rb_impact *in, rb_error *err);

/* ---- the answer -------------------------------------------------------------------------------
 */

typedef enum rb_impact_phase {
    RB_PHASE_SEPARATING = 0,      /* nothing to do                                               */
    RB_PHASE_FREE_COMPRESSION,    /* mu = 0                                                      */
    RB_PHASE_FREE_RESTITUTION,    /*                                                             */
    RB_PHASE_SLIDE_COMPRESSION,   /* slides up to the greatest compression                       */
    RB_PHASE_SLIDE_RESTITUTION,   /* slides up to the end                                        */
    RB_PHASE_STOP_COMPRESSION,    /* slides until the slip is zero, in compression               */
    RB_PHASE_STOP_RESTITUTION,    /* the same in restitution                                     */
    RB_PHASE_STICK_COMPRESSION,   /* no slip                                                     */
    RB_PHASE_STICK_RESTITUTION,   /*                                                             */
    RB_PHASE_RESLIDE_COMPRESSION, /* sticking cannot last: slides along the diverging ray        */
    RB_PHASE_RESLIDE_RESTITUTION, /*                                                             */
    RB_PHASE_COUNT
} rb_impact_phase;

/* "slide-compression", ...; the words of the files. */
const char *rb_impact_phase_name(int phase);

enum { RB_IMPACT_MAX_PHASES = 16 };

typedef struct rb_impact_result {
    double p[3];   /* impulse on body 2 [N s]                                                  */
    double u[3];   /* velocity after: before + K p [m/s]                                       */
    double pn_c;   /* normal impulse at the greatest compression [N s]                         */
    double W_c;    /* normal work of compression, <= 0; RB_STRONGE, else 0 [J]                 */
    double W;      /* normal work up to the end; RB_STRONGE, else 0 [J]                        */
    double energy; /* change of the kinetic energy, p.(u + u+)/2 [J]                           */
    int jamb;      /* 1: friction pressed the bodies together while they slid                  */
    int held;      /* 1: friction and joints keep the point at rest, the law cannot be met     */
    int rounds;    /* 1; more: restitution ended while the bodies approached again (I.15)      */
    int steps;     /* power series used; 0: closed forms only                                  */
    int nphase;    /* what happened, in order                                                  */
    unsigned char phase[RB_IMPACT_MAX_PHASES]; /* rb_impact_phase                     (nphase)    */
} rb_impact_result;

/* Resolves an impact that rb_impact_check accepts. Other statuses leave no answer:
 * RB_BAD_INPUT    see rb_impact_check
 * RB_SINGULAR     no impulse within the friction cone stops the approach: both bodies are fixed,
 *                 or friction and the joints hold the point against each other
 * RB_UNSOLVED     the path did not end within its budget of steps */
rb_status rb_impact_solve(const rb_impact *in, rb_impact_result *out);

/* What an answer is worth, measured from p alone by code that shares nothing with the solver. All
 * but `energy` are violations: 0 is perfect. */
typedef struct rb_impact_certificate {
    double cone;     /* max(0, |p_t| - mu p_n) / |p|                                             */
    double approach; /* max(0, -u+_n) / |u|                                                      */
    double law;    /* how far the end is from what the law says, relative; 0 for Poisson in several
                      rounds, and for points kept at rest                                      */
    double energy; /* energy created relative to that of the contact, < 0: dissipated           */
} rb_impact_certificate;

/* Largest violation at which an answer counts as certified [1]. */
#define RB_IMPACT_TOL 1e-9

/* 1: certified. With Newton's law energy created is measured and does not count. */
int rb_impact_certify(const rb_impact *in, const rb_impact_result *out,
                      rb_impact_certificate *cert);

/* ---- two rigid bodies -------------------------------------------------------------------------
 */

/* A body that is hit, world axes. */
typedef struct rb_impact_body {
    double im;    /* 1 / mass, 0 = fixed [1/kg]                                                  */
    double iI[9]; /* inverse inertia about the centre of mass, symmetric [1/(kg m^2)]            */
    double r[3];  /* contact point minus centre of mass [m]                                      */
    double v[3];  /* velocity of the centre of mass [m/s]                                        */
    double w[3];  /* angular velocity [rad/s]                                                    */
} rb_impact_body;

/* Contact axes (n, t1, t2) as the rows of R; n is normalised. */
void rb_impact_frame(const double n[3], double R[9]);

/* K and u of `in` from two bodies and the axes R; mu, e and law are not changed. Slip within the
 * rounding of the velocities becomes zero. */
void rb_impact_bodies(const rb_impact_body *b1, const rb_impact_body *b2, const double R[9],
                      rb_impact *in);

/* Adds the impulse p (world axes, on this body) to its velocities. */
void rb_impact_push(rb_impact_body *b, const double p[3]);

/* ---- bodies of a model ------------------------------------------------------------------------
 */

/* Where two bodies of a model meet; 0 is the world. They may belong to one mechanism. */
typedef struct rb_impact_site {
    int body1, body2;
    double pos[3]; /* world axes [m]                                                             */
    double n[3];   /* from body 1 to body 2, any length                                          */
    double mu, e;
    rb_restitution_law law;
} rb_impact_site;

/* Resolves the impact and fills dv (nv), the change of the velocities of the whole tree; d->v is
 * not changed. K comes from rb_compliance, dv from rb_impulse: O(links). p and u of `out` are in
 * the axes of rb_impact_frame(n). Loops are not part of it: RB_UNSUPPORTED where the model has
 * active equalities. Needs rb_velocity and rb_upsilon. */
rb_status rb_impact_model(const rb_model *m, rb_data *d, const rb_impact_site *site,
                          rb_impact_result *out, double *dv);

/* ---- the next impact of a model ----------------------------------------------------------------
 */

/* The first pair of geoms to touch. */
typedef struct rb_impact_time {
    rb_toi toi;       /* of that pair; outcome RB_TOI_NONE: nothing meets before the horizon      */
    int geom1, geom2; /* geom1 < geom2, -1: none                                                  */
    int pairs;        /* pairs that were examined                                                 */
    int overlaps;     /* pairs that touch or overlap at the start: reported only where all do     */
} rb_impact_time;

/* When geoms of the model first touch within 0 .. horizon [s] while free bodies fly (gravity, a
 * constant angular velocity) and everything else moves with its present joint velocities (T.7).
 * Pairs are filtered as in rb_collide; those that touch already are passed over unless nothing else
 * meets. Never later than the true time. q, v and the results of rb_frames and rb_velocity are as
 * before when it returns. Needs these two. RB_UNSUPPORTED, RB_BAD_INPUT, RB_NOMEM: see err. */
rb_status rb_impact_predict(const rb_model *m, rb_data *d, double horizon, rb_impact_time *out,
                            rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
