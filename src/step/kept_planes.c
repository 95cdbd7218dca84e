/* Keeps places of contacts through the rounds of a repair, where contacts run along a surface.
 *
 * A row is a plane at one place of a surface, and some contacts have no place of their own. The
 * closest points of two capsules that are almost parallel run from one end to the other while the
 * capsules turn by 1e-8. A round that lifts them where they touched drops them where they touch
 * next, and the round after that finds the first place again. The set of rows should grow until
 * none is missing. So the place of the round before is kept as well, fixed to its two bodies:
 *
 *     gap = n.(x_2 - x_1),     n, x_1 on body 1, x_2 on body 2                               (S.12)
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "collide/feature.h"
#include "math/vec3.h"
#include "step/stage.h"

/* Cuts of a pair are curved features that no shape has. */
enum { FIRST_NAME = 0x3000 };

static uint32_t name(int k)
{
    uint32_t half = rb_feature_half(RB_CURVED, FIRST_NAME + k);
    return rb_feature(half, half);
}

static int is_name(uint32_t feature)
{
    return feature >= name(0);
}

/* Neither vertices nor faces have places that run. */
static int runs(uint32_t feature)
{
    int kind1 = (int)(feature >> 30), kind2 = (int)(feature >> 14 & 3);
    if (feature == RB_FEATURE_NONE) return 0;
    return kind1 == RB_CURVED || kind2 == RB_CURVED || (kind1 == RB_EDGE && kind2 == RB_EDGE);
}

static int same_pair(const rb_contact *a, const rb_contact *b)
{
    return a->geom1 == b->geom1 && a->geom2 == b->geom2;
}

/* A point of the world in the frame of a geom, and back. */
static void to_geom(const rb_data *d, int geom, const double *x, double *local)
{
    double r[3];
    rb_sub3(x, d->geom_p + 3 * (ptrdiff_t)geom, r);
    rb_rot_t(d->geom_R + 9 * (ptrdiff_t)geom, r, local);
}

static void to_world(const rb_data *d, int geom, const double *local, double *x)
{
    rb_rot(d->geom_R + 9 * (ptrdiff_t)geom, local, x);
    rb_add3(x, d->geom_p + 3 * (ptrdiff_t)geom, x);
}

/* Chains turn on between rounds, and their old places say little; a sphere has one place. */
static int may_run(const rb_stage *s, int geom)
{
    int link = s->m->geom_link[geom];
    if (s->m->geom_type[geom] == RB_GEOM_SPHERE) return 0;
    return link == 0 || rb_stage_is_single(s->m, link);
}

/* The first repair comes from far: what it finds stays where it is. */
rb_status rb_stage_keep_planes(rb_stage *s)
{
    const rb_data *d = s->d;
    s->nkept_plane = 0;
    if (!s->v_hat || s->middle) return RB_OK;
    s->kept_plane = rb_push(d->arena, rb_kept_plane, s->set.ncontact);
    if (!s->kept_plane) return RB_NOMEM;
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_contact *c = &s->contacts[i];
        if (!runs(c->at.feature) || !may_run(s, c->geom1) || !may_run(s, c->geom2)) continue;
        rb_kept_plane *cut = &s->kept_plane[s->nkept_plane++];
        cut->contact = *c;
        to_geom(d, c->geom1, c->at.pos1, cut->x_1);
        to_geom(d, c->geom2, c->at.pos2, cut->x_2);
        rb_rot_t(d->geom_R + 9 * (ptrdiff_t)c->geom1, c->at.normal, cut->n);
    }
    return RB_OK;
}

/* The contact at the place of a cut, at the present position (S.12). */
static rb_contact contact_of(const rb_stage *s, const rb_kept_plane *cut)
{
    rb_contact c = cut->contact;
    double away[3];
    to_world(s->d, c.geom1, cut->x_1, c.at.pos1);
    to_world(s->d, c.geom2, cut->x_2, c.at.pos2);
    rb_rot(s->d->geom_R + 9 * (ptrdiff_t)c.geom1, cut->n, c.at.normal);
    rb_sub3(c.at.pos2, c.at.pos1, away);
    c.at.gap = rb_dot3(c.at.normal, away);
    return c;
}

static int has_name(const rb_stage *s, const rb_contact *c, uint32_t feature)
{
    for (int i = 0; i < s->ncontact; i++) {
        if (same_pair(&s->contacts[i], c) && s->contacts[i].at.feature == feature) return 1;
    }
    for (int i = 0; i < s->nkept_plane; i++) {
        const rb_contact *other = &s->kept_plane[i].contact;
        if (same_pair(other, c) && other->at.feature == feature) return 1;
    }
    return 0;
}

/* Whether it is still there, as far as the size of models goes. */
static int is_there(const rb_stage *s, const rb_contact *c)
{
    double aside[3];
    for (int i = 0; i < s->ncontact; i++) {
        if (!same_pair(&s->contacts[i], c)) continue;
        rb_sub3(s->contacts[i].at.pos1, c->at.pos1, aside);
        if (rb_norm3(aside) <= RB_PLACE_RAN * s->size) return 1;
    }
    return 0;
}

static int order(const rb_contact *a, const rb_contact *b)
{
    if (a->geom1 != b->geom1) return a->geom1 < b->geom1 ? -1 : 1;
    if (a->geom2 != b->geom2) return a->geom2 < b->geom2 ? -1 : 1;
    return a->at.feature < b->at.feature ? -1 : a->at.feature > b->at.feature;
}

static void insert(rb_stage *s, const rb_contact *c)
{
    int at = s->ncontact++;
    for (; at > 0 && order(c, &s->contacts[at - 1]) < 0; at--)
        s->contacts[at] = s->contacts[at - 1];
    s->contacts[at] = *c;
}

rb_status rb_stage_add_kept_planes(rb_stage *s)
{
    for (int i = 0; i < s->nkept_plane; i++) {
        rb_contact c = contact_of(s, &s->kept_plane[i]);
        if (c.at.gap > RB_GAP_FLAT * s->size || is_there(s, &c)) continue;
        if (s->ncontact == s->d->touch_max) {
            s->ncontact++; /* the caller learns how many there would be */
            return RB_FULL;
        }
        for (int k = 0; !is_name(c.at.feature); k++) {
            if (!has_name(s, &c, name(k))) c.at.feature = name(k);
        }
        insert(s, &c);
    }
    return RB_OK;
}
