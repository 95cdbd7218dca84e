/* Which entries the rows of M have room for.
 *
 * Row i of M holds i and all that is above it, dof_parent by dof_parent. In a tree without tendons
 * these are the dofs that carry i, and M = L' D L fills nothing else (D.9). A spring, a damper or a
 * servo on a tendon couples all dofs that its length depends on (D.55), also those of different
 * branches. M then has the elimination tree of both, found by [Liu 1990] from the edges
 *
 *     i - the dof that carries it,      neighbours in the list of dofs of each tendon      (D.56)
 *
 * All dofs of a tendon are on one way to the root, so that the factor has room for each pair of
 * them. Where no tendon couples branches the tree is that of the links, and M is as it was. */
#include "model/build.h"

#include <limits.h>

static const int joint_nv[] = { [RB_JOINT_FREE] = 6, [RB_JOINT_BALL] = 3, 1, 1 };

/* Edges from higher dofs, by the lower one. */
typedef struct edges {
    int n, room;
    int *low, *high; /* (room)   */
    int *start;      /* (nv + 1) */
    int *order;      /* (n)      */
} edges;

/* ---- the tree of the links --------------------------------------------------------------------
 */

/* The first dof of each joint, and the dof that carries each dof. last: scratch (nbody) */
static void carry_dofs(const rb_build *b, int *first, int *above, int *last)
{
    const rb_body_def *bodies = RB_DEFS(b, body, BODY);
    const rb_joint_def *joints = RB_DEFS(b, joint, JOINT);
    int nv = 0;
    last[0] = -1;
    for (int k = 1; k < b->m->nbody; k++) {
        last[k] = last[bodies[k].parent];
        for (int j = b->joints.start[k]; j < b->joints.start[k + 1]; j++) {
            first[j] = nv;
            for (int i = 0; i < joint_nv[joints[b->joints.order[j]].type]; i++) {
                above[nv] = last[k];
                last[k] = nv++;
            }
        }
    }
}

static int root_of(const int *above, int i)
{
    while (above[i] >= 0) i = above[i];
    return i;
}

/* ---- tendons that couple ----------------------------------------------------------------------
 */

static int is_elastic(const rb_tendon_def *t)
{
    return t->stiffness != 0.0 || t->damping != 0.0 || t->stiffness_poly[0] != 0.0 ||
           t->stiffness_poly[1] != 0.0 || t->damping_poly[0] != 0.0 || t->damping_poly[1] != 0.0;
}

/* The force of the actuator depends on how long its tendon is, or how fast. */
static int yields(const rb_actuator_def *a)
{
    if (a->gain_law != RB_LAW_AFFINE || a->bias_law != RB_LAW_AFFINE) return 1;
    return a->gain[1] != 0.0 || a->gain[2] != 0.0 || a->bias[1] != 0.0 || a->bias[2] != 0.0;
}

/* 1 for each tendon whose force depends on its motion. */
static int mark_tendons(const rb_build *b, unsigned char *marks)
{
    int any = 0;
    for (int t = 0; t < b->m->ntendon; t++) {
        marks[t] = is_elastic(RB_DEFS(b, tendon, TENDON) + t) != 0;
        any |= marks[t];
    }
    for (int u = 0; u < b->m->nu; u++) {
        const rb_actuator_def *a = RB_DEFS(b, actuator, ACTUATOR) + u;
        if (a->transmission != RB_TRN_TENDON || !yields(a)) continue;
        marks[a->target] = 1;
        any = 1;
    }
    return any;
}

/* Dofs of a tendon, ascending; returns how many. */
static int dofs_of(const rb_build *b, const rb_tendon_def *def, const int *first, int *out)
{
    if (def->npath > 0) return rb_tendon_moving_dofs(b, def, b->carried, first, out);
    int n = 0;
    for (int i = 0; i < def->njoint; i++) {
        int dof = first[b->joints.at[def->joint[i]]], at = n++;
        for (; at > 0 && out[at - 1] > dof; at--) out[at] = out[at - 1];
        out[at] = dof;
    }
    return n;
}

