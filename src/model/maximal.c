/* The fully augmented form: every link becomes free, every joint a set of bilateral rows (D.51).
 *
 * Bodies keep their indices and their final masses. A link whose joint was not free gets a free
 * joint instead and an equality to the body it was on. A dof with armature has kinetic energy of
 * its own, 1/2 A qd^2, which no free body has: it moves to a rotor, a body without mass whose only
 * joint has the armature, and the equality makes it rotate as the joint does. The coordinate of a
 * joint without armature is measured between the two bodies where something needs it. What a file
 * attaches to the coordinate of the joint (springs, limits, actuators, tendons, couplings) then
 * acts on the rotor or on the measured joint. */
#include <math.h>

#include "math/quat.h"
#include "model/spec.h"
#include "rattleback/model.h"

typedef struct transform {
    const rb_spec *from;
    const rb_model *m; /* `from`, compiled                                          */
    rb_spec *to;
    rb_arena *scratch;
    rb_error *err;
    int *joint_of;           /* model joint -> joint of `from`                      */
    int *new_joint;          /* joint of `from` -> joint of `to`, -1: none          */
    unsigned char *is_asked; /* joint of `from`: something acts on its coordinate   */
    double *link_p, *link_q; /* world frames of the links at the reference configuration */
} transform;

#define DEF(t, name, KIND, i) ((const rb_##name##_def *)rb_spec_item((t)->from, RB_KIND_##KIND, i))

/* ---- what the old model says ------------------------------------------------------------------
 */

/* Of a joint of the model: a tendon may have added to its armature. */
static int has_rotor(const rb_model *m, int j)
{
    return m->jnt_type[j] != RB_JOINT_FREE && m->dof_armature[m->jnt_dofadr[j]] > 0.0;
}

/* Joints in the order of the model: by body, otherwise as in the spec, measured ones last. */
static void order_joints(transform *t)
{
    const rb_model *m = t->m;
    for (int j = 0; j < m->njnt; j++) t->joint_of[j] = -1;
    for (int i = 0, last = m->njnt; i < m->njnt_all; i++) {
        t->new_joint[i] = -1;
        if (DEF(t, joint, JOINT, i)->measured) {
            t->joint_of[last++] = i;
            continue;
        }
        int place = m->body_jntadr[DEF(t, joint, JOINT, i)->body];
        while (t->joint_of[place] >= 0) place++;
        t->joint_of[place] = i;
    }
}

static void ask_equality(transform *t, const rb_equality_def *def)
{
    if (def->type == RB_EQ_JOINT) {
        t->is_asked[def->obj1] = 1;
        if (def->obj2 >= 0) t->is_asked[def->obj2] = 1;
    }
    for (int k = 0; k < def->nchain && def->type == RB_EQ_CHAIN; k++)
        if (def->chain[k].joint >= 0) t->is_asked[def->chain[k].joint] = 1;
}

/* Which elements need the coordinate of a joint. */
static void find_asked(transform *t)
{
    const rb_list *list = t->from->list;
    for (int i = 0; i < list[RB_KIND_JOINT].count; i++) {
        const rb_joint_def *def = DEF(t, joint, JOINT, i);
        t->is_asked[i] = def->stiffness != 0.0 || def->damping != 0.0 || def->limited ||
                         def->stiffness_poly[0] != 0.0 || def->stiffness_poly[1] != 0.0 ||
                         def->damping_poly[0] != 0.0 || def->damping_poly[1] != 0.0 ||
                         def->frictionloss != 0.0;
    }
    for (int i = 0; i < list[RB_KIND_ACTUATOR].count; i++) {
        const rb_actuator_def *def = DEF(t, actuator, ACTUATOR, i);
        if (def->transmission == RB_TRN_JOINT || def->transmission == RB_TRN_JOINT_IN_PARENT)
            t->is_asked[def->target] = 1;
    }
    for (int i = 0; i < list[RB_KIND_TENDON].count; i++) {
        const rb_tendon_def *def = DEF(t, tendon, TENDON, i);
        for (int k = 0; k < def->njoint; k++) t->is_asked[def->joint[k]] = 1;
    }
    for (int i = 0; i < list[RB_KIND_EQUALITY].count; i++)
        ask_equality(t, DEF(t, equality, EQUALITY, i));
}

