/* Contact filters and keyframes. */
#include "model/build.h"

#include "math/quat.h"

void rb_fill_filters(rb_build *b)
{
    rb_model *m = b->m;
    for (int i = 0; i < m->nexclude; i++) {
        const rb_exclude_def *def = RB_DEFS(b, exclude, EXCLUDE) + i;
        m->exclude_body1[i] = def->body1;
        m->exclude_body2[i] = def->body2;
    }
    for (int i = 0; i < m->npair; i++) {
        const rb_pair_def *def = RB_DEFS(b, pair, PAIR) + i;
        m->pair_geom1[i] = b->geoms.at[def->geom1];
        m->pair_geom2[i] = b->geoms.at[def->geom2];
        m->pair_condim[i] = def->condim;
        m->pair_only_material[i] = def->only_material != 0;
        m->pair_never[i] = def->never != 0;
        m->pair_adhesion[i] = def->adhesion;
        m->nsticky += def->adhesion > 0.0;
        m->pair_material[i] = def->material;
    }
}

/* One array of a keyframe: the numbers given, and `rest` (NULL: zero) after them. */
typedef struct part {
    const char *word;
    const double *given;
    int ngiven, n;
    const double *rest;
    double *out;
} part;

static rb_status fill_part(rb_build *b, int key, const part *p)
{
    const rb_key_def *def = RB_DEFS(b, key, KEY) + key;
    if (p->ngiven > p->n) {
        return rb_refuse(def, RB_KIND_KEY, key, b->err, "%s has %d numbers: expected %d", p->word,
                         p->ngiven, p->n);
    }
    for (int i = 0; i < p->n; i++)
        p->out[i] = i < p->ngiven ? p->given[i] : p->rest ? p->rest[i] : 0.0;
    return RB_OK;
}

/* Quaternions among the coordinates get unit length, as those of poses do. */
static rb_status normalize_key(rb_build *b, int key)
{
    rb_model *m = b->m;
    const rb_key_def *def = RB_DEFS(b, key, KEY) + key;
    for (int j = 0; j < m->njnt; j++) {
        double *q = m->key_qpos + (ptrdiff_t)key * m->nq + m->jnt_qadr[j];
        if (m->jnt_type[j] == RB_JOINT_FREE) q += 3;
        if (m->jnt_type[j] != RB_JOINT_FREE && m->jnt_type[j] != RB_JOINT_BALL) continue;
        if (rb_quat_normalize(q) > 0.0) continue;
        return rb_refuse(def, RB_KIND_KEY, key, b->err,
                         "qpos %d to %d are a quaternion without length",
                         (int)(q - m->key_qpos) - key * m->nq,
                         (int)(q - m->key_qpos) - key * m->nq + 3);
    }
    for (int i = 0; i < m->nmocap; i++) {
        if (rb_quat_normalize(m->key_mocap + 7 * ((ptrdiff_t)key * m->nmocap + i) + 3) > 0.0) {
            continue;
        }
        return rb_refuse(def, RB_KIND_KEY, key, b->err,
                         "mocap body %d has a quaternion without length", i);
    }
    return RB_OK;
}

rb_status rb_fill_keys(rb_build *b)
{
    rb_model *m = b->m;
    double *mocap = rb_push(b->scratch, double, 7 * (size_t)m->nmocap);
    if (!mocap) return rb_build_nomem(b);
    for (int k = 0; k < m->nbody; k++) {
        if (m->body_mocap[k] < 0) continue;
        memcpy(mocap + 7 * m->body_mocap[k], m->body_pos + 3 * k, 3 * sizeof *mocap);
        memcpy(mocap + 7 * m->body_mocap[k] + 3, m->body_quat + 4 * k, 4 * sizeof *mocap);
    }
    for (int k = 0; k < m->nkey; k++) {
        const rb_key_def *def = RB_DEFS(b, key, KEY) + k;
        ptrdiff_t row = k;
        const part parts[] = {
            { "qpos", def->qpos, def->nqpos, m->nq, m->qpos0, m->key_qpos + row * m->nq },
            { "qvel", def->qvel, def->nqvel, m->nv, NULL, m->key_qvel + row * m->nv },
            { "act", def->act, def->nact, m->na, NULL, m->key_act + row * m->na },
            { "ctrl", def->ctrl, def->nctrl, m->nctrl, NULL, m->key_ctrl + row * m->nctrl },
            { "mocap", def->mocap, def->nmocap, 7 * m->nmocap, mocap,
              m->key_mocap + row * 7 * m->nmocap },
        };
        m->key_time[k] = def->time;
        rb_status status = RB_OK;
        for (int i = 0; i < 5 && status == RB_OK; i++) status = fill_part(b, k, &parts[i]);
        if (status == RB_OK) status = normalize_key(b, k);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}
