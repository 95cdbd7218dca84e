/* rb_sensors: all sensors of a model at its state, and the forces of the last step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/actuation.h"
#include "dynamics/placed.h"
#include "dynamics/transmission.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "sense/sense.h"

/* ---- joints, tendons, actuators ---------------------------------------------------------------
 */

static double tendon_force(const rb_sense *s, int tendon)
{
    double sum = 0.0;
    for (int u = 0; u < s->m->nu; u++) {
        int on = s->m->act_transmission[u] == RB_TRN_TENDON && s->m->act_target[u] == tendon;
        if (on) sum += s->d->act_force[s->m->act_outadr[u]];
    }
    return sum;
}

static void sense_ball(const rb_sense *s, int i, double *out)
{
    int j = s->m->sensor_index[i];
    if (s->m->sensor_type[i] == RB_SENSOR_BALLANGVEL) {
        rb_copy3(s->d->v + s->m->jnt_dofadr[j], out);
        return;
    }
    memcpy(out, s->d->q + s->m->jnt_qadr[j], 4 * sizeof *out);
    rb_quat_normalize(out);
}

/* Turn, its rate or the torque of an orientation servo: three numbers. */
static void sense_turn(const rb_sense *s, int i, double out[3])
{
    int u = s->m->sensor_index[i];
    double quat[4], w[3];
    rb_transmission_turn(s->m, s->d, u, quat, w);
    if (s->m->sensor_type[i] == RB_SENSOR_ACTUATORPOS)
        rb_quat_log(quat, out);
    else
        rb_copy3(s->m->sensor_type[i] == RB_SENSOR_ACTUATORVEL
                     ? w
                     : s->d->act_force + s->m->act_outadr[u],
                 out);
}

static double sense_scalar(const rb_sense *s, int i)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    int k = m->sensor_index[i];
    double rate;
    switch (m->sensor_type[i]) {
    case RB_SENSOR_JOINTPOS:
        return d->q[m->jnt_qadr[k]];
    case RB_SENSOR_JOINTVEL:
        return d->v[m->jnt_dofadr[k]];
    case RB_SENSOR_TENDONPOS:
        return rb_tendon_length(m, d, k);
    case RB_SENSOR_TENDONVEL:
        return rb_tendon_rate(m, d, k);
    case RB_SENSOR_ACTUATORPOS:
        return rb_actuator_length(m, d, k, &rate);
    case RB_SENSOR_ACTUATORVEL:
        rb_actuator_length(m, d, k, &rate);
        return rate;
    case RB_SENSOR_ACTUATORFRC:
        return d->act_force[m->act_outadr[k]];
    case RB_SENSOR_JOINTACTUATORFRC:
        return d->actuation[m->jnt_dofadr[k]];
    case RB_SENSOR_TENDONACTUATORFRC:
        return tendon_force(s, k);
    case RB_SENSOR_E_POTENTIAL:
        return rb_energy_potential(m, d);
    case RB_SENSOR_E_KINETIC:
        return rb_energy_kinetic(m, d);
    default: /* RB_SENSOR_CLOCK */
        return d->time;
    }
}

/* ---- on sites ---------------------------------------------------------------------------------
 */

static void sense_site(const rb_sense *s, int i, double *out)
{
    int site = s->m->sensor_index[i], body = s->m->site_body[site];
    const double *p = s->d->site_p + 3 * site, *R = s->d->site_R + 9 * site;
    const double *f = s->wrench + 6 * body;
    double V[6], arm[3];
    switch (s->m->sensor_type[i]) {
    case RB_SENSOR_GYRO:
        rb_point_velocity(s->m, s->d, body, p, V);
        rb_rot_t(R, V, out);
        break;
    case RB_SENSOR_VELOCIMETER:
        rb_point_velocity(s->m, s->d, body, p, V);
        rb_rot_t(R, V + 3, out);
        break;
    case RB_SENSOR_ACCELEROMETER:
        rb_felt_acceleration(s, body, p, V);
        rb_rot_t(R, V + 3, out);
        break;
    case RB_SENSOR_MAGNETOMETER:
        rb_rot_t(R, s->m->option.magnetic, out);
        break;
    case RB_SENSOR_FORCE:
        rb_rot_t(R, f, out);
        break;
    default: /* RB_SENSOR_TORQUE: about the site */
        rb_sub3(s->d->body_p + 3 * body, p, arm);
        rb_cross3(arm, f, V);
        rb_add3(V, f + 3, V);
        rb_rot_t(R, V, out);
        break;
    }
}

