/* Contacts, joint limits, dry friction and equalities as rows u = J v + drive (F.2).
 *
 * A constraint keeps one dense block of J over its pattern: every dof that carries something it
 * touches, ascending. Common ancestors of both sides belong to the pattern with entries that are
 * exactly zero, because the factor of M fills them (F.12). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/contact.h"
#include "contact/build.h"
#include "collide/bounds.h"
#include "collide/shape.h"
#include "dynamics/kinematic.h"
#include "math/vec3.h"

/* What such overlap may grow by in all, in units of the extent of the model [1] (F.8). Hinges
 * turned by 1.5708 in a file tilt faces that slide in each other by 3.7e-6. Larger: the growth is
 * seen. Smaller: such hinges are wedged, and impulses are 3e5 times what they hold. */
#define GAP_GROWTH 2e-7

/* Depth of overlap beyond which nothing rubs, over the radius of the ball inside the thinner geom
 * [1]. */
#define BURIED 0.5

/* ---- which dofs -------------------------------------------------------------------------------
 */

/* The last dof that carries link k; -1: none does. */
static int last_dof(const rb_model *m, int k)
{
    while (k > 0 && m->link_dofnum[k] == 0) k = m->link_parent[k];
    return k > 0 ? m->link_dofadr[k] + m->link_dofnum[k] - 1 : -1;
}

/* Ancestors of link k, k included. */
static int path_dofs(const rb_model *m, int k)
{
    int count = 0;
    if (m->ncoupled > 0) {
        for (int j = last_dof(m, k); j >= 0; j = m->dof_parent[j]) count++;
        return count;
    }
    for (; k > 0; k = m->link_parent[k]) count += m->link_dofnum[k];
    return count;
}

static void turn_round(int *dof, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int other = dof[i];
        dof[i] = dof[n - 1 - i];
        dof[n - 1 - i] = other;
    }
}

/* The same where tendons couple branches: all that M has above the last dof of each. */
static int coupled_pattern(const rb_model *m, int link1, int link2, int *dof)
{
    int j1 = last_dof(m, link1), j2 = last_dof(m, link2), count = 0;
    while (j1 >= 0 || j2 >= 0) {
        int j = j1 > j2 ? j1 : j2;
        dof[count++] = j;
        if (j1 == j) j1 = m->dof_parent[j];
        if (j2 == j) j2 = m->dof_parent[j];
    }
    turn_round(dof, count);
    return count;
}

/* Dofs that carry link1 or link2, ascending, into `dof`; returns how many. Links come before their
 * children and dofs in the order of links: the two paths are merged from the tips down. */
static int pattern_of_links(const rb_model *m, int link1, int link2, int *dof)
{
    int count = 0;
    if (m->ncoupled > 0) return coupled_pattern(m, link1, link2, dof);
    while (link1 > 0 || link2 > 0) {
        int k = link1 > link2 ? link1 : link2;
        for (int j = m->link_dofadr[k] + m->link_dofnum[k] - 1; j >= m->link_dofadr[k]; j--) {
            dof[count++] = j;
        }
        if (link1 == k) link1 = m->link_parent[k];
        if (link2 == k) link2 = m->link_parent[k];
    }
    turn_round(dof, count);
    return count;
}

/* Room for the pattern of a constraint between two links. */
static int pattern_room(const rb_model *m, int link1, int link2)
{
    return path_dofs(m, link1) + path_dofs(m, link2);
}

/* ---- rows of a contact ------------------------------------------------------------------------
 */

/* n from the contact; t1 along the grain of the material or else along world x, y where n is close
 * to x, projected on the plane; t2 = n x t1 (F.4). */
