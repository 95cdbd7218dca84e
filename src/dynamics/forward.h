/* Forward dynamics in two halves, and its three sweeps for processors with AVX2. */
#ifndef RB_DYNAMICS_FORWARD_H
#define RB_DYNAMICS_FORWARD_H

#include "rattleback/model.h"

/* gcc from 12 and clang can compile a part of the library for it. */
#if defined(__x86_64__) && defined(__has_builtin) && !defined(RB_PLAIN)
#if __has_builtin(__builtin_shufflevector)
#define RB_FORWARD_AVX2 1
#endif
#endif

/* Poses and velocities; link_work is kept for rb_forward_solve. */
void rb_forward_place(const rb_model *m, rb_data *d);

/* The same with the tendons that are marked (ntendon; NULL: all), at least. */
void rb_forward_place_felt(const rb_model *m, rb_data *d, const unsigned char *felt);

/* After rb_forward_solve: as after rb_forward_place, for another solve at the same place. */
void rb_forward_restart(const rb_model *m, rb_data *d);

/* rb_kinematics; then the same without vectors, which has its bits. */
void rb_forward_poses(const rb_model *m, rb_data *d);
void rb_kinematics_plain(const rb_model *m, rb_data *d);

/* The same without tendons. */
void rb_forward_links(const rb_model *m, rb_data *d);
void rb_links_plain(const rb_model *m, rb_data *d);

/* What is added to inertias; NULL: nothing. */
typedef struct rb_forward_extra {
    const double *dof;  /* a diagonal of M                                                 (nv) */
    const double *link; /* to the rotational inertia of links, xx yy zz xy xz yz  (nlink x 6)   */
} rb_forward_extra;

/* qdd = (M + extra)^-1 (tau - c) where rb_forward_place has been. Once for each place.
 * RB_SINGULAR: a dof meets no inertia. */
rb_status rb_forward_solve(const rb_model *m, rb_data *d, const rb_forward_extra *extra,
                           const double *tau, double *qdd);

enum { RB_LINK_WORK = 72 }; /* numbers of rb_data.link_work for one link */

#ifdef RB_FORWARD_AVX2
/* rb_place_world, rb_stop_world and rb_hinge_sines come first. */
void rb_forward_out_avx2(const rb_model *m, rb_data *d);

void rb_forward_restart_avx2(const rb_model *m, rb_data *d);

/* The poses alone; rb_place_world and rb_hinge_sines come first. */
void rb_forward_poses_avx2(const rb_model *m, rb_data *d);

/* P with what is added to inertias of links; before rb_forward_in_avx2. */
void rb_forward_add_avx2(const rb_model *m, rb_data *d, const double *link);

/* 0: a dof meets no inertia. */
int rb_forward_in_avx2(const rb_model *m, rb_data *d, const double *extra, const double *tau,
                       double *qdd);
void rb_forward_accelerations_avx2(const rb_model *m, rb_data *d, double *qdd);
#endif

#endif
