/* <worldbody>: bodies, frames and replicas.
 *
 * The elements of a body are read before the bodies inside it, so that elements of one kind have
 * the order of MuJoCo: by body, bodies from the root outwards. Frames and replicas only move their
 * contents. */
#include "io/mjcf.h"

#include <stdio.h>
#include <string.h>

#include "math/quat.h"

/* The two passes over the elements inside a body. */
typedef enum pass { OWN_ELEMENTS = 0, INNER_BODIES } pass;

static rb_status read_inside(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place,
                             pass which);

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The first <inertial> of the body, also inside frames. MuJoCo does not move it with the frame. */
static const rb_xml_node *find_inertial(const rb_xml_node *node)
{
    const rb_xml_node *found = rb_xml_child(node, "inertial");
    for (const rb_xml_node *child = node->child; child && !found; child = child->next)
        if (rb_xml_is(child, "frame")) found = find_inertial(child);
    return found;
}

static rb_status read_inertia(rb_mjcf *r, const rb_xml_node *node, rb_body_def *def)
{
    const rb_xml_node *inertial = find_inertial(node);
    int from_geoms = r->compiler.inertiafromgeom;
    def->inertia_source = from_geoms == RB_MJCF_FALSE ? RB_INERTIA_GIVEN : RB_INERTIA_FROM_GEOMS;
    if (inertial && from_geoms != RB_MJCF_TRUE) return rb_mjcf_read_inertial(r, inertial, def);
    return RB_OK;
}

static rb_status read_body(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    rb_body_def def = rb_body_default();
    rb_mjcf_place inside = { .frame.quat = { 1.0, 0.0, 0.0, 0.0 } };
    RB_TRY(rb_mjcf_class_of(r, node, "childclass", place->class, &inside.class));
    RB_TRY(rb_mjcf_read_pose(r, node, &def.pose));
    RB_TRY(rb_xml_bool(node, "mocap", &def.mocap, r->err));
    RB_TRY(rb_xml_number(node, "gravcomp", &def.gravcomp, r->err));
    RB_TRY(read_inertia(r, node, &def));

    rb_mjcf_compose(&place->frame, &def.pose, &def.pose);
    def.where = rb_mjcf_where(node);
    def.parent = place->body;
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_BODY, &def.name));
    inside.body = rb_spec_add_body(r->spec, &def, r->err);
    RB_TRY(rb_mjcf_added(r, inside.body));

    RB_TRY(read_inside(r, node, &inside, OWN_ELEMENTS));
    return read_inside(r, node, &inside, INNER_BODIES);
}

/* ---- frames and replicas --------------------------------------------------------------------- */

static rb_status read_frame(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place,
                            pass which)
{
    rb_mjcf_place inside = { .body = place->body };
    RB_TRY(rb_mjcf_class_of(r, node, "childclass", place->class, &inside.class));
    RB_TRY(rb_mjcf_read_pose(r, node, &inside.frame));
    rb_mjcf_compose(&place->frame, &inside.frame, &inside.frame);
    return read_inside(r, node, &inside, which);
}

/* How a <replicate> moves from one replica to the next. */
typedef struct replicate {
    int count;
    const char *sep;
    double offset[3], euler[3];
} replicate;

static rb_status read_replicate_attrs(rb_mjcf *r, const rb_xml_node *node, replicate *rep)
{
    const char *given;
    *rep = (replicate){ .sep = rb_xml_get(node, "sep") };
    if (!rep->sep) rep->sep = "";
    RB_TRY(rb_xml_need(node, "count", &given, r->err));
    RB_TRY(rb_xml_int(node, "count", &rep->count, r->err));
    RB_TRY(rb_xml_numbers(node, "offset", 3, 3, rep->offset, NULL, r->err));
    RB_TRY(rb_xml_numbers(node, "euler", 3, 3, rep->euler, NULL, r->err));
    if (rep->count < 0)
        return rb_xml_refuse(node, "count", r->err, RB_BAD_INPUT, "cannot be negative");
    return RB_OK;
}

/* Digits are as many as the count has; inner elements come first. */
static rb_status make_replica(rb_mjcf *r, const rb_xml_node *node, const replicate *rep, int i,
                              rb_mjcf_replica **out)
{
    char text[RB_MJCF_MAX_SUFFIX];
    int digits = snprintf(text, sizeof text, "%d", rep->count);
    int length = snprintf(text, sizeof text, "%s%0*d%s", rep->sep, digits, i,
                          r->replica ? r->replica->suffix : "");
    if (length < 0 || length >= RB_MJCF_MAX_SUFFIX)
        return rb_xml_refuse(node, "sep", r->err, RB_TOO_LARGE,
                             "the suffix of the names has more than %d bytes",
                             RB_MJCF_MAX_SUFFIX - 1);
    *out = rb_xml_take(r->doc, 1, sizeof **out);
    char *suffix = rb_xml_copy(r->doc, text, (size_t)length);
    if (!*out || !suffix) return rb_mjcf_nomem(r, node);
    **out = (rb_mjcf_replica){ r->nreplica++, suffix, r->replica };
    return RB_OK;
}

/* Each replica is the one before, moved by offset and rotated by euler; the rotation is computed
 * from the angles times the number of the replica, so that it is exact. */
