/* Triangles of meshes as surfaces: the neighbour at each edge, and a tree of boxes.
 *
 * The tree halves the list mesh_order again and again; the node of the entries lo .. hi - 1 is
 * at its middle (lo + hi) / 2, which no other node has. */
#include "model/build.h"

#include "base/arena.h"
#include "base/error.h"
#include "math/vec3.h"

/* What is sorted: sides by their ends, faces by their place. */
typedef struct item {
    double a, b;
    int id; /* sides: 3 face + k, from corner k of the face to k + 1 */
} item;

static int is_before(const item *x, const item *y)
{
    if (x->a != y->a) return x->a < y->a;
    if (x->b != y->b) return x->b < y->b;
    return x->id < y->id;
}

static void sift(item *x, int from, int n)
{
    item top = x[from];
    for (int child; (child = 2 * from + 1) < n; from = child) {
        if (child + 1 < n && is_before(&x[child], &x[child + 1])) child++;
        if (!is_before(&top, &x[child])) break;
        x[from] = x[child];
    }
    x[from] = top;
}

/* Heap sort: no two items are equal, so the order is one. */
static void sort_items(item *x, int n)
{
    for (int i = n / 2 - 1; i >= 0; i--) sift(x, i, n);
    for (int end = n - 1; end > 0; end--) {
        item last = x[end];
        x[end] = x[0];
        x[0] = last;
        sift(x, 0, end);
    }
}

static void swap(item *x, item *y)
{
    item z = *x;
    *x = *y;
    *y = z;
}

/* The n least of `all` items in front, in any order: the two sides are those of a sorted list. */
static void select_items(item *x, int all, int n)
{
    for (int lo = 0, hi = all - 1; lo < hi;) {
        int middle = lo + (hi - lo) / 2, i = lo, j = hi;
        if (is_before(&x[middle], &x[lo])) swap(&x[middle], &x[lo]);
        if (is_before(&x[hi], &x[lo])) swap(&x[hi], &x[lo]);
        if (is_before(&x[hi], &x[middle])) swap(&x[hi], &x[middle]);
        item pivot = x[middle];
        while (i <= j) {
            while (is_before(&x[i], &pivot)) i++;
            while (is_before(&pivot, &x[j])) j--;
            if (i > j) break;
            swap(&x[i++], &x[j--]);
        }
        if (n <= j)
            hi = j;
        else if (n >= i)
            lo = i;
        else
            return;
    }
}

/* The same edge in the neighbour; -1 at borders, where more than two faces meet, and where two look
 * to different sides. */
static void find_twins(rb_model *m, int mesh, item *sides)
{
    int nface = m->mesh_facenum[mesh], adr = m->mesh_faceadr[mesh];
    const int *face = m->mesh_face + 3 * (ptrdiff_t)adr;
    int *twin = m->mesh_twin + 3 * (ptrdiff_t)adr;
    for (int i = 0; i < 3 * nface; i++) {
        const int *f = face + i / 3 * 3;
        int a = f[i % 3], b = f[(i + 1) % 3];
        sides[i] = (item){ a < b ? a : b, a < b ? b : a, i };
        twin[i] = -1;
    }
    sort_items(sides, 3 * nface);
    for (int i = 0; i < 3 * nface;) {
        int j = i + 1, x = sides[i].id;
        while (j < 3 * nface && sides[j].a == sides[i].a && sides[j].b == sides[i].b) j++;
        int y = sides[j - 1].id;
        if (j == i + 2 && face[x] != face[y]) { /* they begin at different ends */
            twin[x] = y;
            twin[y] = x;
        }
        i = j;
    }
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

typedef struct tree {
    const double *vert;
    const int *face;
    int *order;
    double *box;
    item *places;
} tree;

static void include_face(const tree *t, int f, double box[6])
{
    for (int i = 0; i < 9; i++) {
        double x = t->vert[3 * (ptrdiff_t)t->face[3 * (ptrdiff_t)f + i / 3] + i % 3];
        box[i % 3] = fmin(box[i % 3], x);
        box[3 + i % 3] = fmax(box[3 + i % 3], x);
    }
}

static double centre_of(const tree *t, int f, int axis)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        sum += t->vert[3 * (ptrdiff_t)t->face[3 * (ptrdiff_t)f + i] + axis];
    }
    return sum;
}

