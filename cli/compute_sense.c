/* `rattleback compute --what rays,distance,contacts,sensors`: what can be seen, measured and felt.
 */
#include "compute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "contact_json.h"
#include "rattleback/collide.h"
#include "rattleback/sensor.h"
#include "sensor_json.h"

/* ---- options -----------------------------------------------------------------------------------
 */

int queries_ray(queries *q, const char *text)
{
    static const char *const expected = "six numbers, start and direction: 'X Y Z DX DY DZ'";
    const char *at = text;
    if (q->nray == MOST_QUERIES)
        return argument_refuse("compute", "--ray", text, "at most 256 of them");
    double *x = q->ray[q->nray];
    for (int i = 0; i < 6; i++) {
        char *end;
        x[i] = strtod(at, &end);
        if (end == at || !isfinite(x[i]))
            return argument_refuse("compute", "--ray", text, expected);
        at = end + strspn(end, " ,\t");
    }
    if (*at) return argument_refuse("compute", "--ray", text, expected);
    if (x[3] == 0.0 && x[4] == 0.0 && x[5] == 0.0)
        return argument_refuse("compute", "--ray", text, "a direction with a length");
    q->nray++;
    return 1;
}

int queries_between(queries *q, const char *text)
{
    if (!strchr(text, ','))
        return argument_refuse("compute", "--between", text, "two names and a comma: A,B");
    if (q->nbetween == MOST_QUERIES)
        return argument_refuse("compute", "--between", text, "at most 256 of them");
    q->between[q->nbetween++] = text;
    return 1;
}

int queries_groups(queries *q, const char *text)
{
    q->groups = 0;
    for (const char *at = text;; at++) {
        char *end;
        long group = strtol(at, &end, 10);
        if (end == at || group < 0 || group > 31 || (*end && *end != ','))
            return argument_refuse("compute", "--groups", text, "numbers from 0 to 31 and commas");
        q->groups |= 1u << group;
        at = end;
        if (!*end) return 1;
    }
}

/* ---- names -------------------------------------------------------------------------------------
 */

/* A geom or, where there is none of that name, a body. */
typedef struct named {
    int is_body, index; /* index -1: neither */
} named;

static named find_one(const rb_model *m, const char *name, size_t length)
{
    char copy[256];
    if (length >= sizeof copy) return (named){ 0, -1 };
    memcpy(copy, name, length);
    copy[length] = '\0';
    int geom = rb_model_find(m, RB_KIND_GEOM, copy);
    if (geom >= 0) return (named){ 0, geom };
    if (strcmp(copy, "world") == 0) return (named){ 1, 0 };
    return (named){ 1, rb_model_find(m, RB_KIND_BODY, copy) };
}

/* Names may have commas themselves: the first reading that has two elements counts. */
static int find_two(const rb_model *m, const char *text, named out[2])
{
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        out[0] = find_one(m, text, (size_t)(comma - text));
        out[1] = find_one(m, comma + 1, strlen(comma + 1));
        if (out[0].index >= 0 && out[1].index >= 0) return 1;
    }
    return 0;
}

int queries_known(const queries *q, const rb_model *m)
{
    named two[2];
    for (int k = 0; k < q->nbetween; k++) {
        if (find_two(m, q->between[k], two)) continue;
        return argument_refuse("compute", "--between", q->between[k],
                               "the names of two geoms or bodies of the model");
    }
    if (!q->exclude || rb_model_find(m, RB_KIND_BODY, q->exclude) >= 0) return 1;
    return argument_refuse("compute", "--exclude-body", q->exclude, "the name of a body");
}

/* ---- rays --------------------------------------------------------------------------------------
 */

static void put_hit(computation *c, const rb_ray_hit *hit)
{
    char name[128];
    if (hit->geom < 0) {
        json_null(&c->out, "geom");
        json_null(&c->out, "distance");
        return;
    }
    json_text(&c->out, "geom", rb_geom_title(c->m, hit->geom, name, sizeof name));
    json_text(&c->out, "body",
              rb_model_name(c->m, RB_KIND_BODY, c->m->geom_body[hit->geom], name, sizeof name));
    json_int(&c->out, "id", hit->geom);
    json_number(&c->out, "distance", hit->distance);
    json_vector(&c->out, "point", hit->point, 3);
    json_vector(&c->out, "normal", hit->normal, 3);
}

