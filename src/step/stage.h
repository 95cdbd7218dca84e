/* Within src/step: everything one step works on. Arrays come from the arena of rb_data and are gone
 * when the step ends. */
#ifndef RB_STEP_STAGE_H
#define RB_STEP_STAGE_H

#include "contact/contact.h"
#include "rattleback/step.h"

typedef struct rb_stage {
    const rb_model *m;
    rb_data *d;
    const rb_step_opts *o;
    rb_step_info *info;
    rb_error *err;
    double h;
    double gravity; /* |g| [m/s^2]                                                              */
    double size;    /* extent of the model: unit of gaps [m]                                    */

    double reach; /* what impulses changed the speed of a point by, in repairs [m/s]          */

    /* before the step */
    double *q0, *v0, *act0; /*                                          (nq), (nv), (na)        */
    double time0;
    double *mocap0;   /* poses of mocap bodies                          (nmocap x 7)            */
    double *mocap_v0; /* what the caller asked of them                  (nmocap x 6)            */

    /* without contact: smooth motion */
    double *q_free, *v_free, *act_free;

    /* where the rows are taken; v_hat NULL: at the start of the step */
    const double *q_hat, *v_hat;
    rb_contact *contacts; /*                                            (touch_max)             */
    int ncontact;
    rb_constraints set;
    rb_constraints first; /* the set at the start of the step: gaps that were there             */
    int part;  /* problem of restitution, 1, 2, ..; 0: the first one                             */
    double *u; /* velocity of the rows at v_free, and what the gap adds (set.nrow)              */
    double *bias;     /* the part of u that the gap adds                (set.nrow)              */
    double *u_before; /* velocity of the rows before the step           (set.nrow)              */
    double *e;        /* restitution of constraints that bounce, else 0 (set.n)                 */
    double *room;     /* bias of a constraint before it was to bounce   (set.n)                 */
    double *p; /* impulses                                              (set.nrow)              */
    unsigned char *mode;  /*                                             (set.n)                 */
    unsigned char *still; /* the island rests                            (set.nisland)           */

    /* after it */
    double *v_new, *q_new;
    unsigned char *pushed;  /* an impulse acts on the tree              (ntree)                 */
    unsigned char *resting; /* v = 0 is certified for the tree          (ntree)                 */
} rb_stage;

/* step.c: how a problem of this step is called in files. */
void rb_stage_name(const rb_stage *s, int island, char *text, size_t size);

/* led.c: mocap bodies get the velocity of this step, of length h, and its rate; then their poses
 * at t seconds after its start; at last their velocities are what the caller asked for again. */
rb_status rb_stage_lead(rb_stage *s);
void rb_stage_led_pose(rb_stage *s, double t);
void rb_stage_let_go(rb_stage *s, int moved);

/* free.c: v_free, q_free, act_free; the state is as before. */
rb_status rb_stage_free_motion(rb_stage *s);

/* rows.c: contacts and rows at q_hat, M factored at q_hat; u filled. */
rb_status rb_stage_rows(rb_stage *s);

/* rest.c: p, mode, still, resting of islands that rest with the impulses of the step before. */
rb_status rb_stage_rest_on(rb_stage *s);

/* rest.c: v_new, and zero where an island rests; p may change by rounding there. */
rb_status rb_stage_rest(rb_stage *s);

/* islands.c: p, mode of islands that are not still. */
rb_status rb_stage_solve(rb_stage *s);

/* islands.c: p, mode of the islands that are not to be skipped. */
rb_status rb_stage_solve_others(rb_stage *s, const unsigned char *skip);

/* restitution.c: p with what contacts that bounce give back; p of compression is there. */
rb_status rb_stage_restitute(rb_stage *s);

/* place.c: v_new, q_new, pushed, resting; rest.c with it. */
rb_status rb_stage_place(rb_stage *s);

/* gaps.c: the gap a constraint had at the start of the step, 0: it was not near. For contacts the
 * least of all points of the pair: features may change on the way. */
double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: closure error of row r of an equality that the step is asked to end with. */
double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r);

/* gaps.c: deepest overlap at q_new that the step made and worst loop, in units of what is allowed:
 * above 1 the step is repaired. */
rb_status rb_stage_check(rb_stage *s, double *worst);

/* reach.c: reach, from v_new; kinematics and frames are those of any position of the step. */
void rb_stage_reach(rb_stage *s);

/* touch.c */
int rb_touch_order(const rb_touch_id *x, const rb_touch_id *y);
const rb_touch *rb_touch_find(const rb_data *d, const rb_touch_id *id);
void rb_stage_store(rb_stage *s);

#endif
