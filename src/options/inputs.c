/* Checks that state and inputs of a step are finite. A NaN would pass every comparison of a solver
 * and end as a state full of them. The message names field, index and element. */
#include <math.h>

#include "base/error.h"
#include "rattleback/dynamics.h"
#include "options/options.h"

/* An array, and how the elements that its numbers belong to are called. */
typedef struct field {
    const char *name, *of_what;
    const double *x;
    int n;
    int kind;                            /* of the elements     */
    int (*of)(const rb_model *m, int i); /* element of a number */
} field;

static int joint_of_q(const rb_model *m, int i)
{
    int j = m->njnt - 1;
    while (j > 0 && m->jnt_qadr[j] > i) j--;
    return j;
}

static int joint_of_dof(const rb_model *m, int i)
{
    int j = m->njnt - 1;
    while (j > 0 && m->jnt_dofadr[j] > i) j--;
    return j;
}

static int actuator_of_act(const rb_model *m, int i)
{
    int found = 0;
    for (int k = 0; k < m->nu; k++)
        if (m->act_adr[k] >= 0 && m->act_adr[k] <= i) found = k;
    return found;
}

static int body_of_mocap(const rb_model *m, int mocap)
{
    int body = 0;
    while (body < m->nbody - 1 && m->body_mocap[body] != mocap) body++;
    return body;
}

static int body_of_pose(const rb_model *m, int i)
{
    return body_of_mocap(m, i / 7);
}

static int body_of_twist(const rb_model *m, int i)
{
    return body_of_mocap(m, i / 6);
}

static int actuator_of_ctrl(const rb_model *m, int i)
{
    int k = m->nu - 1;
    while (k > 0 && m->act_ctrladr[k] > i) k--;
    return k;
}

static int body_of_wrench(const rb_model *m, int i)
{
    (void)m;
    return i / 6;
}

/* Zero times a finite number is zero; times any other, NaN. */
static int is_finite(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += 0.0 * x[i];
    return sum == 0.0;
}

static rb_status refuse(const rb_model *m, const field *f, rb_error *err)
{
    char name[160];
    int i = 0;
    while (i < f->n - 1 && isfinite(f->x[i])) i++;
    return rb_fail(err, RB_BAD_INPUT, "%s[%d] (%s %s) is not finite but %s", f->name, i, f->of_what,
                   rb_model_name(m, (rb_kind)f->kind, f->of(m, i), name, sizeof name),
                   isnan(f->x[i]) ? "NaN" : "infinite");
}

rb_status rb_step_inputs_check(const rb_model *m, const rb_data *d, rb_error *err)
{
    const field fields[] = {
        { "q", "joint", d->q, m->nq, RB_KIND_JOINT, joint_of_q },
        { "v", "joint", d->v, m->nv, RB_KIND_JOINT, joint_of_dof },
        { "act", "actuator", d->act, m->na, RB_KIND_ACTUATOR, actuator_of_act },
        { "ctrl", "actuator", d->ctrl, m->nctrl, RB_KIND_ACTUATOR, actuator_of_ctrl },
        { "tau", "joint", d->tau, m->nv, RB_KIND_JOINT, joint_of_dof },
        { "wrench", "body", d->wrench, 6 * m->nbody, RB_KIND_BODY, body_of_wrench },
        { "mocap", "mocap body", d->mocap, 7 * m->nmocap, RB_KIND_BODY, body_of_pose },
        { "mocap_v", "mocap body", d->mocap_v, 6 * m->nmocap, RB_KIND_BODY, body_of_twist },
    };
    if (!isfinite(d->time))
        return rb_fail(err, RB_BAD_INPUT, "time is not finite but %s",
                       isnan(d->time) ? "NaN" : "infinite");
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (!is_finite(fields[k].x, fields[k].n)) return refuse(m, &fields[k], err);
    return RB_OK;
}

void rb_step_name_singular(const rb_model *m, rb_data *d, rb_error *err)
{
    char name[160];
    int bad;
    rb_kinematics(m, d);
    if (rb_aba_factor(m, d, NULL, &bad) != RB_SINGULAR || bad < 0 || bad >= m->nv) return;
    rb_fail(
        err, RB_SINGULAR,
        "joint %s moves no mass that other joints do not move the same way: give it armature, a "
        "body with mass, or another axis",
        rb_model_name(m, RB_KIND_JOINT, joint_of_dof(m, bad), name, sizeof name));
}
