/* Keeps points of faces through the rounds of a repair. A few vertices stand for all that a hull
 * has near a face. Where the hull turns, others come down. A round would see only those and lose
 * the ones that pushed in the round before, which then come down again. The set of rows should
 * grow until none is missing. So vertices of the round before that were not found again are looked
 * at where they are now. The face they stand on must still be there. Its plane is what the gap is
 * measured from, so that a point that is added is exactly the constraint that a larger manifold
 * would have:
 *
 *     gap = +-n.(x_vertex - x_face)                                                          (S.10)
 */
#include <string.h>

#include "base/arena.h"
#include "collide/feature.h"
#include "math/vec3.h"
#include "step/stage.h"

static int kind_of(uint32_t half)
{
    return (int)(half >> 14);
}

/* 1 or 2: the side of the face of a contact of a vertex with a face; 0: another kind. */
static int face_side(uint32_t feature)
{
    uint32_t half1 = feature >> 16, half2 = feature & 0xffff;
    if (feature == RB_FEATURE_NONE) return 0;
    if (kind_of(half1) == RB_FACE && kind_of(half2) == RB_VERTEX) return 1;
    return kind_of(half2) == RB_FACE && kind_of(half1) == RB_VERTEX ? 2 : 0;
}

rb_status rb_stage_keep_points(rb_stage *s)
{
    rb_data *d = s->d;
    int n = s->set.ncontact;
    s->kept_point = rb_push(d->arena, rb_kept_point, n);
    if (!s->kept_point) return RB_NOMEM;
    s->nkept_point = 0;
    memcpy(d->q, s->q_hat, (size_t)s->m->nq * sizeof *d->q);
    rb_stage_kinematic_pose(s, s->v_hat && !s->middle ? s->h : 0.0);
    rb_kinematics(s->m, d);
    rb_frames(s->m, d);
    for (int i = 0; i < n; i++) {
        const rb_contact *c = &s->contacts[i];
        int side = face_side(c->at.feature);
        if (side == 0) continue;
        rb_kept_point *kept = &s->kept_point[s->nkept_point++];
        int geom = side == 1 ? c->geom2 : c->geom1;
        double r[3];
        kept->contact = *c;
        rb_sub3(side == 1 ? c->at.pos2 : c->at.pos1, d->geom_p + 3 * (ptrdiff_t)geom, r);
        rb_rot_t(d->geom_R + 9 * (ptrdiff_t)geom, r, kept->vertex);
    }
    return RB_OK;
}

/* The same face of the same pair. */
static int same_face(const rb_contact *a, const rb_contact *b, int side)
{
    uint32_t mask = side == 1 ? UINT32_C(0xffff0000) : UINT32_C(0xffff);
    return a->geom1 == b->geom1 && a->geom2 == b->geom2 &&
           (a->at.feature & mask) == (b->at.feature & mask) && b->at.feature != RB_FEATURE_NONE;
}

static const rb_contact *find_face(const rb_stage *s, const rb_contact *c)
{
    int side = face_side(c->at.feature);
    for (int i = 0; i < s->ncontact; i++) {
        if (same_face(c, &s->contacts[i], side)) return &s->contacts[i];
    }
    return NULL;
}

/* The contact of a vertex with the face of another contact, at the present position (S.10). */
static rb_contact contact_on(const rb_stage *s, const rb_kept_point *kept, const rb_contact *face)
{
    rb_contact c = kept->contact;
    int side = face_side(c.at.feature), geom = side == 1 ? c.geom2 : c.geom1;
    const double *n = face->at.normal;
    double *x = side == 1 ? c.at.pos2 : c.at.pos1, *foot = side == 1 ? c.at.pos1 : c.at.pos2;
    double away[3], sign = side == 1 ? 1.0 : -1.0;
    rb_rot(s->d->geom_R + 9 * (ptrdiff_t)geom, kept->vertex, x);
    rb_add3(x, s->d->geom_p + 3 * (ptrdiff_t)geom, x);
    rb_sub3(x, side == 1 ? face->at.pos1 : face->at.pos2, away);
    c.at.gap = sign * rb_dot3(n, away);
    rb_copy3(n, c.at.normal);
    rb_copy3(x, foot);
    rb_axpy3(-sign * c.at.gap, n, foot);
    c.error = face->error;
    return c;
}

static int order(const rb_contact *a, const rb_contact *b)
{
    if (a->geom1 != b->geom1) return a->geom1 < b->geom1 ? -1 : 1;
    if (a->geom2 != b->geom2) return a->geom2 < b->geom2 ? -1 : 1;
    return a->at.feature < b->at.feature ? -1 : a->at.feature > b->at.feature;
}

static void insert(rb_stage *s, int at, const rb_contact *c)
{
    memmove(s->contacts + at + 1, s->contacts + at, (size_t)(s->ncontact - at) * sizeof *c);
    s->contacts[at] = *c;
    s->ncontact++;
}

rb_status rb_stage_add_kept_points(rb_stage *s)
{
    for (int i = 0, at = 0; i < s->nkept_point; i++) {
        const rb_contact *was = &s->kept_point[i].contact, *face = NULL;
        while (at < s->ncontact && order(&s->contacts[at], was) < 0) at++;
        if (at < s->ncontact && order(&s->contacts[at], was) == 0) continue;
        if (!(face = find_face(s, was))) continue;
        if (s->ncontact == s->d->touch_max) {
            s->ncontact++; /* the caller learns how many there would be */
            return RB_FULL;
        }
        rb_contact c = contact_on(s, &s->kept_point[i], face);
        insert(s, at, &c);
    }
    return RB_OK;
}
