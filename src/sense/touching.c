/* Sensors of contacts: touch adds up normal forces in a zone, contact lists what is found. */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "sense/sense.h"

enum { CONTACT = 0 }; /* rb_touch_id.kind */

static double per_step(const rb_data *d)
{
    return d->touch_h > 0.0 ? 1.0 / d->touch_h : 0.0;
}

/* ---- touch ------------------------------------------------------------------------------------
 */

/* A contact of the body of the site counts where its point is in the zone, or where its normal,
 * from the body outwards, meets the zone ahead. */
static int is_felt(const rb_shape *zone, const rb_touch *t, double outward)
{
    rb_ray_hit hit;
    double n[3];
    if (rb_zone_has(zone, t->pos)) return 1;
    rb_scale3(outward, t->frame, n);
    return rb_ray_shape(zone, t->pos, n, &hit) == RB_OK && isfinite(hit.distance);
}

void rb_sense_touch(const rb_sense *s, int i, double *out)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    int site = m->sensor_index[i], body = m->site_body[site];
    rb_shape zone = rb_site_zone(s, site);
    *out = 0.0;
    for (int k = 0; k < d->ntouch && d->touch[k].id.kind == CONTACT; k++) {
        const rb_touch *t = &d->touch[k];
        int first = m->geom_body[t->id.a] == body, second = m->geom_body[t->id.b] == body;
        if (t->p[0] <= 0.0 || (!first && !second)) continue;
        if (is_felt(&zone, t, first ? 1.0 : -1.0)) *out += t->p[0] * per_step(d);
    }
}

/* ---- contact ----------------------------------------------------------------------------------
 */

/* A contact of the last step, swapped where needed so that the first object of the sensor is first.
 */
typedef struct found {
    const rb_touch *t;
    double sign; /* -1: the second geom of the contact is the first of the sensor */
} found;

static int is_below(const rb_model *m, int body, int root)
{
    while (body > root) body = m->body_parent[body];
    return body == root;
}

static int is_asked(const rb_model *m, int object, int index, int geom)
{
    int body = m->geom_body[geom];
    if (index < 0) return 1;
    if (object == RB_OBJECT_GEOM) return geom == index;
    if (object == RB_OBJECT_SUBTREE) return is_below(m, body, index);
    return body == index;
}

/* 1, -1: it matches, as it is or turned around; 0: it does not. */
static int match(const rb_sense *s, int i, const rb_touch *t)
{
    const rb_model *m = s->m;
    int object = m->sensor_object[i], index = m->sensor_index[i];
    int other = m->sensor_reference[i], other_index = m->sensor_reference_index[i];
    if (m->sensor_site[i] >= 0) {
        rb_shape zone = rb_site_zone(s, m->sensor_site[i]);
        if (!rb_zone_has(&zone, t->pos)) return 0;
    }
    if (is_asked(m, object, index, t->id.a) && is_asked(m, other, other_index, t->id.b)) return 1;
    if (is_asked(m, object, index, t->id.b) && is_asked(m, other, other_index, t->id.a)) return -1;
    return 0;
}

/* Frame and wrench of a contact whose geoms are swapped in the sensor: n and t1 change sign, and so
 * does the wrench on the second: components (x, y, -z). */
static void put_turned(const double x[3], double sign, double scale, double *out)
{
    out[0] = scale * x[0];
    out[1] = scale * x[1];
    out[2] = sign * scale * x[2];
}

static void relative_velocity(const rb_sense *s, const rb_touch *t, double V[6])
{
    double V1[6], V2[6];
    rb_point_velocity(s->m, s->d, s->m->geom_body[t->id.a], t->pos, V1);
    rb_point_velocity(s->m, s->d, s->m->geom_body[t->id.b], t->pos, V2);
    for (int k = 0; k < 6; k++) V[k] = V2[k] - V1[k];
    rb_rot(t->frame, V, V);
    rb_rot(t->frame, V + 3, V + 3);
}

static void put_slot(const rb_sense *s, int data, int count, const found *f, double *out)
{
    const rb_touch *t = f->t;
    double scale = per_step(s->d), V[6];
    if (data & RB_CONTACT_FOUND) *out++ = count;
    if (data & RB_CONTACT_FORCE) put_turned(t->p, f->sign, scale, out), out += 3;
    if (data & RB_CONTACT_TORQUE) put_turned(t->p + 3, f->sign, scale, out), out += 3;
    if (data & RB_CONTACT_DIST) *out++ = t->gap;
    if (data & RB_CONTACT_POS) rb_copy3(t->pos, out), out += 3;
    if (data & RB_CONTACT_NORMAL) rb_scale3(f->sign, t->frame, out), out += 3;
    if (data & RB_CONTACT_TANGENT) rb_scale3(f->sign, t->frame + 3, out), out += 3;
    if (!(data & (RB_CONTACT_LINVEL | RB_CONTACT_ANGVEL))) return;
    relative_velocity(s, t, V);
    if (data & RB_CONTACT_LINVEL) put_turned(V + 3, f->sign, 1.0, out), out += 3;
    if (data & RB_CONTACT_ANGVEL) put_turned(V, f->sign, 1.0, out);
}