static void sense_acceleration(const rb_sense *s, int i, double *out)
{
    double a[6];
    rb_frame f = rb_frame_of(s, s->m->sensor_object[i], s->m->sensor_index[i]);
    rb_felt_acceleration(s, f.body, f.p, a);
    rb_copy3(s->m->sensor_type[i] == RB_SENSOR_FRAMELINACC ? a + 3 : a, out);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static void sense_one(const rb_sense *s, int i, double *out)
{
    int type = s->m->sensor_type[i];
    if (type == RB_SENSOR_TOUCH)
        rb_sense_touch(s, i, out);
    else if (type == RB_SENSOR_CONTACT)
        rb_sense_contact(s, i, out);
    else if (type == RB_SENSOR_RANGEFINDER)
        rb_sense_range(s, i, out);
    else if (type <= RB_SENSOR_MAGNETOMETER)
        sense_site(s, i, out);
    else if (type == RB_SENSOR_BALLQUAT || type == RB_SENSOR_BALLANGVEL)
        sense_ball(s, i, out);
    else if (type >= RB_SENSOR_JOINTLIMITPOS && type <= RB_SENSOR_TENDONLIMITFRC)
        rb_sense_limit(s, i, out);
    else if (type == RB_SENSOR_FRAMELINACC || type == RB_SENSOR_FRAMEANGACC)
        sense_acceleration(s, i, out);
    else if (type >= RB_SENSOR_FRAMEPOS && type <= RB_SENSOR_FRAMEANGVEL)
        rb_sense_frame(s, i, out);
    else if (type >= RB_SENSOR_SUBTREECOM && type <= RB_SENSOR_SUBTREEANGMOM)
        rb_sense_subtree(s, i, out);
    else if (type == RB_SENSOR_INSIDESITE)
        rb_sense_inside(s, i, out);
    else if (type >= RB_SENSOR_DISTANCE && type <= RB_SENSOR_FROMTO)
        rb_sense_distance(s, i, out);
    else if (type >= RB_SENSOR_ACTUATORPOS && type <= RB_SENSOR_ACTUATORFRC &&
             s->m->sensor_dim[i] == 3)
        sense_turn(s, i, out);
    else if (type == RB_SENSOR_CAMPROJECTION)
        rb_sense_picture(s, i, out);
    else if (type != RB_SENSOR_USER) /* values of the caller are kept */
        *out = sense_scalar(s, i);
}

/* Of numbers that have a size; lists and directions have none. */
static void cut(const rb_model *m, int i, double *x)
{
    double most = m->sensor_cutoff[i];
    int type = m->sensor_type[i];
    rb_sensor_data data = rb_sensor_datatype((rb_sensor_type)type);
    if (!(most > 0.0) || type == RB_SENSOR_CONTACT || type == RB_SENSOR_FROMTO) return;
    if (data == RB_SENSOR_AXIS || data == RB_SENSOR_QUATERNION) return;
    for (int k = 0; k < m->sensor_dim[i]; k++) {
        if (x[k] > most) x[k] = most;
        if (x[k] < -most && data == RB_SENSOR_REAL) x[k] = -most;
    }
}

static int needs_dynamics(int type)
{
    switch (type) {
    case RB_SENSOR_ACCELEROMETER:
    case RB_SENSOR_FORCE:
    case RB_SENSOR_TORQUE:
    case RB_SENSOR_FRAMELINACC:
    case RB_SENSOR_FRAMEANGACC:
        return 1;
    default:
        return 0;
    }
}

rb_status rb_sensors(const rb_model *m, rb_data *d)
{
    if (m->nsensor == 0) return RB_OK;
    rb_sense s = { .m = m, .d = d, .alpha = d->sense_work };
    s.wrench = s.alpha + 6 * m->nlink;
    s.qdd = s.wrench + 6 * m->nbody;
    s.force = s.qdd + m->nv_all;
    int dynamics = 0;
    for (int i = 0; i < m->nsensor; i++) dynamics |= needs_dynamics(m->sensor_type[i]);
    if (dynamics)
        rb_placed_anew(m, d); /* and rb_sense_dynamics continues from there */
    else
        rb_placed_links(m, d);
    rb_frames(m, d);
    rb_actuation(m, d);
    rb_status status = dynamics ? rb_sense_dynamics(&s) : RB_OK;

    for (int i = 0; i < m->nsensor; i++) {
        double *out = d->sensor + m->sensor_adr[i];
        if (status != RB_OK && needs_dynamics(m->sensor_type[i])) {
            for (int k = 0; k < m->sensor_dim[i]; k++) out[k] = NAN;
            continue;
        }
        sense_one(&s, i, out);
        cut(m, i, out);
        if (m->sensor_pastadr[i] >= 0) rb_sense_delay(&s, i, out);
    }
    return status;
}

/* ---- noise ------------------------------------------------------------------------------------
 */

/* Of unit variance, from twelve numbers of even distribution: no logarithm, whose bits depend on
 * the machine; beyond six deviations there is nothing. */
static double normal_number(rb_rng *rng)
{
    double sum = -6.0;
    for (int k = 0; k < 12; k++) sum += rb_rng_uniform(rng, 0.0, 1.0);
    return sum;
}

void rb_sensor_noise(const rb_model *m, rb_rng *rng, double *values)
{
    for (int i = 0; i < m->nsensor; i++) {
        if (!(m->sensor_noise[i] > 0.0)) continue;
        for (int k = 0; k < m->sensor_dim[i]; k++)
            values[m->sensor_adr[i] + k] += m->sensor_noise[i] * normal_number(rng);
    }
}

/* ---- titles -----------------------------------------------------------------------------------
 */

const char *rb_sensor_title(const rb_model *m, int k, char *buf, size_t size)
{
    int i = 0;
    while (i + 1 < m->nsensor && m->sensor_adr[i + 1] <= k) i++;
    if (size > 0) buf[0] = '\0';
    if (k < 0 || k >= m->nsensordata) return buf;
    const char *name = rb_model_name(m, RB_KIND_SENSOR, i, NULL, 0);
    char own[64];
    snprintf(own, sizeof own, "%s.%d", rb_sensor_word((rb_sensor_type)m->sensor_type[i]), i);
    if (m->sensor_dim[i] == 1)
        snprintf(buf, size, "%s", *name ? name : own);
    else
        snprintf(buf, size, "%s:%d", *name ? name : own, k - m->sensor_adr[i]);
    return buf;
}