static void place_links(transform *t)
{
    const rb_model *m = t->m;
    rb_zero3(t->link_p);
    memcpy(t->link_q, m->link_quat, 4 * sizeof(double));
    for (int k = 1; k < m->nlink; k++) {
        int parent = m->link_parent[k];
        double *p = t->link_p + 3 * k, *q = t->link_q + 4 * k;
        rb_quat_rotate(t->link_q + 4 * parent, m->link_pos + 3 * k, p);
        rb_add3(p, t->link_p + 3 * parent, p);
        rb_quat_mul(t->link_q + 4 * parent, m->link_quat + 4 * k, q);
    }
}

/* A free body without mass has no acceleration, even where what hangs on it has. */
static rb_status check_link(transform *t, int k)
{
    const rb_model *m = t->m;
    int body = m->link_body[k];
    double w[3];
    rb_sym3_eigen(m->link_inertia + 6 * k, w, NULL);
    if (m->link_dofnum[k] == 0 || (m->link_mass[k] > 0.0 && w[0] > 0.0)) return RB_OK;
    return rb_refuse(DEF(t, body, BODY, body), RB_KIND_BODY, body, t->err,
                     "has no mass or inertia of its own: in maximal coordinates every body that "
                     "moves needs both");
}

/* ---- bodies and joints ------------------------------------------------------------------------
 */

static rb_status added(int index)
{
    return index >= 0 ? RB_OK : RB_BAD_INPUT; /* the call has filled err */
}

static rb_status add_bodies(transform *t)
{
    const rb_model *m = t->m;
    for (int i = 1; i < m->nbody; i++) {
        rb_body_def def = *DEF(t, body, BODY, i);
        int k = m->body_link[i];
        def.inertia_source = RB_INERTIA_GIVEN;
        def.mass = m->body_mass[i];
        rb_copy3(m->body_com + 3 * i, def.com);
        memcpy(def.inertia, m->body_inertia + 6 * i, sizeof def.inertia);
        if (m->link_body[k] == i) {
            def.parent = 0;
            rb_copy3(t->link_p + 3 * k, def.pose.pos);
            memcpy(def.pose.quat, t->link_q + 4 * k, sizeof def.pose.quat);
        }
        rb_status status = added(rb_spec_add_body(t->to, &def, t->err));
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

static rb_status add_free_joints(transform *t)
{
    const rb_model *m = t->m;
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_jntnum[k] == 0) continue;
        int old = t->joint_of[m->link_jntadr[k]];
        rb_joint_def def = *DEF(t, joint, JOINT, old);
        int was_free = def.type == RB_JOINT_FREE;
        if (!was_free) {
            def = rb_joint_default();
            def.type = RB_JOINT_FREE;
            def.body = m->link_body[k];
        }
        int added_as = rb_spec_add_joint(t->to, &def, t->err);
        if (added_as < 0) return RB_BAD_INPUT;
        if (was_free) t->new_joint[old] = added_as;
    }
    return RB_OK;
}

/* A body without mass, on which the armature is. */
static rb_status add_rotor_body(transform *t, rb_joint_def *def)
{
    rb_body_def body = rb_body_default();
    body.where = def->where;
    body.inertia_source = RB_INERTIA_GIVEN;
    def->body = rb_spec_add_body(t->to, &body, t->err);
    rb_zero3(def->pos);
    return added(def->body);
}

/* Rotors and measured joints, in the order of the joints of the model; the bodies of the rotors
 * come after all others. */
static rb_status add_coordinates(transform *t)
{
    const rb_model *m = t->m;
    for (int j = 0; j < m->njnt_all; j++) {
        int old = t->joint_of[j];
        rb_joint_def def = *DEF(t, joint, JOINT, old);
        int rotor = j < m->njnt && has_rotor(m, j);
        if (def.type == RB_JOINT_FREE || (!rotor && !t->is_asked[old])) continue;
        def.measured = !rotor;
        if (rotor && add_rotor_body(t, &def) != RB_OK) return RB_BAD_INPUT;

        /* a name that came from the body is kept, unless another joint has it */
        char name[128];
        def.name = rb_model_name(m, RB_KIND_JOINT, j, name, sizeof name);
        if (rb_spec_find(t->to, RB_KIND_JOINT, def.name) >= 0) def.name = NULL;
        t->new_joint[old] = rb_spec_add_joint(t->to, &def, t->err);
        if (t->new_joint[old] < 0) return RB_BAD_INPUT;
    }
    return RB_OK;
}