/* Neighbours in the list; none where it is of several trees, whose problems stay apart. */
static void add_tendon(const int *above, const int *dof, int n, edges *e)
{
    for (int i = 1; i < n; i++) {
        if (root_of(above, dof[i]) != root_of(above, dof[0])) return;
    }
    for (int i = 1; i < n; i++) {
        if (dof[i] == dof[i - 1]) continue;
        e->low[e->n] = dof[i - 1];
        e->high[e->n++] = dof[i];
    }
}

/* ---- the tree of the factor -------------------------------------------------------------------
 */

static void sort_edges(int nv, edges *e)
{
    memset(e->start, 0, ((size_t)nv + 1) * sizeof *e->start);
    for (int i = 0; i < e->n; i++) e->start[e->low[i] + 1]++;
    for (int j = 0; j < nv; j++) e->start[j + 1] += e->start[j];
    for (int i = e->n - 1; i >= 0; i--) e->order[--e->start[e->low[i] + 1]] = i;
    for (int j = 0; j < nv; j++) e->start[j] = e->start[j + 1];
    e->start[nv] = e->n;
}

/* From the highest dof down: whatever has met a dof above it hangs below that. top: scratch (nv) */
static void hang_up(int nv, const edges *e, int *above, int *top)
{
    for (int j = nv - 1; j >= 0; j--) {
        above[j] = top[j] = -1;
        for (int at = e->start[j]; at < e->start[j + 1]; at++) {
            int i = e->high[e->order[at]];
            while (top[i] >= 0 && top[i] != j) {
                int next = top[i];
                top[i] = j;
                i = next;
            }
            if (i == j || top[i] == j) continue;
            top[i] = above[i] = j;
        }
    }
}

/* b->dof_above, and how large M is with it. carrier: the dof that carries each (nv) */
static rb_status keep_tree(rb_build *b, const int *carrier, int *above, int *depth)
{
    rb_model *m = b->m;
    long long entries = 0;
    m->ncoupled = 0;
    for (int j = 0; j < m->nv; j++) {
        depth[j] = 1 + (above[j] < 0 ? 0 : depth[above[j]]);
        entries += depth[j];
        m->ncoupled += above[j] != carrier[j];
    }
    if (m->ncoupled == 0) return RB_OK;
    if (entries > INT_MAX)
        return rb_fail(b->err, RB_TOO_LARGE, "tendons couple too many joints for one mass matrix");
    m->nM = (int)entries;
    b->dof_above = above;
    return RB_OK;
}

/* Gauges are measured, and have no row in M. */
rb_status rb_size_coupled(rb_build *b)
{
    rb_model *m = b->m;
    int nv = m->nv;
    unsigned char *marks = rb_push(b->scratch, unsigned char, m->ntendon);
    if (!marks) return rb_build_nomem(b);
    if (m->ntendon == 0 || m->njnt_all > m->njnt || !mark_tendons(b, marks)) return RB_OK;
    edges e = { .room = nv + m->ntendonrow };
    int *first = rb_push(b->scratch, int, m->njnt), *last = rb_push(b->scratch, int, m->nbody);
    int *carrier = rb_push(b->scratch, int, nv), *above = rb_push(b->scratch, int, nv);
    int *dof = rb_push(b->scratch, int, (size_t)nv + (size_t)m->ntendonrow);
    e.low = rb_push(b->scratch, int, e.room);
    e.high = rb_push(b->scratch, int, e.room);
    e.order = rb_push(b->scratch, int, e.room);
    e.start = rb_push(b->scratch, int, nv + 1);
    if (!first || !last || !carrier || !above || !dof || !e.low || !e.high || !e.order || !e.start)
        return rb_build_nomem(b);
    carry_dofs(b, first, carrier, last);
    for (int i = 0; i < nv; i++) {
        if (carrier[i] < 0) continue;
        e.low[e.n] = carrier[i];
        e.high[e.n++] = i;
    }
    for (int t = 0; t < m->ntendon; t++) {
        const rb_tendon_def *def = RB_DEFS(b, tendon, TENDON) + t;
        if (marks[t]) add_tendon(carrier, dof, dofs_of(b, def, first, dof), &e);
    }
    sort_edges(nv, &e);
    hang_up(nv, &e, above, dof);
    return keep_tree(b, carrier, above, dof);
}