rb_status compute_put_rays(computation *c, const char *name)
{
    const queries *q = c->asked;
    rb_ray_opts opts = rb_ray_opts_default();
    opts.groups = q->groups;
    opts.hulls = q->hulls;
    if (q->exclude) opts.exclude_body = rb_model_find(c->m, RB_KIND_BODY, q->exclude);
    json_begin_list(&c->out, name);
    for (int k = 0; k < q->nray; k++) {
        rb_ray_hit hit;
        rb_ray(c->m, c->d, q->ray[k], q->ray[k] + 3, &opts, &hit);
        json_begin(&c->out, NULL);
        put_hit(c, &hit);
        json_end(&c->out);
    }
    json_end_list(&c->out);
    return RB_OK;
}

/* ---- distances ---------------------------------------------------------------------------------
 */

static int count_of(const rb_model *m, named x)
{
    return x.is_body ? m->body_geomnum[x.index] : 1;
}

static int geom_of(const rb_model *m, named x, int i)
{
    return x.is_body ? m->body_geomadr[x.index] + i : x.index;
}

/* The least of all pairs of geoms. RB_UNSUPPORTED where no pair has a distance. */
static rb_status measure(computation *c, const named two[2], rb_distance *least)
{
    rb_status status = RB_UNSUPPORTED;
    *least = (rb_distance){ .geom1 = -1, .geom2 = -1 };
    for (int i = 0; i < count_of(c->m, two[0]); i++) {
        for (int j = 0; j < count_of(c->m, two[1]); j++) {
            rb_distance one;
            rb_status found = rb_geom_distance(c->m, c->d, geom_of(c->m, two[0], i),
                                               geom_of(c->m, two[1], j), INFINITY, &one);
            if (found == RB_UNSUPPORTED) continue;
            if (found != RB_OK) return found;
            status = RB_OK;
            if (one.geom1 < 0) continue;
            if (least->geom1 < 0 || one.at.gap < least->at.gap) *least = one;
        }
    }
    return status;
}

static void put_distance(computation *c, const rb_distance *x)
{
    char name[128];
    if (x->geom1 < 0) {
        json_null(&c->out, "distance");
        return;
    }
    json_text(&c->out, "geom1", rb_geom_title(c->m, x->geom1, name, sizeof name));
    json_text(&c->out, "geom2", rb_geom_title(c->m, x->geom2, name, sizeof name));
    json_number(&c->out, "distance", x->at.gap);
    json_vector(&c->out, "normal", x->at.normal, 3);
    json_vector(&c->out, "from", x->at.pos1, 3);
    json_vector(&c->out, "to", x->at.pos2, 3);
}

rb_status compute_put_distance(computation *c, const char *name)
{
    rb_status status = RB_OK;
    json_begin_list(&c->out, name);
    for (int k = 0; k < c->asked->nbetween && status == RB_OK; k++) {
        named two[2];
        rb_distance least;
        find_two(c->m, c->asked->between[k], two);
        status = measure(c, two, &least);
        if (status == RB_UNSUPPORTED) status = RB_OK; /* two planes, bodies without geoms: null */
        json_begin(&c->out, NULL);
        json_text(&c->out, "between", c->asked->between[k]);
        put_distance(c, &least);
        json_end(&c->out);
    }
    json_end_list(&c->out);
    return status;
}

/* ---- contacts ----------------------------------------------------------------------------------
 */

/* A step of a copy, grown until its constraints fit. */
static rb_status step_copy(computation *c, rb_data **copy)
{
    rb_step_opts opts = rb_step_opts_default();
    rb_step_info info;
    *copy = rb_data_new(c->m, NULL);
    if (!*copy) return RB_NOMEM;
    rb_status status = rb_data_copy(c->m, *copy, c->d);
    while (status == RB_OK) {
        status = rb_step(c->m, *copy, &opts, &info, &c->err);
        if (status != RB_FULL) break;
        status = rb_data_reserve(c->m, copy, 2 * (*copy)->touch_max + info.contacts);
    }
    return status;
}

rb_status compute_put_contacts(computation *c, const char *name)
{
    rb_data *after = NULL;
    rb_status status = step_copy(c, &after);
    if (status == RB_OK) {
        rb_kinematics(c->m, after);
        rb_frames(c->m, after);
        contact_json(&c->out, name, c->m, after);
    }
    rb_data_free(after);
    return status;
}

/* ---- sensors -----------------------------------------------------------------------------------
 */

rb_status compute_put_sensors(computation *c, const char *name)
{
    rb_status status = rb_sensors(c->m, c->d);
    if (status == RB_OK) sensor_json(&c->out, name, c->m, c->d);
    c->factored = 0; /* the articulated inertias went with it */
    return status;
}
