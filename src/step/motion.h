/* Within src/step: motions without contact, and what moves by itself. */
#ifndef RB_STEP_MOTION_H
#define RB_STEP_MOTION_H

#include "step/stage.h"

/* kinematic.c: begin gives mocap bodies the velocity of a step of length h and its rate; pose
 * moves them to where they are t seconds after the start; end restores the velocities that the
 * caller asked for. */
rb_status rb_stage_kinematic_begin(rb_stage *s);
void rb_stage_kinematic_pose(rb_stage *s, double t);
void rb_stage_kinematic_end(rb_stage *s, int moved);

/* free_motion.c: computes smooth.q, smooth.v, answer.act. The state is unchanged. */
rb_status rb_stage_free_motion(rb_stage *s);

/* free_motion.c: moves d from q0 and velocity v by h, without contact, and sets
 * smooth.made. dv: change of the velocity that the iteration begins with, NULL: it is
 * extrapolated. */
rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, const double *A,
                               double tol);

/* free_motion.c: stores the rate of v of this part, from which the next one is extrapolated. */
void rb_stage_keep_slope(rb_stage *s);

/* pushed.c: returns 1 where actuators exchange more energy than the error of smooth motion, the
 * accuracy is not strict, and restitution was not asked for. */
int rb_stage_is_driven(const rb_stage *s);

/* How a link goes while the joints go straight (S.4), all of it per way. */
typedef struct rb_link_path {
    double w[3];         /* turning at the end that is looked from [rad]                         */
    double x_w[3], x[3]; /* J off there: turning [rad] and origin [m]                            */
    double W, B, X, A;   /* bounds along the way [rad], [rad], [m], [m]                          */
} rb_link_path;

/* link_paths.c: bounds the motion of every link while joints go along dq (nv), beside the
 * velocity J off (nv). l and S are link_l and dof_S of the end that is looked from; mocap bodies
 * have the velocity of d. */
void rb_stage_link_paths(const rb_stage *s, const double *l, const double *S, const double *dq,
                         const double *off, rb_link_path *link);
/* The same for the last of n links (branch.h), relative to what the first one hangs on. d is at
 * the end that is looked from. */
rb_link_path rb_stage_link_path_on(const rb_stage *s, int n, const int *links, const double *dq);

/* pushed.c: returns 1 for a body by itself, the only link of its tree. */
int rb_stage_is_single(const rb_model *m, int link);

/* pushed.c: sets pushed. */
void rb_stage_find_pushed(rb_stage *s);

#endif
