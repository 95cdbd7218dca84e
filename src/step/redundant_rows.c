/* Finds redundant rows of loops that contradict the others. Two points of one axis are six rows
 * for five freedoms, and with the digits of a file their distance differs between the two bodies.
 * No motion closes that. Rows that are nearly the same ask for a huge motion. In an island with n
 * rows whose loops are open, those rows are dropped for one step that the others decide:
 *
 *     pivot of J M^-1 J', scaled to unit diagonal, <= 1e-6 n at q,  |error(q)| > 1e-10 size (S.40)
 *
 * To take such a length off, a point would have to move by more than a thousand times the length.
 * Dropped rows may not open to more than twice what loops were open by. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "step/closure.h"

/* Closure error that tells rows that disagree from what steps leave [m]. */
static double velocity_error(const rb_stage *s)
{
    return fmax(RB_LOOP_DISAGREES * s->size, s->open_most);
}

static int has_open(const rb_stage *s, int island)
{
    int open = 0;
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        for (int r = 0; r < c->nrow && c->kind == RB_CONSTRAINT_EQUALITY; r++)
            open |= fabs(s->set.error[c->row + r]) > velocity_error(s);
    }
    return open;
}

int rb_stage_is_redundant(const rb_stage *s, int e, int r)
{
    return s->redundant && s->redundant[e * RB_LOOP_ROWS + r];
}

/* row_repeats: of the rows of the set. */
static rb_status mark_island(rb_stage *s, rb_closure *x, int island, unsigned char *row_repeats)
{
    double tol = has_open(s, island) ? RB_LOOP_REPEATS : RB_LOOP_RANK_TOL;
    rb_status status = rb_closure_factor(s, x, island, tol);
    const rb_closed *of = &x->of[island];
    for (int i = of->rank; status == RB_OK && i < of->n; i++) row_repeats[of->row[of->perm[i]]] = 1;
    return status;
}

/* Rows that were left to themselves in the step before are so again where there is a choice: their
 * neighbours have the impulses for it. */
static void mark_lasting(const rb_stage *s, unsigned char *last)
{
    memset(last, 0, (size_t)s->set.nrow);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        const rb_touch *touch =
            c->kind == RB_CONSTRAINT_EQUALITY ? rb_touch_find(s->d, &c->id) : NULL;
        if (!touch || touch->nrow != c->nrow) continue;
        for (int r = 0; r < c->nrow; r++) last[c->row + r] = touch->p[r] == 0.0;
    }
}

/* Needs the factor of M. */
static rb_status find(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    size_t flags = (size_t)s->m->neq * RB_LOOP_ROWS;
    s->redundant = rb_push(arena, unsigned char, flags);
    if (!s->redundant) return RB_NOMEM;
    memset(s->redundant, 0, flags);
    rb_mark mark = rb_arena_mark(arena);
    rb_closure x = { .set = s->set, .of = rb_push(arena, rb_closed, s->set.nisland) };
    unsigned char *row_repeats = rb_push(arena, unsigned char, s->set.nrow);
    unsigned char *last = rb_push(arena, unsigned char, s->set.nrow);
    if (!x.of || !row_repeats || !last) return RB_NOMEM;
    if (s->o->scheme == RB_SCHEME_NODE) {
        mark_lasting(s, last);
        x.last = last;
    }
    memset(x.of, 0, (size_t)s->set.nisland * sizeof *x.of);
    memset(row_repeats, 0, (size_t)s->set.nrow);
    rb_status status = RB_OK;
    for (int island = 0; island < s->set.nisland && status == RB_OK; island++) {
        if (s->o->scheme == RB_SCHEME_NODE || has_open(s, island))
            status = mark_island(s, &x, island, row_repeats);
    }
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_EQUALITY) continue;
        for (int r = 0; r < c->nrow; r++)
            s->redundant[c->id.a * RB_LOOP_ROWS + r] = row_repeats[c->row + r];
    }
    rb_arena_reset(arena, mark);
    return status;
}

/* Largest closure error, or 0. */
static double most_open(const rb_stage *s)
{
    double most = 0.0;
    for (int row = 0; row < s->set.nrow; row++) most = fmax(most, fabs(s->set.error[row]));
    return most;
}

rb_status rb_stage_drop_redundant(rb_stage *s, int first)
{
    if (s->m->neq == 0) return RB_OK;
    if (first) {
        s->redundant = NULL;
        s->open = most_open(s);
    }
    int find_them = first && (s->o->scheme == RB_SCHEME_NODE || s->open > velocity_error(s));
    rb_status status = find_them ? find(s) : RB_OK;
    for (int i = 0; i < s->set.n && s->redundant && status == RB_OK; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_EQUALITY) continue;
        for (int r = 0; r < c->nrow; r++) {
            if (!rb_stage_is_redundant(s, c->id.a, r)) continue;
            memset(s->set.J + c->block + (ptrdiff_t)r * c->ndof, 0,
                   (size_t)c->ndof * sizeof(double));
            s->set.drive[c->row + r] = 0.0;
        }
    }
    return status;
}