static void contact_frame(const rb_data *d, const double n[3], const rb_material *material,
                          int grain_geom, double frame[9])
{
    double along[3] = { 1.0, 0.0, 0.0 };
    if (fabs(n[0]) >= 0.9) along[0] = 0.0, along[1] = 1.0;
    if (!isnan(material->friction_across) || material->polygon >= 0) {
        double grain[3];
        rb_rot(d->geom_R + 9 * grain_geom, material->grain, grain);

        /* a grain along the normal has no direction in the plane */
        double across[3];
        rb_cross3(n, grain, across);
        if (rb_norm3(across) > RB_GRAIN_IN_PLANE * rb_norm3(grain)) rb_copy3(grain, along);
    }
    rb_copy3(n, frame);
    rb_copy3(along, frame + 3);
    rb_axpy3(-rb_dot3(n, along), n, frame + 3);
    rb_normalize3(frame + 3);
    rb_cross3(frame, frame + 3, frame + 6);
}

/* Entries of one column: rows n, t1, t2, then torsion, roll t1, roll t2. */
static void contact_column(const double frame[9], int nrow, const double linear[3],
                           const double angular[3], double sign, double *J, int stride)
{
    J[0] += sign * rb_dot3(frame, linear);
    if (nrow == 1) return;
    J[stride] += sign * rb_dot3(frame + 3, linear);
    J[2 * stride] += sign * rb_dot3(frame + 6, linear);
    for (int i = 3; i < nrow; i++) {
        J[i * stride] += sign * rb_dot3(frame + 3 * (i - 3), angular);
    }
}

/* Adds one side, at its own witness point x: across a gap that the step closes, the middle would
 * give lever arms that depend on where the step began. All dofs from link k to where the other
 * side joins; dofs that move both sides move them as one. */
static void contact_side(const rb_model *m, const rb_data *d, int k, int stop, const double x[3],
                         const double frame[9], double sign, const rb_constraint *c, const int *dof,
                         double *J)
{
    int at = c->ndof - 1;
    for (; k != stop; k = m->link_parent[k]) {
        double r[3], linear[3];
        rb_sub3(x, d->link_p + 3 * k, r);
        for (int j = m->link_dofadr[k] + m->link_dofnum[k] - 1; j >= m->link_dofadr[k]; j--) {
            const double *S = d->dof_S + 6 * j;
            while (dof[at] != j) at--;
            rb_cross3(S, r, linear);
            rb_add3(linear, S + 3, linear);
            contact_column(frame, c->nrow, linear, S, sign, J + at, c->ndof);
        }
    }
}

static int common_link(const rb_model *m, int a, int b)
{
    while (a != b) {
        if (a > b)
            a = m->link_parent[a];
        else
            b = m->link_parent[b];
    }
    return a;
}

/* Velocity of what the caller moves, a mocap link and the trees on it, at the points x. */
static void drive_by_mocap(const rb_model *m, const rb_data *d, const rb_contact *contact,
                           const double *const x[2], int nrow, const double frame[9], double *drive)
{
    int led[2] = { rb_kinematic_link(m, m->geom_link[contact->geom1]),
                   rb_kinematic_link(m, m->geom_link[contact->geom2]) };
    if (led[0] == led[1]) return;
    for (int side = 0; side < 2; side++) {
        double V[6];
        if (led[side] == 0) continue;
        rb_kinematic_velocity(d, led[side], x[side], V);
        contact_column(frame, nrow, V + 3, V, side ? 1.0 : -1.0, drive, 1);
    }
}

/* Belts: the surface moves within the tangent plane; a normal part is ignored (F.3). */
static void drive_by_belt(const rb_model *m, const rb_data *d, const rb_contact *contact,
                          const double *const x[2], int nrow, const double frame[9], double *drive)
{
    int geoms[2] = { contact->geom1, contact->geom2 };
    for (int side = 0; side < 2; side++) {
        double V[6], sign = side ? 1.0 : -1.0;
        if (!rb_belt_velocity(m, geoms[side], d->geom_R + 9 * geoms[side],
                              d->geom_p + 3 * geoms[side], x[side], V))
            continue;
        for (int i = 1; i < nrow && i < 3; i++) drive[i] += sign * rb_dot3(frame + 3 * i, V + 3);
        if (nrow > 3) drive[3] += sign * rb_dot3(frame, V);
    }
}