static void split(const tree *t, int lo, int hi)
{
    if (hi - lo < 2) return;
    int middle = lo + (hi - lo) / 2, axis = 0;
    double *box = t->box + 6 * (ptrdiff_t)middle;
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
    for (int i = lo; i < hi; i++) include_face(t, t->order[i], box);
    for (int k = 1; k < 3; k++) {
        if (box[3 + k] - box[k] > box[3 + axis] - box[axis]) axis = k;
    }
    for (int i = lo; i < hi; i++) {
        t->places[i] = (item){ centre_of(t, t->order[i], axis), 0.0, t->order[i] };
    }
    select_items(t->places + lo, hi - lo, middle - lo);
    for (int i = lo; i < hi; i++) t->order[i] = t->places[i].id;
    split(t, lo, middle);
    split(t, middle, hi);
}

rb_status rb_fill_surface(rb_build *b, int mesh)
{
    rb_model *m = b->m;
    int nface = m->mesh_facenum[mesh], adr = m->mesh_faceadr[mesh];
    if (nface == 0) return RB_OK;
    rb_mark mark = rb_arena_mark(b->scratch);
    item *sides = rb_push(b->scratch, item, 3 * (size_t)nface);
    item *places = rb_push(b->scratch, item, nface);
    if (!sides || !places) return rb_build_nomem(b);
    find_twins(m, mesh, sides);
    tree t = { .vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh],
               .face = m->mesh_face + 3 * (ptrdiff_t)adr,
               .order = m->mesh_order + adr,
               .box = m->mesh_box + 6 * (ptrdiff_t)adr,
               .places = places };
    for (int f = 0; f < nface; f++) t.order[f] = f;
    split(&t, 0, nface);
    rb_arena_reset(b->scratch, mark);
    return RB_OK;
}

/* ---- which geoms are surfaces -----------------------------------------------------------------
 */

/* Meshes that collide by triangles: those with rb.surface, and those without volume and therefore
 * without hull. Where the hull encloses the same volume it is used instead: it is faster, and no
 * body gets inside. */
static int is_surface(const rb_model *m, int g, int asked)
{
    int mesh = m->geom_asset[g];
    if (m->geom_type[g] != RB_GEOM_MESH || m->geom_link[g] != 0) return 0;
    if (m->mesh_facenum[mesh] == 0 || m->mesh_convex[mesh]) return 0;
    return asked || m->mesh_hullvertnum[mesh] == 0;
}

rb_status rb_choose_surfaces(rb_build *b)
{
    rb_model *m = b->m;
    for (int g = 0; g < m->ngeom; g++) {
        int i = b->geoms.order[g];
        const rb_geom_def *def = RB_DEFS(b, geom, GEOM) + i;
        m->geom_triangles[g] = is_surface(m, g, def->surface);
        if (!def->surface || def->type == RB_GEOM_HFIELD) continue;
        if (def->type != RB_GEOM_MESH)
            return rb_refuse(def, RB_KIND_GEOM, i, b->err,
                             "its surface is asked for: expected a mesh or a height field");
        if (m->geom_link[g] != 0)
            return rb_refuse(def, RB_KIND_GEOM, i, b->err,
                             "its surface is asked for, but its body moves: only meshes of bodies "
                             "that do not move collide by their triangles; cut it into convex "
                             "parts");
        if (m->mesh_facenum[m->geom_asset[g]] == 0)
            return rb_refuse(def, RB_KIND_GEOM, i, b->err,
                             "its surface is asked for, but its mesh has no triangles");
    }
    return RB_OK;
}
