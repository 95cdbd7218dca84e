/* Adhesion acts on the contacts of the step before. The first step has none before it. So the
 * contacts of the start are found, and a body that sticks there does not fall for a step and lose
 * its hold. The node rule finds contacts at its start anyway, and adhesion acts on those. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "rattleback/collide.h"
#include "step/contacts.h"
#include "step/touch.h"

static int some_adhesion(const rb_model *m)
{
    if (m->nsticky > 0) return 1;
    for (int i = 0; i < m->nu; i++)
        if (m->act_transmission[i] == RB_TRN_BODY) return 1;
    return 0;
}

/* Where adhesion pulls, and along what. */
static void place(const rb_contact *c, rb_touch *touch)
{
    touch->gap = c->at.gap;
    for (int a = 0; a < 3; a++) touch->pos[a] = 0.5 * (c->at.pos1[a] + c->at.pos2[a]);
    memcpy(touch->frame, c->at.normal, sizeof c->at.normal);
}

static void note(const rb_contact *c, rb_touch *touch)
{
    memset(touch, 0, sizeof *touch);
    touch->id = (rb_touch_id){ 0, c->geom1, c->geom2, c->at.feature };
    place(c, touch);
}

void rb_step_first_contacts(const rb_model *m, rb_data *d)
{
    rb_error err = { 0 };
    int n = 0;
    if (d->touch_h != 0.0 || d->ntouch > 0 || !some_adhesion(m)) return;
    rb_mark mark = rb_arena_mark(d->arena);
    rb_contact *contacts = rb_push(d->arena, rb_contact, d->touch_max);
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    if (contacts && rb_collide(m, d, 0.0, 0.0, d->touch_max, contacts, &n, &err) == RB_OK) {
        for (int i = 0; i < n; i++) {
            if (contacts[i].at.gap > RB_ADHESION_REACH * m->extent) continue;
            note(&contacts[i], &d->touch[d->ntouch++]);
        }
    }
    rb_arena_reset(d->arena, mark);
}

/* The entry of id in the table, which is sorted; a new one where there is none. NULL: it is full.
 */
static rb_touch *entry_of(rb_data *d, const rb_touch_id *id)
{
    int at = d->ntouch;
    while (at > 0 && rb_touch_order(&d->touch[at - 1].id, id) > 0) at--;
    if (at > 0 && rb_touch_order(&d->touch[at - 1].id, id) == 0) return &d->touch[at - 1];
    if (d->ntouch >= d->touch_max) return NULL;
    memmove(d->touch + at + 1, d->touch + at, (size_t)(d->ntouch - at) * sizeof *d->touch);
    memset(&d->touch[at], 0, sizeof d->touch[at]);
    d->ntouch++;
    return &d->touch[at];
}

void rb_stage_keep_adhesion_contacts(rb_stage *s)
{
    rb_data *d = s->d;
    if (!some_adhesion(s->m)) return;
    for (int i = 0; i < d->ntouch; i++) d->touch[i].gap = INFINITY;
    for (int i = 0; i < s->problem.ncontact; i++) {
        const rb_contact *c = &s->problem.contacts[i];
        rb_touch_id id = { 0, c->geom1, c->geom2, c->at.feature };
        rb_touch *touch = entry_of(d, &id);
        if (!touch) return;
        place(c, touch); /* its impulse is what rounds begin with */
        touch->id = id;
    }
}