static rb_status read_replicate(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place,
                                pass which)
{
    replicate rep;
    rb_mjcf_place inside = { .body = place->body };
    const rb_mjcf_replica *outer = r->replica;
    RB_TRY(read_replicate_attrs(r, node, &rep));
    RB_TRY(rb_mjcf_class_of(r, node, "childclass", place->class, &inside.class));
    if (rep.count == 0)
        RB_TRY(rb_mjcf_warn(r, node, "replicate", 0, "count is 0: nothing is made of it"));

    rb_pose pose = { .quat = { 1.0, 0.0, 0.0, 0.0 } };
    for (int i = 0; i < rep.count; i++) {
        double angles[3] = { i * rep.euler[0], i * rep.euler[1], i * rep.euler[2] };
        rb_mjcf_euler(r, angles, pose.quat);
        rb_mjcf_compose(&place->frame, &pose, &inside.frame);

        rb_mjcf_replica *replica = NULL;
        RB_TRY(make_replica(r, node, &rep, i, &replica));
        r->replica = replica;
        RB_TRY(read_inside(r, node, &inside, which));
        r->replica = outer;

        double step[3];
        rb_quat_rotate(pose.quat, rep.offset, step);
        rb_add3(pose.pos, step, pose.pos);
    }
    return RB_OK;
}

/* ---- elements inside ------------------------------------------------------------------------- */

static rb_status refuse_element(const rb_mjcf *r, const rb_xml_node *node)
{
    const char *reason = "bodies of this kind cannot be simulated; remove the element";
    if (rb_xml_is(node, "plugin")) reason = "plugins are not run; remove the element";
    return rb_xml_refuse(node, NULL, r->err, RB_UNSUPPORTED, "%s", reason);
}

static rb_status read_own(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    if (rb_xml_in(node->name, "composite flexcomp plugin")) return refuse_element(r, node);
    if (rb_xml_is(node, "inertial") && place->body == 0)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "the world cannot have inertia");
    if (rb_xml_is(node, "camera")) return rb_mjcf_add_camera(r, node, place);
    if (!rb_xml_in(node->name, "joint freejoint geom site")) return RB_OK;

    if (rb_xml_is(node, "geom")) return rb_mjcf_add_geom(r, node, place);
    if (rb_xml_is(node, "site")) return rb_mjcf_add_site(r, node, place);
    return rb_mjcf_add_joint(r, node, place);
}

static rb_status read_inside(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place,
                             pass which)
{
    for (const rb_xml_node *child = node->child; child; child = child->next) {
        if (rb_xml_is(child, "frame"))
            RB_TRY(read_frame(r, child, place, which));
        else if (rb_xml_is(child, "replicate"))
            RB_TRY(read_replicate(r, child, place, which));
        else if (rb_xml_is(child, "body") && which == INNER_BODIES)
            RB_TRY(read_body(r, child, place));
        else if (rb_xml_is(child, "attach") && which == INNER_BODIES)
            RB_TRY(rb_mjcf_attach(r, child, place));
        else if (!rb_xml_in(child->name, "body attach") && which == OWN_ELEMENTS)
            RB_TRY(read_own(r, child, place));
    }
    return RB_OK;
}

/* Counts what replicas add, before anything is made: nested ones multiply. */
static rb_status count_replicas(rb_mjcf *r, const rb_xml_node *node, size_t times)
{
    for (const rb_xml_node *child = node->child; child; child = child->next) {
        size_t inside = times;
        RB_TRY(rb_mjcf_count(r, child, times - !r->parent));
        if (rb_xml_is(child, "replicate")) {
            replicate rep;
            RB_TRY(read_replicate_attrs(r, child, &rep));
            inside = times * (size_t)rep.count;
            RB_TRY(rb_mjcf_count(r, child, inside));
        }
        if (rb_xml_in(child->name, "body frame replicate"))
            RB_TRY(count_replicas(r, child, inside));
    }
    return RB_OK;
}

rb_status rb_mjcf_bodies(rb_mjcf *r, const rb_xml_node *root)
{
    (void)root;
    rb_mjcf_place world = { .frame.quat = { 1.0, 0.0, 0.0, 0.0 }, .class = &r->main_class };
    return rb_mjcf_attach_world(r, &world);
}

/* ---- parts of a file ------------------------------------------------------------------------- */

rb_status rb_mjcf_attach_body(rb_mjcf *r, const rb_xml_node *body, const rb_mjcf_place *place)
{
    RB_TRY(count_replicas(r, body, 1));
    return read_body(r, body, place);
}

rb_status rb_mjcf_attach_frame(rb_mjcf *r, const rb_xml_node *frame, const rb_mjcf_place *place)
{
    RB_TRY(count_replicas(r, frame, 1));
    RB_TRY(read_frame(r, frame, place, OWN_ELEMENTS));
    return read_frame(r, frame, place, INNER_BODIES);
}

rb_status rb_mjcf_attach_world(rb_mjcf *r, const rb_mjcf_place *place)
{
    const rb_xml_node *root = r->doc->root;
    for (const rb_xml_node *n = rb_xml_child(root, "worldbody"); n; n = rb_xml_next(n))
        RB_TRY(count_replicas(r, n, 1));
    for (int which = OWN_ELEMENTS; which <= INNER_BODIES; which++)
        for (const rb_xml_node *n = rb_xml_child(root, "worldbody"); n; n = rb_xml_next(n))
            RB_TRY(read_inside(r, n, place, (pass)which));
    return RB_OK;
}