static int contact_rows(int condim)
{
    return condim == 1 ? 1 : condim == 4 ? 4 : condim == 6 ? 6 : 3;
}

/* The polygon (F.24) holds for what its surface exerts on the other; p acts on geom 2, and seen
 * from the outside of geom 2 the basis is (t1, -t2): -p = x t1 - y t2. */
static void take_polygon(const rb_model *m, const rb_contact *contact, int grain_geom,
                         rb_constraint *c)
{
    int entry = c->material.polygon;
    if (entry < 0) return;
    c->polygon = m->custom_data + m->custom_adr[entry];
    c->npolygon = m->custom_num[entry] / 2;
    c->polygon_side = grain_geom == contact->geom1 ? 1 : -1;
}

/* Whether both are between the same two links, in one direction. */
static int same_face(const rb_model *m, const rb_contact *a, const rb_contact *b)
{
    const double *x = a->at.normal, *y = b->at.normal;
    return m->geom_link[a->geom1] == m->geom_link[b->geom1] &&
           m->geom_link[a->geom2] == m->geom_link[b->geom2] && x[0] == y[0] && x[1] == y[1] &&
           x[2] == y[2];
}

/* The contacts of a face are consecutive in the list: the face of contact i, which begins where
 * that of the contact before it ends, or is the same. */
static void find_face(const rb_builder *b, int i, rb_constraint *c)
{
    const rb_constraint *before = i > 0 ? &b->out->c[i - 1] : NULL;
    c->face = i;
    c->nface = 1;
    if (before && i < before->face + before->nface) {
        c->face = before->face;
        c->nface = before->nface;
        return;
    }
    while (i + c->nface < b->ncontact &&
           same_face(b->m, &b->contacts[i], &b->contacts[i + c->nface]))
        c->nface++;
}

/* Where a contact acts on either body: its witness points, moved along the normal to those of the
 * closest contact of the same face (F.6). Normal rows do not change. Tangential rows of points in
 * one plane are compatible with a rigid motion; points at different heights would require a face
 * that comes down at an angle, or is lifted out of an overlap, to stretch by the square of that
 * angle. The formulations of papers use the points unchanged. */
static void acting_points(const rb_builder *b, const rb_constraint *c, double x1[3], double x2[3])
{
    const rb_contact *own = &b->contacts[c->object], *closest = own;
    rb_copy3(own->at.pos1, x1);
    rb_copy3(own->at.pos2, x2);
    if (b->o->formulation->kind != RB_CONE) return;
    for (int j = c->face; j < c->face + c->nface; j++) {
        if (b->contacts[j].at.gap < closest->at.gap) closest = &b->contacts[j];
    }
    if (own->at.gap - closest->at.gap <= RB_GAP_ZERO * b->m->extent) return;
    const double *n = own->at.normal;
    rb_axpy3(rb_dot3(n, closest->at.pos1) - rb_dot3(n, own->at.pos1), n, x1);
    rb_axpy3(rb_dot3(n, closest->at.pos2) - rb_dot3(n, own->at.pos2), n, x2);
}

