/* Directions in which two bodies of one mechanism cannot move along each other: links of a planar
 * linkage that touch, across its plane. Their rows are zero but for the tilt of the normal, 1e-9
 * or less. Pivoting methods would take that for the compliance of a very heavy body and look for
 * the impulse that moves it; here it does not move at all (F.22). */
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/contact.h"

static int is_immovable(const rb_island *is, int i, int r)
{
    ptrdiff_t n = is->nrow, normal = is->row[i], row = normal + r;
    return is->W.dense[row * n + row] <= RB_IMMOVABLE_ALONG * is->W.dense[normal * n + normal];
}

static int tangents(const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && c->nrow >= 3 ? 2 : 0;
}

rb_status rb_island_drop_immovable(rb_island *is, rb_arena *arena)
{
    ptrdiff_t n = is->nrow;
    double *W = NULL;
    if (is->W.form != RB_DENSE) return RB_OK;
    for (int i = 0; i < is->n; i++) {
        for (int r = 1; r <= tangents(is->c[i]); r++) {
            ptrdiff_t row = is->row[i] + r;
            if (is->W.dense[row * n + row] == 0.0 || !is_immovable(is, i, r)) continue;
            if (!W) {
                W = rb_push(arena, double, (size_t)(n * n));
                if (!W) return RB_NOMEM;
                memcpy(W, is->W.dense, (size_t)(n * n) * sizeof *W);
                is->W.dense = W;
            }
            for (ptrdiff_t j = 0; j < n; j++) W[row * n + j] = W[j * n + row] = 0.0;
            is->u[row] = 0.0;
        }
    }
    return RB_OK;
}
