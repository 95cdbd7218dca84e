/* Sensors that look: rangefinders, distances of geoms and bodies, zones of sites. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "math/vec3.h"
#include "sense/sense.h"

/* ---- zones ------------------------------------------------------------------------------------
 */

rb_shape rb_site_zone(const rb_sense *s, int site)
{
    return (rb_shape){ .type = s->m->site_type[site],
                       .size = s->m->site_size + 3 * (ptrdiff_t)site,
                       .p = s->d->site_p + 3 * (ptrdiff_t)site,
                       .R = s->d->site_R + 9 * (ptrdiff_t)site,
                       .asset = -1 };
}

int rb_zone_has(const rb_shape *zone, const double x[3])
{
    const double *size = zone->size;
    double y[3], sum = 0.0;
    rb_sub3(x, zone->p, y);
    rb_rot_t(zone->R, y, y);
    double round = y[0] * y[0] + y[1] * y[1], z = fabs(y[2]);
    switch (zone->type) {
    case RB_GEOM_SPHERE:
        return round + z * z <= size[0] * size[0];
    case RB_GEOM_CAPSULE:
        z = z > size[1] ? z - size[1] : 0.0;
        return round + z * z <= size[0] * size[0];
    case RB_GEOM_CYLINDER:
        return round <= size[0] * size[0] && z <= size[1];
    case RB_GEOM_ELLIPSOID:
        for (int k = 0; k < 3; k++) sum += y[k] * y[k] / (size[k] * size[k]);
        return sum <= 1.0;
    default:
        return fabs(y[0]) <= size[0] && fabs(y[1]) <= size[1] && z <= size[2];
    }
}

void rb_sense_inside(const rb_sense *s, int i, double *out)
{
    rb_shape zone = rb_site_zone(s, s->m->sensor_site[i]);
    rb_frame f = rb_frame_of(s, s->m->sensor_object[i], s->m->sensor_index[i]);
    *out = rb_zone_has(&zone, f.p) ? 1.0 : 0.0;
}

/* ---- rays -------------------------------------------------------------------------------------
 */

/* Along +z of the site; its own body is not seen. */
void rb_sense_range(const rb_sense *s, int i, double *out)
{
    int site = s->m->sensor_index[i], data = s->m->sensor_data[i];
    const double *p = s->d->site_p + 3 * site, *R = s->d->site_R + 9 * site;
    double z[3] = { R[2], R[5], R[8] };
    rb_ray_opts opts = rb_ray_opts_default();
    rb_ray_hit hit;
    opts.exclude_body = s->m->site_body[site];
    rb_ray(s->m, s->d, p, z, &opts, &hit);
    if (hit.geom < 0) {
        rb_zero3(z);
        rb_zero3(hit.point);
        rb_zero3(hit.normal);
    }
    double distance = hit.geom < 0 ? -1.0 : hit.distance;
    if (data & RB_RANGE_DIST) *out++ = distance;
    const double *const field[4] = { z, p, hit.point, hit.normal };
    for (int k = 0; k < 4; k++) {
        if (!(data & RB_RANGE_DIR << k)) continue;
        memcpy(out, field[k], 3 * sizeof *out);
        out += 3;
    }
    if (data & RB_RANGE_DEPTH) *out = distance;
}

/* ---- distances --------------------------------------------------------------------------------
 */

typedef struct span {
    int first, count;
} span;

static span geoms_of(const rb_model *m, int object, int index)
{
    if (object == RB_OBJECT_GEOM) return (span){ index, 1 };
    return (span){ m->body_geomadr[index], m->body_geomnum[index] };
}

/* The least of all pairs within `reach`. */
static rb_distance measure(const rb_sense *s, int i, double reach)
{
    const rb_model *m = s->m;
    rb_distance least = { .geom1 = -1, .geom2 = -1 };
    span a = geoms_of(m, m->sensor_object[i], m->sensor_index[i]);
    span b = geoms_of(m, m->sensor_reference[i], m->sensor_reference_index[i]);
    for (int x = 0; x < a.count; x++) {
        for (int y = 0; y < b.count; y++) {
            rb_distance one;
            rb_status status = rb_geom_distance(m, s->d, a.first + x, b.first + y, reach, &one);
            if (status != RB_OK || one.geom1 < 0) continue;
            if (least.geom1 < 0 || one.at.gap < least.at.gap) least = one;
        }
    }
    return least;
}

/* What is farther away than the cutoff reads as the cutoff, without normal and points. */
void rb_sense_distance(const rb_sense *s, int i, double *out)
{
    double cutoff = s->m->sensor_cutoff[i];
    rb_distance x = measure(s, i, cutoff);
    int found = x.geom1 >= 0;
    switch (s->m->sensor_type[i]) {
    case RB_SENSOR_DISTANCE:
        *out = found ? x.at.gap : cutoff;
        break;
    case RB_SENSOR_NORMAL:
        /* From surface to surface, as fromto: in overlap against the normal of the contact. */
        for (int k = 0; k < 3; k++)
            out[k] = !found ? 0.0 : x.at.gap < 0.0 ? -x.at.normal[k] : x.at.normal[k];
        break;
    default:
        for (int k = 0; k < 3; k++) {
            out[k] = found ? x.at.pos1[k] : 0.0;
            out[3 + k] = found ? x.at.pos2[k] : 0.0;
        }
        break;
    }
}
