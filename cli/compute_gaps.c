/* `rattleback compute --what gaps`: how far the geoms are from each other. */
#include "compute_gaps.h"

#include <math.h>
#include <stdlib.h>

#include "rattleback/collide.h"

static const char *geom_name(const rb_model *m, int g, char *buffer, size_t size)
{
    return rb_model_name(m, RB_KIND_GEOM, g, buffer, size);
}

/* All pairs that the filter lets through, grown until they fit. NULL: *status says why. */
static rb_contact *find_contacts(computation *c, int *n, rb_status *status, rb_error *err)
{
    int capacity = 64;
    for (;;) {
        rb_contact *contacts = malloc((size_t)capacity * sizeof *contacts);
        *status =
            contacts ? rb_collide(c->m, c->d, 1.0, INFINITY, capacity, contacts, n, err) : RB_NOMEM;
        if (*status == RB_OK) return contacts;
        free(contacts);
        if (*status != RB_FULL) return NULL;
        capacity = *n;
    }
}

static void put_point(json *out, const rb_manifold_point *p)
{
    json_begin(out, NULL);
    json_number(out, "gap", p->gap);
    json_vector(out, "normal", p->normal, 3);
    json_vector(out, "pos1", p->pos1, 3);
    json_vector(out, "pos2", p->pos2, 3);
    json_number(out, "feature", p->feature);
    json_end(out);
}

/* The points of one pair are consecutive; its gap is the least of them. */
static int put_pair(computation *c, const rb_contact *contacts, int n)
{
    char name1[64], name2[64];
    int count = 1, first = 0;
    while (count < n && contacts[count].geom1 == contacts->geom1 &&
           contacts[count].geom2 == contacts->geom2) {
        if (contacts[count].at.gap < contacts[first].at.gap) first = count;
        count++;
    }
    json_begin(&c->out, NULL);
    json_text(&c->out, "geom1", geom_name(c->m, contacts->geom1, name1, sizeof name1));
    json_text(&c->out, "geom2", geom_name(c->m, contacts->geom2, name2, sizeof name2));
    json_int(&c->out, "id1", contacts->geom1);
    json_int(&c->out, "id2", contacts->geom2);
    json_number(&c->out, "gap", contacts[first].at.gap);
    if (contacts->error > 0.0) json_number(&c->out, "error", contacts->error);
    json_vector(&c->out, "normal", contacts[first].at.normal, 3);
    json_begin_list(&c->out, "points");
    for (int i = 0; i < count; i++) put_point(&c->out, &contacts[i].at);
    json_end_list(&c->out);
    json_end(&c->out);
    return count;
}

rb_status compute_put_gaps(computation *c, const char *name)
{
    int n = 0;
    rb_status status;
    rb_contact *contacts = find_contacts(c, &n, &status, &c->err);
    if (!contacts) return status;
    json_begin_list(&c->out, name);
    for (int i = 0; i < n;) i += put_pair(c, contacts + i, n - i);
    json_end_list(&c->out);
    free(contacts);
    return RB_OK;
}
