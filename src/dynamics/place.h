/* World frame of something that is attached to a body, straight from the frame of its link. */
#ifndef RB_DYNAMICS_PLACE_H
#define RB_DYNAMICS_PLACE_H

#include "math/quat.h"
#include "rattleback/model.h"

/* p_wf, R_wf of a frame given by pos and quat in the body. Needs kinematics. */
static inline void rb_place(const rb_model *m, const rb_data *d, int body, const double pos[3],
                            const double quat[4], double p_wf[3], double R_wf[9])
{
    int k = m->body_link[body];
    const double *R_wl = d->link_R + 9 * k, *R_lb = m->body_link_rot + 9 * body;
    double R_bf[9], R_lf[9], p_lf[3];
    rb_quat_to_rot(quat, R_bf);
    rb_mul33(R_lb, R_bf, R_lf);
    rb_mul33(R_wl, R_lf, R_wf);
    rb_rot(R_lb, pos, p_lf);
    rb_add3(p_lf, m->body_link_pos + 3 * body, p_lf);
    rb_rot(R_wl, p_lf, p_wf);
    rb_add3(p_wf, d->link_p + 3 * k, p_wf);
}

#endif