/* ---- joints as equalities ---------------------------------------------------------------------
 */

/* Shortest rotation that takes z to the unit vector a. */
static void z_to(const double a[3], double q[4])
{
    q[0] = 1.0 + a[2];
    q[1] = -a[1];
    q[2] = a[0];
    q[3] = 0.0;
    if (a[2] < -0.5) { /* through x: half a turn, then from -z */
        double flip[4] = { 0.0, 1.0, 0.0, 0.0 }, from[4] = { 1.0 - a[2], a[1], -a[0], 0.0 };
        rb_quat_normalize(from);
        rb_quat_mul(from, flip, q);
    }
    rb_quat_normalize(q);
}

/* One joint whose coordinate nothing needs: a kind of equality of its own. */
static rb_status add_single(transform *t, int body, int j)
{
    static const rb_equality_type types[] = { [RB_JOINT_BALL] = RB_EQ_CONNECT,
                                              [RB_JOINT_SLIDE] = RB_EQ_SLIDE,
                                              [RB_JOINT_HINGE] = RB_EQ_HINGE };
    const rb_model *m = t->m;
    rb_equality_def def = rb_equality_default();
    def.where = DEF(t, joint, JOINT, t->joint_of[j])->where;
    def.type = types[m->jnt_type[j]];
    def.obj1 = body;
    def.obj2 = m->body_parent[body];
    rb_copy3(m->jnt_pos + 3 * j, def.pose1.pos);
    if (m->jnt_type[j] != RB_JOINT_BALL) z_to(m->jnt_axis + 3 * j, def.pose1.quat);
    return added(rb_spec_add_equality(t->to, &def, t->err));
}

/* Several joints, or one with a coordinate. */
static rb_status add_chain(transform *t, int body)
{
    const rb_model *m = t->m;
    rb_chain_joint chain[RB_CHAIN_JOINTS];
    const rb_body_def *owner = DEF(t, body, BODY, body);
    if (m->body_jntnum[body] > RB_CHAIN_JOINTS) {
        return rb_refuse(owner, RB_KIND_BODY, body, t->err,
                         "has %d joints: in maximal coordinates at most %d", m->body_jntnum[body],
                         RB_CHAIN_JOINTS);
    }
    rb_equality_def def = rb_equality_default();
    def.where = owner->where;
    def.type = RB_EQ_CHAIN;
    def.obj1 = body;
    def.obj2 = m->body_parent[body];
    def.derive2 = 0;
    rb_copy3(m->body_pos + 3 * body, def.pose2.pos);
    memcpy(def.pose2.quat, m->body_quat + 4 * body, sizeof def.pose2.quat);
    def.chain = chain;
    for (; def.nchain < m->body_jntnum[body]; def.nchain++) {
        int j = m->body_jntadr[body] + def.nchain;
        rb_chain_joint *joint = &chain[def.nchain];
        *joint = (rb_chain_joint){ .type = (rb_joint_type)m->jnt_type[j],
                                   .joint = t->new_joint[t->joint_of[j]],
                                   .ref = m->jnt_ref[j] };
        rb_copy3(m->jnt_pos + 3 * j, joint->pos);
        rb_copy3(m->jnt_axis + 3 * j, joint->axis);
    }
    return added(rb_spec_add_equality(t->to, &def, t->err));
}

