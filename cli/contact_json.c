#include "contact_json.h"

#include <stdlib.h>

#include "rattleback/sensor.h"
#include "rattleback/solve.h"

static const char *mode_word(int mode)
{
    switch (mode) {
    case RB_MODE_OPEN:
        return "open";
    case RB_MODE_STICK:
        return "stick";
    case RB_MODE_SLIDE:
    case RB_MODE_UPPER:
        return "slide";
    default:
        return "unknown";
    }
}

static void put(json *j, const rb_model *m, const rb_contact_force *c)
{
    char name[128];
    double world[3];
    for (int i = 0; i < 3; i++)
        world[i] = c->frame[i] * c->force[0] + c->frame[3 + i] * c->force[1] +
                   c->frame[6 + i] * c->force[2];
    json_begin(j, NULL);
    json_text(j, "geom1", rb_geom_title(m, c->geom1, name, sizeof name));
    json_text(j, "geom2", rb_geom_title(m, c->geom2, name, sizeof name));
    json_text(j, "body1", rb_model_name(m, RB_KIND_BODY, c->body1, name, sizeof name));
    json_text(j, "body2", rb_model_name(m, RB_KIND_BODY, c->body2, name, sizeof name));
    json_text(j, "mode", mode_word(c->mode));
    json_number(j, "gap", c->gap);
    json_vector(j, "pos", c->pos, 3);
    json_matrix(j, "frame", c->frame, 3, 3);
    json_vector(j, "impulse", c->impulse, 6);
    json_vector(j, "force", c->force, 6);
    json_vector(j, "force_world", world, 3);
    json_vector(j, "slip", c->slip, 2);
    json_end(j);
}

void contact_json(json *j, const char *key, const rb_model *m, const rb_data *d)
{
    int n = rb_contact_forces(m, d, 0, NULL);
    rb_contact_force *all = malloc(((size_t)n + 1) * sizeof *all);
    if (!all) return;
    rb_contact_forces(m, d, n, all);
    json_begin_list(j, key);
    for (int i = 0; i < n; i++) put(j, m, &all[i]);
    json_end_list(j);
    free(all);
}

void contact_bodies_json(json *j, const char *key, const rb_model *m, const rb_data *d)
{
    json_begin(j, key);
    for (int b = 1; b < m->nbody; b++) {
        char name[128];
        double force[3], torque[3];
        if (rb_contact_between(m, d, b, -1) == 0.0) continue;
        rb_contact_on_body(m, d, b, force, torque);
        json_begin(j, rb_model_name(m, RB_KIND_BODY, b, name, sizeof name));
        json_vector(j, "force", force, 3);
        json_vector(j, "torque", torque, 3);
        json_end(j);
    }
    json_end(j);
}