/* All as one, at the centre of the normal forces, in world axes. */
static void put_net(const rb_sense *s, int i, int count, double *out)
{
    const rb_data *d = s->d;
    int data = s->m->sensor_data[i];
    double F[3] = { 0 }, T[3] = { 0 }, centre[3] = { 0 }, weight = 0.0, scale = per_step(d);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < d->ntouch && d->touch[k].id.kind == CONTACT; k++) {
            const rb_touch *t = &d->touch[k];
            double sign = match(s, i, t), f[3], m[3], arm[3];
            if (sign == 0.0) continue;
            if (pass == 0) {
                weight += t->p[0];
                rb_axpy3(t->p[0], t->pos, centre);
                continue;
            }
            rb_rot_t(t->frame, t->p, f);
            rb_rot_t(t->frame, t->p + 3, m);
            rb_axpy3(sign * scale, f, F);
            rb_axpy3(sign * scale, m, T);
            rb_sub3(t->pos, centre, arm);
            rb_cross3(arm, f, m);
            rb_axpy3(sign * scale, m, T);
        }
        if (pass == 0 && weight > 0.0) rb_scale3(1.0 / weight, centre, centre);
    }
    static const double axes[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    if (data & RB_CONTACT_FOUND) *out++ = count;
    if (data & RB_CONTACT_FORCE) rb_copy3(F, out), out += 3;
    if (data & RB_CONTACT_TORQUE) rb_copy3(T, out), out += 3;
    if (data & RB_CONTACT_DIST) *out++ = 0.0;
    if (data & RB_CONTACT_POS) rb_copy3(centre, out), out += 3;
    if (data & RB_CONTACT_NORMAL) rb_copy3(axes, out), out += 3;
    if (data & RB_CONTACT_TANGENT) rb_copy3(axes + 3, out);
}

/* What orders the contacts: the less comes first. */
static double rank_of(int reduce, const rb_touch *t)
{
    if (reduce == RB_REDUCE_MINDIST) return t->gap;
    return reduce == RB_REDUCE_MAXFORCE ? -rb_norm3(t->p) : 0.0;
}

/* The first one after (rank, k): contacts in the order of rank, then of their index. */
static int next_of(const rb_sense *s, int i, double rank, int k, found *out)
{
    const rb_data *d = s->d;
    int best = -1, reduce = s->m->sensor_reduce[i];
    double least = 0.0;
    for (int c = 0; c < d->ntouch && d->touch[c].id.kind == CONTACT; c++) {
        double r = rank_of(reduce, &d->touch[c]);
        if (k >= 0 && (r < rank || (r == rank && c <= k))) continue;
        if (best >= 0 && r >= least) continue;
        int sign = match(s, i, &d->touch[c]);
        if (sign == 0 || !(d->touch[c].p[0] > 0.0)) continue;
        best = c;
        least = r;
        *out = (found){ &d->touch[c], sign };
    }
    return best;
}

/* Only contacts with a force are found: those within reach that stayed open are none. */
static int count_of(const rb_sense *s, int i)
{
    const rb_data *d = s->d;
    int n = 0;
    for (int k = 0; k < d->ntouch && d->touch[k].id.kind == CONTACT; k++)
        n += d->touch[k].p[0] > 0.0 && match(s, i, &d->touch[k]) != 0;
    return n;
}

void rb_sense_contact(const rb_sense *s, int i, double *out)
{
    const rb_model *m = s->m;
    int data = m->sensor_data[i], width = rb_contact_slot(data), count = count_of(s, i), k = -1;
    memset(out, 0, (size_t)m->sensor_dim[i] * sizeof *out);
    if (count == 0) return;
    if (m->sensor_reduce[i] == RB_REDUCE_NETFORCE) {
        put_net(s, i, count, out);
        return;
    }
    found f = { NULL, 1.0 };
    for (int slot = 0; slot < m->sensor_num[i] && slot < count; slot++, out += width) {
        k = next_of(s, i, k < 0 ? 0.0 : rank_of(m->sensor_reduce[i], f.t), k, &f);
        if (k < 0) return;
        put_slot(s, data, count, &f, out);
    }
}