static rb_status add_joint_equalities(transform *t)
{
    const rb_model *m = t->m;
    for (int k = 1; k < m->nlink; k++) {
        int body = m->link_body[k], j = m->link_jntadr[k];
        if (j < 0 || m->jnt_type[j] == RB_JOINT_FREE) continue;
        int single = m->link_jntnum[k] == 1 && t->new_joint[t->joint_of[j]] < 0;
        rb_status status = single ? add_single(t, body, j) : add_chain(t, body);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* ---- everything else --------------------------------------------------------------------------
 */

static rb_status add_equality(transform *t, int i)
{
    rb_equality_def def = *DEF(t, equality, EQUALITY, i);
    rb_chain_joint chain[RB_CHAIN_JOINTS];
    if (def.type == RB_EQ_JOINT) {
        def.obj1 = t->new_joint[def.obj1];
        if (def.obj2 >= 0) def.obj2 = t->new_joint[def.obj2];
    }
    for (int k = 0; k < def.nchain && def.type == RB_EQ_CHAIN; k++) {
        chain[k] = def.chain[k];
        if (chain[k].joint >= 0) chain[k].joint = t->new_joint[chain[k].joint];
    }
    if (def.type == RB_EQ_CHAIN) def.chain = chain;
    return added(rb_spec_add_equality(t->to, &def, t->err));
}

static rb_status add_tendon(transform *t, int i)
{
    rb_tendon_def def = *DEF(t, tendon, TENDON, i);
    if (def.armature > 0.0 && (def.npath > 0 || def.njoint > 1))
        return rb_refuse(&def, RB_KIND_TENDON, i, t->err,
                         "has an armature that couples bodies: in maximal coordinates each has an "
                         "inertia of its own");
    int *joints = rb_push(t->scratch, int, def.njoint);
    if (!joints) return rb_fail(t->err, RB_NOMEM, "%s", rb_status_text(RB_NOMEM));
    for (int k = 0; k < def.njoint; k++) joints[k] = t->new_joint[def.joint[k]];
    def.joint = joints;
    if (def.npath > 0)
        memcpy(def.springlength, t->m->tendon_spring + 2 * i, sizeof def.springlength);
    return added(rb_spec_add_tendon(t->to, &def, t->err));
}

static rb_status add_actuator(transform *t, int i)
{
    rb_actuator_def def = *DEF(t, actuator, ACTUATOR, i);
    if (def.transmission == RB_TRN_JOINT || def.transmission == RB_TRN_JOINT_IN_PARENT)
        def.target = t->new_joint[def.target];
    return added(rb_spec_add_actuator(t->to, &def, t->err));
}

/* A body and its parent do not collide; now that they are strangers, that has to be said. Bodies
 * are walked link by link. */
static rb_status add_parent_excludes(transform *t)
{
    const rb_model *m = t->m;
    int *first = rb_push(t->scratch, int, m->nlink), *next = rb_push(t->scratch, int, m->nbody);
    if (!first || !next) return rb_fail(t->err, RB_NOMEM, "%s", rb_status_text(RB_NOMEM));
    for (int k = 0; k < m->nlink; k++) first[k] = -1;
    for (int i = m->nbody - 1; i >= 0; i--) {
        if (m->body_geomnum[i] == 0) continue;
        next[i] = first[m->body_link[i]];
        first[m->body_link[i]] = i;
    }
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_parent[k] == 0) continue;
        for (int a = first[k]; a >= 0; a = next[a]) {
            for (int b = first[m->link_parent[k]]; b >= 0; b = next[b]) {
                rb_exclude_def def = { .body1 = b, .body2 = a };
                if (rb_spec_add_exclude(t->to, &def, t->err) < 0) return RB_BAD_INPUT;
            }
        }
    }
    return RB_OK;
}