/* First contact of the starting set whose geoms are not before these, by bisection. */
static int first_at_start(const rb_builder *b, int geom1, int geom2)
{
    int lo = 0, hi = b->start->ncontact;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        const rb_touch_id *id = &b->start->c[middle].id;
        if (id->a < geom1 || (id->a == geom1 && id->b < geom2))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static int is_of(const rb_touch_id *id, const rb_contact *c)
{
    return id->a == c->geom1 && id->b == c->geom2;
}

/* Deepest gap of the two geoms at the start of the step, of contacts in their order; 0: none. */
static double start_gap(const rb_builder *b, int i)
{
    const rb_contact *own = &b->contacts[i];
    double gap = 0.0;
    if (b->start) {
        const rb_constraint *c = b->start->c;
        int k = first_at_start(b, own->geom1, own->geom2);
        for (; k < b->start->ncontact && is_of(&c[k].id, own); k++)
            gap = fmin(gap, c[k].gap + c[k].floor);
        return gap;
    }
    for (int step = -1; step <= 1; step += 2) {
        for (int k = i; k >= 0 && k < b->ncontact; k += step) {
            const rb_contact *c = &b->contacts[k];
            if (c->geom1 != own->geom1 || c->geom2 != own->geom2) break;
            gap = fmin(gap, c->at.gap);
        }
    }
    return gap;
}

/* The body below the world that a geom hangs on, 0: the world itself. */
static int root_of(const rb_model *m, int geom)
{
    int body = m->geom_body[geom];
    while (m->body_parent[body] != 0) body = m->body_parent[body];
    return body;
}

/* The geom is of a link with joints to others: bodies by themselves can leave as they are. */
static int has_joints(const rb_model *m, int geom)
{
    int k = m->geom_link[geom], tree = m->link_tree[k];
    if (tree < 0) return 0;
    return m->link_parent[k] != 0 || (k + 1 < m->nlink && m->link_tree[k + 1] == tree);
}

/* Links of two mechanisms. */
static int are_of_two(const rb_model *m, int geom1, int geom2)
{
    return has_joints(m, geom1) && has_joints(m, geom2) && root_of(m, geom1) != root_of(m, geom2);
}

/* A joint of the link, other than a ball, is beyond its range by more than steps make of it. */
static int is_out_of_range(const rb_model *m, const rb_data *d, int link)
{
    for (int j = m->link_jntadr[link]; j < m->link_jntadr[link] + m->link_jntnum[link]; j++) {
        if (!m->jnt_limited[j] || m->jnt_type[j] == RB_JOINT_BALL) continue;
        double q = d->q[m->jnt_qadr[j]], slack = RB_GAP_OF_MODEL * m->extent;
        if (q < m->jnt_range[2 * j] - slack || q > m->jnt_range[2 * j + 1] + slack) return 1;
    }
    return 0;
}

/* A file that begins with one geom of a mechanism inside another: deeper than half of what is thick
 * in the thinner one, or with two mechanisms in each other. Normals say which way is out then, not
 * where surfaces touch. */
static int is_buried(const rb_builder *b, int i, double gap)
{
    const int geom[2] = { b->contacts[i].geom1, b->contacts[i].geom2 };
    int joints = has_joints(b->m, geom[0]) || has_joints(b->m, geom[1]);
    if (b->o->formulation->kind != RB_CONE || !joints) return 0;
    if (are_of_two(b->m, geom[0], geom[1])) return 1;
    double thick = INFINITY;
    for (int side = 0; side < 2; side++) {
        rb_shape shape = rb_geom_shape(b->m, b->d, geom[side]);
        double inner = rb_bounds_inner(&shape);
        if (inner > 0.0) thick = fmin(thick, inner);
    }
    return -gap > BURIED * thick;
}

/* Two links on the same one, fingers of a hand, that begin outside of their ranges or one in the
 * other: they may be on the wrong side of each other, so that the normal leads away from the
 * range. */
static int are_crossed(const rb_builder *b, int i)
{
    const rb_model *m = b->m;
    int k1 = m->geom_link[b->contacts[i].geom1], k2 = m->geom_link[b->contacts[i].geom2];
    if (k1 == k2 || k1 <= 0 || k2 <= 0 || m->link_parent[k1] != m->link_parent[k2]) return 0;
    return is_out_of_range(m, b->d, k1) || is_out_of_range(m, b->d, k2) ||
           is_buried(b, i, start_gap(b, i));
}

/* Two mechanisms that are still in each other somewhere: pairs that came apart, or meet now, would
 * hold them there (F.9). */
static int are_tangled(const rb_builder *b, int i)
{
    const rb_contact *own = &b->contacts[i];
    const rb_model *m = b->m;
    if (b->o->keep_errors || b->o->formulation->kind != RB_CONE) return 0;
    if (!are_of_two(m, own->geom1, own->geom2)) return 0;
    int root1 = root_of(m, own->geom1), root2 = root_of(m, own->geom2);
    int n = b->start ? b->start->ncontact : b->ncontact;
    for (int k = 0; k < n; k++) {
        const rb_constraint *c = b->start ? &b->start->c[k] : NULL;
        double gap = c ? c->gap + c->floor : b->contacts[k].at.gap;
        if (!(gap < -RB_GAP_INNER * m->extent)) continue;
        int r1 = root_of(m, c ? c->id.a : b->contacts[k].geom1);
        int r2 = root_of(m, c ? c->id.b : b->contacts[k].geom2);
        if ((r1 == root1 && r2 == root2) || (r1 == root2 && r2 == root1)) return 1;
    }
    return 0;
}

/* Overlap of a mechanism with itself that no step has made: hulls at a joint. Where solids overlap
 * there is no surface to rub, and friction there would lock the joint: its normal is one that the
 * links can hardly move along, so that mu |W_nt| exceeds W_nn (F.7). */
static int is_inner(const rb_builder *b, int i)
{
    const rb_model *m = b->m;
    const rb_contact *c = &b->contacts[i];
    double gap = start_gap(b, i);
    if (!(gap < -RB_GAP_INNER * m->extent)) return are_tangled(b, i);
    int root = root_of(m, c->geom1);
    return (root != 0 && root == root_of(m, c->geom2)) || is_buried(b, i, gap);
}

/* Where the gap of that overlap may end (F.8): a little deeper than where it was first seen or,
 * where errors of the start are taken off, than where it is by now; two mechanisms, and fingers
 * that cross, leave each other as they can then (F.9). In the set of the start the step before
 * knows it, in later ones the start does. */
static double inner_floor(const rb_builder *b, int i)
{
    const rb_contact *own = &b->contacts[i];
    const rb_data *d = b->d;
    double floor = 0.0;
    if (b->o->formulation->push_out || b->o->project > 0.0) return 0.0;
    if (b->o->stepper == RB_STEPPER_IMPULSE || b->o->stepper == RB_STEPPER_HYBRID) return 0.0;
    if (b->start) {
        int k = first_at_start(b, own->geom1, own->geom2);
        if (k < b->start->ncontact && is_of(&b->start->c[k].id, own)) return b->start->c[k].floor;
    }
    for (int k = 0; !b->start && k < d->ntouch; k++) {
        const rb_touch *t = &d->touch[k];
        if (t->id.kind != RB_CONSTRAINT_CONTACT) break;
        if (t->id.a == own->geom1 && t->id.b == own->geom2) floor = fmin(floor, t->floor);
    }
    int leave =
        !b->o->keep_errors && (are_of_two(b->m, own->geom1, own->geom2) || are_crossed(b, i));
    double first = start_gap(b, i) - (leave ? 1.0 : GAP_GROWTH) * b->m->extent;
    if (!b->o->keep_errors) return floor < 0.0 ? fmax(floor, first) : first;
    return floor < 0.0 ? floor : first;
}

static void make_contact(rb_builder *b, int i)
{
    const rb_model *m = b->m;
    const rb_data *d = b->d;
    const rb_contact *contact = &b->contacts[i];
    int link1 = m->geom_link[contact->geom1], link2 = m->geom_link[contact->geom2];
    rb_constraint c = { .kind = RB_CONSTRAINT_CONTACT, .object = i, .gap = contact->at.gap };
    int grain_geom;
    c.condim = rb_pair_material(m, contact->geom1, contact->geom2, b->o, &c.material, &grain_geom);
    c.inner = is_inner(b, i);
    if (c.inner) {
        c.condim = 1;
        c.floor = inner_floor(b, i);
        c.gap -= c.floor;
    }
    take_polygon(m, contact, grain_geom, &c);
    c.id = (rb_touch_id){ c.kind, contact->geom1, contact->geom2, contact->at.feature };
    find_face(b, i, &c);

    double *frame = b->out->frame + 9 * i, *x = b->out->point + 3 * i;
    contact_frame(d, contact->at.normal, &c.material, grain_geom, frame);
    for (int a = 0; a < 3; a++) x[a] = 0.5 * (contact->at.pos1[a] + contact->at.pos2[a]);

    int ndof = pattern_of_links(m, link1, link2, b->out->dof + b->ndof);
    rb_constraint *made = rb_builder_add(b, &c, contact_rows(c.condim), ndof);
    const int *dof = b->out->dof + made->dof;
    double *J = b->out->J + made->block;
    int stop = common_link(m, link1, link2);
    double *x1 = b->out->acts + 6 * (ptrdiff_t)i, *x2 = x1 + 3;
    acting_points(b, made, x1, x2);
    contact_side(m, d, link1, stop, x1, frame, -1.0, made, dof, J);
    contact_side(m, d, link2, stop, x2, frame, 1.0, made, dof, J);
    const double *const x12[2] = { x1, x2 };
    drive_by_mocap(m, d, contact, x12, made->nrow, frame, b->out->drive + made->row);
    drive_by_belt(m, d, contact, x12, made->nrow, frame, b->out->drive + made->row);
}

/* ---- all of them ------------------------------------------------------------------------------
 */

rb_constraint *rb_builder_add(rb_builder *b, const rb_constraint *c, int nrow, int ndof)
{
    rb_constraints *out = b->out;
    rb_constraint *made = &out->c[out->n++];
    *made = *c;
    made->row = out->nrow;
    made->nrow = nrow;
    made->dof = b->ndof;
    made->ndof = ndof;
    made->block = b->nentry;
    made->island = -1;
    made->single_entry = 0;
    out->nrow += nrow;
    b->ndof += ndof;
    b->nentry += (ptrdiff_t)nrow * ndof;
    memset(out->J + made->block, 0, (size_t)nrow * (size_t)ndof * sizeof *out->J);
    for (int i = 0; i < nrow; i++) out->drive[made->row + i] = out->error[made->row + i] = 0.0;
    return made;
}

/* What the arrays need at most. */
static void count_contacts(const rb_builder *b, rb_room *room)
{
    for (int i = 0; i < b->ncontact; i++) {
        const rb_contact *contact = &b->contacts[i];
        int ndof =
            pattern_room(b->m, b->m->geom_link[contact->geom1], b->m->geom_link[contact->geom2]);
        rb_room_add(room, 1, 6, ndof);
    }
}

void rb_room_add(rb_room *room, size_t constraints, int rows, int dofs)
{
    room->constraints += constraints;
    room->rows += constraints * (size_t)rows;
    room->dofs += constraints * (size_t)dofs;
    room->entries += constraints * (size_t)rows * (size_t)dofs;
}

static rb_status take_room(rb_arena *arena, const rb_room *room, int ncontact, rb_constraints *out)
{
    size_t n = (size_t)ncontact;
    out->c = rb_push(arena, rb_constraint, room->constraints);
    out->dof = rb_push(arena, int, room->dofs);
    out->J = rb_push(arena, double, room->entries + 18 * n + 2 * room->rows);
    if (!out->c || !out->dof || !out->J) return RB_NOMEM;
    out->frame = out->J + room->entries;
    out->point = out->frame + 9 * n;
    out->acts = out->point + 3 * n;
    out->drive = out->acts + 6 * n;
    out->error = out->drive + room->rows;
    return RB_OK;
}

rb_status rb_constraints_build(const rb_model *m, rb_data *d, const rb_step_opts *o, double h,
                               double dv_max, const rb_contact *contacts, int ncontact,
                               const rb_constraints *start, rb_constraints *out)
{
    rb_builder b = { .m = m,
                     .d = d,
                     .o = o,
                     .h = h,
                     .dv_max = dv_max,
                     .contacts = contacts,
                     .ncontact = ncontact,
                     .start = start,
                     .out = out };
    rb_room room = { 0 };
    memset(out, 0, sizeof *out);
    rb_status status = rb_loop_rows(m, d, &b.loops);
    if (status != RB_OK) return status;
    size_t nwrap = (size_t)m->ntendonrow, nrow = (size_t)rb_row_room(m);
    b.wrap_dof = rb_push(d->arena, int, nwrap + nrow);
    b.wrap_J = rb_push(d->arena, double, nwrap + nrow);
    if (!b.wrap_dof || !b.wrap_J) return RB_NOMEM;
    b.row_dof = b.wrap_dof + nwrap;
    b.row_J = b.wrap_J + nwrap;
    count_contacts(&b, &room);
    rb_joint_room(&b, &room);
    status = take_room(d->arena, &room, ncontact, out);
    if (status != RB_OK) return status;

    for (int i = 0; i < ncontact; i++) make_contact(&b, i);
    out->ncontact = ncontact;
    rb_joint_constraints(&b);
    return rb_constraint_islands(m, d->arena, out);
}

/* Three rows of a contact, each summed in its order. */
static void velocity_3(const double *J, int ndof, const int *dof, const double *v, double sum[3])
{
    double a = 0.0, b = 0.0, c = 0.0;
    for (int k = 0; k < ndof; k++) {
        double v_k = v[dof[k]];
        a += J[k] * v_k;
        b += J[ndof + k] * v_k;
        c += J[2 * ndof + k] * v_k;
    }
    sum[0] = a, sum[1] = b, sum[2] = c;
}

void rb_constraints_velocity(const rb_constraints *set, const double *v, double *u)
{
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        const int *dof = set->dof + c->dof;
        const double *J = set->J + c->block;
        if (c->single_entry) {
            u[c->row] = 0.0 + J[c->ndof - 1] * v[dof[c->ndof - 1]] + set->drive[c->row];
            continue;
        }
        if (c->nrow == 3) {
            velocity_3(J, c->ndof, dof, v, u + c->row);
            for (int r = c->row; r < c->row + 3; r++) u[r] += set->drive[r];
            continue;
        }
        for (int r = 0; r < c->nrow; r++, J += c->ndof) {
            double sum = 0.0;
            for (int k = 0; k < c->ndof; k++) sum += J[k] * v[dof[k]];
            u[c->row + r] = sum + set->drive[c->row + r];
        }
    }
}

/* Three rows of a contact, one after the other for each dof. */
static void force_3(const double *J, int ndof, const int *dof, const double *p, double *f)
{
    for (int k = 0; k < ndof; k++) {
        double sum = f[dof[k]] + J[k] * p[0];
        sum += J[ndof + k] * p[1];
        f[dof[k]] = sum + J[2 * ndof + k] * p[2];
    }
}

void rb_constraints_force(const rb_constraints *set, const double *p, double *f)
{
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        const int *dof = set->dof + c->dof;
        const double *J = set->J + c->block, *P = p + c->row;
        if (c->single_entry) {
            if (P[0] != 0.0) f[dof[c->ndof - 1]] += J[c->ndof - 1] * P[0];
            continue;
        }
        if (c->nrow == 3 && P[0] != 0.0 && P[1] != 0.0 && P[2] != 0.0) {
            force_3(J, c->ndof, dof, P, f);
            continue;
        }
        for (int r = 0; r < c->nrow; r++, J += c->ndof) {
            if (P[r] == 0.0) continue;
            for (int k = 0; k < c->ndof; k++) f[dof[k]] += J[k] * P[r];
        }
    }
}
