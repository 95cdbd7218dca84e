/* Names of a compiled model: by index, and back by binary search in name_order. */
#include <stdio.h>
#include <string.h>

#include "rattleback/model.h"

int rb_model_count(const rb_model *m, rb_kind kind)
{
    const int counts[RB_NKIND] = { m->nbody,   m->njnt_all, m->ngeom,   m->nsite,  m->nmesh,
                                   m->nhfield, m->neq,      m->ntendon, m->nu,     m->nexclude,
                                   m->npair,   m->nkey,     m->ncustom, m->nsensor };
    return kind >= RB_KIND_BODY && kind < RB_NKIND ? counts[kind] : 0;
}

static const char *stored_name(const rb_model *m, rb_kind kind, int i)
{
    return m->names + m->name[kind][i];
}

int rb_model_find(const rb_model *m, rb_kind kind, const char *name)
{
    if (!name || !*name) return -1;
    const int *order = m->name_order[kind];
    int lo = 0, hi = rb_model_count(m, kind);
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        int sign = strcmp(stored_name(m, kind, order[mid]), name);
        if (sign == 0) return order[mid];
        if (sign < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

const char *rb_model_name(const rb_model *m, rb_kind kind, int i, char *buf, size_t size)
{
    if (i < 0 || i >= rb_model_count(m, kind)) return "";
    const char *name = stored_name(m, kind, i);
    if (*name || (kind != RB_KIND_BODY && kind != RB_KIND_JOINT) || size == 0) return name;

    if (kind == RB_KIND_BODY) {
        snprintf(buf, size, "body%d", i);
        return buf;
    }
    int body = m->jnt_body[i];
    const char *owner = stored_name(m, RB_KIND_BODY, body);
    int k = i < m->njnt ? i - m->body_jntadr[body] : i - m->njnt;
    if (*owner)
        snprintf(buf, size, "%s.%d", owner, k);
    else
        snprintf(buf, size, "body%d.%d", body, k);
    return buf;
}

/* What input k of an actuator is called. */
static const char *input_name(const rb_model *m, int u, int k)
{
    static const char *const servo[4] = { "pos", "vel", "ff", "voltage" };
    static const char *const turn[4] = { "w", "x", "y", "z" };
    if (m->act_gain_law[u] == RB_LAW_ORIENTATION) return turn[m->act_quaternion[u] ? k : k + 1];
    for (int bit = 0; bit < 4; bit++) {
        if (!(m->act_inputs[u] & (1 << bit))) continue;
        if (k-- == 0) return servo[bit];
    }
    return "";
}

const char *rb_control_name(const rb_model *m, int control, char *buf, size_t size)
{
    int u = 0;
    if (size == 0) return "";
    buf[0] = '\0';
    if (control < 0 || control >= m->nctrl) return buf;
    while (m->act_ctrladr[u] + m->act_ctrlnum[u] <= control) u++;
    const char *name = stored_name(m, RB_KIND_ACTUATOR, u);
    int several = m->act_ctrlnum[u] > 1;
    const char *of = several ? input_name(m, u, control - m->act_ctrladr[u]) : "";
    if (*name)
        snprintf(buf, size, "%s%s%s", name, several ? ":" : "", of);
    else
        snprintf(buf, size, "actuator%d%s%s", u, several ? ":" : "", of);
    return buf;
}

const char *rb_geom_title(const rb_model *m, int geom, char *buf, size_t size)
{
    char body[128];
    const char *name = rb_model_name(m, RB_KIND_GEOM, geom, NULL, 0);
    if (*name)
        snprintf(buf, size, "%s", name);
    else
        snprintf(buf, size, "geom %d of %s", geom,
                 rb_model_name(m, RB_KIND_BODY, m->geom_body[geom], body, sizeof body));
    return buf;
}