/* What does not depend on joints is copied as it is. */
static rb_status copy_kind(transform *t, rb_kind kind)
{
    for (int i = 0; i < t->from->list[kind].count; i++) {
        rb_status status = RB_OK;
        switch (kind) {
        case RB_KIND_GEOM:
            status = added(rb_spec_add_geom(t->to, DEF(t, geom, GEOM, i), t->err));
            break;
        case RB_KIND_SITE:
            status = added(rb_spec_add_site(t->to, DEF(t, site, SITE, i), t->err));
            break;
        case RB_KIND_MESH:
            status = added(rb_spec_add_mesh(t->to, DEF(t, mesh, MESH, i), t->err));
            break;
        case RB_KIND_HFIELD:
            status = added(rb_spec_add_hfield(t->to, DEF(t, hfield, HFIELD, i), t->err));
            break;
        case RB_KIND_TENDON:
            status = add_tendon(t, i);
            break;
        case RB_KIND_EQUALITY:
            status = add_equality(t, i);
            break;
        case RB_KIND_ACTUATOR:
            status = add_actuator(t, i);
            break;
        case RB_KIND_EXCLUDE:
            status = added(rb_spec_add_exclude(t->to, DEF(t, exclude, EXCLUDE, i), t->err));
            break;
        case RB_KIND_PAIR:
            status = added(rb_spec_add_pair(t->to, DEF(t, pair, PAIR, i), t->err));
            break;
        case RB_KIND_CUSTOM:
            status = added(rb_spec_add_custom(t->to, DEF(t, custom, CUSTOM, i), t->err));
            break;
        default:
            break;
        }
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

static rb_status copy_warnings(transform *t)
{
    rb_status status = RB_OK;
    for (int i = 0; i < t->from->warnings.count && status == RB_OK; i++) {
        status = rb_spec_warn(t->to, rb_spec_warning(t->from, i));
    }
    if (status == RB_OK && t->from->list[RB_KIND_KEY].count > 0) {
        rb_warning warning = { DEF(t, key, KEY, 0)->where, "key",
                               "keyframes are left out of the maximal form; reset the minimal one "
                               "and use rb_maximal_state",
                               0 };
        status = rb_spec_warn(t->to, &warning);
    }
    if (status == RB_OK && t->from->list[RB_KIND_SENSOR].count > 0) {
        rb_warning warning = { DEF(t, sensor, SENSOR, 0)->where, "sensor",
                               "sensors are left out of the maximal form", 0 };
        status = rb_spec_warn(t->to, &warning);
    }
    return status == RB_OK ? RB_OK : rb_fail(t->err, status, "%s", rb_status_text(status));
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static rb_status run(transform *t)
{
    static const rb_kind rest[] = { RB_KIND_TENDON,  RB_KIND_EQUALITY, RB_KIND_ACTUATOR,
                                    RB_KIND_EXCLUDE, RB_KIND_PAIR,     RB_KIND_CUSTOM };
    static const rb_kind shapes[] = { RB_KIND_MESH, RB_KIND_HFIELD, RB_KIND_GEOM, RB_KIND_SITE };
    const rb_model *m = t->m;
    rb_status status = copy_warnings(t);
    order_joints(t);
    find_asked(t);
    place_links(t);
    for (int k = 1; k < m->nlink && status == RB_OK; k++) status = check_link(t, k);
    if (status == RB_OK) status = add_bodies(t);
    if (status == RB_OK) status = add_free_joints(t);
    if (status == RB_OK) status = add_coordinates(t);
    for (int i = 0; i < 4 && status == RB_OK; i++) status = copy_kind(t, shapes[i]);
    if (status == RB_OK) status = add_joint_equalities(t);
    for (int i = 0; i < 6 && status == RB_OK; i++) status = copy_kind(t, rest[i]);
    if (status == RB_OK && m->option.filter_parent) status = add_parent_excludes(t);
    return status;
}

rb_spec *rb_spec_maximal(const rb_spec *spec, const rb_alloc *alloc, rb_error *err)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    rb_model *m = rb_spec_compile(spec, &a, err);
    if (!m) return NULL;
    transform t = { .from = spec, .m = m, .to = rb_spec_new(&a), .err = err };
    t.scratch = rb_arena_new(&a, 0);
    rb_status status = RB_NOMEM;
    if (t.to && t.scratch) {
        t.joint_of = rb_push(t.scratch, int, m->njnt_all);
        t.new_joint = rb_push(t.scratch, int, m->njnt_all);
        t.is_asked = rb_push(t.scratch, unsigned char, m->njnt_all);
        t.link_p = rb_push(t.scratch, double, 3 * (size_t)m->nlink);
        t.link_q = rb_push(t.scratch, double, 4 * (size_t)m->nlink);
        if (t.joint_of && t.new_joint && t.is_asked && t.link_p && t.link_q) status = RB_OK;
    }
    if (status != RB_OK) rb_fail(err, status, "out of memory for the maximal form");

    /* masses are final: nothing is bounded or scaled again, rotors least of all */
    if (status == RB_OK) {
        t.to->option = spec->option;
        t.to->option.bound_mass = t.to->option.bound_inertia = t.to->option.total_mass = 0.0;
        status = run(&t);
    }
    rb_arena_free(t.scratch);
    rb_model_free(m, &a);
    if (status == RB_OK) return t.to;
    rb_spec_free(t.to);
    return NULL;
}
