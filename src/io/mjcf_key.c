/* <keyframe>. Lists that are too long are refused by the compiler; short ones are filled up there.
 */
#include "io/mjcf.h"

#include <limits.h>
#include <string.h>

#include "math/dense.h"

typedef struct list {
    double *numbers;
    size_t count;
} list;

static rb_status read_list(rb_mjcf *r, const rb_xml_node *node, const char *attr, double **numbers,
                           int *count)
{
    double *read;
    size_t length;
    RB_TRY(rb_xml_list(r->doc, node, attr, &read, &length, r->err));
    if (length > INT_MAX)
        return rb_xml_refuse(node, attr, r->err, RB_TOO_LARGE, "too many numbers");
    *numbers = length ? read : NULL;
    *count = (int)length;
    return RB_OK;
}

/* Numbers that each list of a keyframe needs. */
typedef struct lengths {
    int nq, nv, na, nctrl;
} lengths;

static lengths lengths_of(rb_mjcf *r)
{
    lengths n = { 0 };
    int njoint = rb_spec_count(r->spec, RB_KIND_JOINT);
    int nactuator = rb_spec_count(r->spec, RB_KIND_ACTUATOR);
    for (int k = 0; k < njoint; k++) {
        rb_joint_type type = rb_spec_joint(r->spec, k)->type;
        n.nq += type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
        n.nv += type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
    }
    for (int k = 0; k < nactuator; k++) {
        n.na += rb_actuator_states(rb_spec_actuator(r->spec, k));
        n.nctrl += rb_actuator_inputs(rb_spec_actuator(r->spec, k));
    }
    return n;
}

static rb_status warn_short(rb_mjcf *r, const rb_xml_node *node, const rb_key_def *def)
{
    lengths n = lengths_of(r);
    int is_short = (def->nqpos > 0 && def->nqpos < n.nq) || (def->nqvel > 0 && def->nqvel < n.nv) ||
                   (def->nact > 0 && def->nact < n.na) || (def->nctrl > 0 && def->nctrl < n.nctrl);
    if (!is_short) return RB_OK;
    return rb_mjcf_warn(r, node, "key", 0,
                        "a list has fewer numbers than the model needs: the rest is that of the "
                        "reference configuration, or zero, as in MuJoCo");
}

/* A quaternion of zeros means no rotation, as MuJoCo reads it; published robots have such
 * keyframes. A list of the wrong length is left to the compiler. */
static void mend_quaternions(rb_mjcf *r, double *qpos, int count)
{
    int at = 0, njoint = rb_spec_count(r->spec, RB_KIND_JOINT);
    for (int k = 0; k < njoint; k++) {
        rb_joint_type type = rb_spec_joint(r->spec, k)->type;
        int quat = type == RB_JOINT_FREE ? at + 3 : at;
        at += type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
        if (type != RB_JOINT_FREE && type != RB_JOINT_BALL) continue;
        if (at > count) return;
        int zero = 1;
        for (int i = quat; i < quat + 4; i++) zero &= qpos[i] == 0.0;
        if (zero) qpos[quat] = 1.0;
    }
}

static rb_status check_mocap(const rb_mjcf *r, const rb_xml_node *node, const char *attr,
                             size_t count, size_t expected)
{
    if (count <= expected) return RB_OK;
    return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT,
                         "expected %zu numbers for the mocap bodies, found %zu", expected, count);
}

/* mpos and mquat are one list of positions and one of quaternions; what is not given is that of
 * the bodies. */
static rb_status read_mocap(rb_mjcf *r, const rb_xml_node *node, rb_key_def *def)
{
    list pos = { NULL, 0 }, quat = { NULL, 0 };
    int nbody = rb_spec_count(r->spec, RB_KIND_BODY);
    size_t nmocap = 0;
    RB_TRY(rb_xml_list(r->doc, node, "mpos", &pos.numbers, &pos.count, r->err));
    RB_TRY(rb_xml_list(r->doc, node, "mquat", &quat.numbers, &quat.count, r->err));
    if (pos.count == 0 && quat.count == 0) return RB_OK;
    for (int b = 1; b < nbody; b++) nmocap += rb_spec_body(r->spec, b)->mocap != 0;
    RB_TRY(check_mocap(r, node, "mpos", pos.count, 3 * nmocap));
    RB_TRY(check_mocap(r, node, "mquat", quat.count, 4 * nmocap));

    double *mocap = rb_xml_take(r->doc, 7 * nmocap, sizeof *mocap), *at = mocap;
    if (!mocap) return rb_mjcf_nomem(r, node);
    size_t k = 0;
    for (int b = 1; b < nbody; b++) {
        const rb_body_def *body = rb_spec_body(r->spec, b);
        if (!body->mocap) continue;
        int moved = 3 * (k + 1) <= pos.count, turned = 4 * (k + 1) <= quat.count;
        memcpy(at, moved ? pos.numbers + 3 * k : body->pose.pos, 3 * sizeof *at);
        memcpy(at + 3, turned ? quat.numbers + 4 * k : body->pose.quat, 4 * sizeof *at);
        if (rb_dot(at + 3, at + 3, 4) == 0.0) at[3] = 1.0;
        at += 7;
        k++;
    }
    def->mocap = mocap;
    def->nmocap = (int)(7 * nmocap);
    if ((pos.count == 0 || pos.count == 3 * nmocap) &&
        (quat.count == 0 || quat.count == 4 * nmocap))
        return RB_OK;
    return rb_mjcf_warn(r, node, "key/mocap", 0,
                        "mpos or mquat has fewer numbers than the mocap bodies need: the others "
                        "stay as they are written");
}

static rb_status read_key(rb_mjcf *r, const rb_xml_node *node)
{
    rb_key_def def = rb_key_default();
    double *qpos = NULL, *qvel = NULL, *act = NULL, *ctrl = NULL;
    RB_TRY(rb_xml_number(node, "time", &def.time, r->err));
    RB_TRY(read_list(r, node, "qpos", &qpos, &def.nqpos));
    RB_TRY(read_list(r, node, "qvel", &qvel, &def.nqvel));
    RB_TRY(read_list(r, node, "act", &act, &def.nact));
    RB_TRY(read_list(r, node, "ctrl", &ctrl, &def.nctrl));
    mend_quaternions(r, qpos, def.nqpos);
    def.qpos = qpos;
    def.qvel = qvel;
    def.act = act;
    def.ctrl = ctrl;
    RB_TRY(warn_short(r, node, &def));
    RB_TRY(read_mocap(r, node, &def));
    def.where = rb_mjcf_where(node);
    def.name = rb_xml_get(node, "name");
    return rb_mjcf_added(r, rb_spec_add_key(r->spec, &def, r->err));
}

/* <size nkey="..."/> may ask for more keyframes than are written: at the reference configuration.
 */
static rb_status add_spare_keys(rb_mjcf *r, const rb_xml_node *size)
{
    int wanted = 0;
    RB_TRY(rb_xml_int(size, "nkey", &wanted, r->err));
    while (rb_spec_count(r->spec, RB_KIND_KEY) < wanted) {
        rb_key_def def = rb_key_default();
        def.where = rb_mjcf_where(size);
        RB_TRY(rb_mjcf_count(r, size, 1));
        RB_TRY(rb_mjcf_added(r, rb_spec_add_key(r->spec, &def, r->err)));
    }
    return RB_OK;
}

rb_status rb_mjcf_keyframes(rb_mjcf *r, const rb_xml_node *root)
{
    for (const rb_xml_node *n = rb_xml_child(root, "keyframe"); n; n = rb_xml_next(n))
        for (const rb_xml_node *key = n->child; key; key = key->next) RB_TRY(read_key(r, key));
    for (const rb_xml_node *n = rb_xml_child(root, "size"); n; n = rb_xml_next(n))
        RB_TRY(add_spare_keys(r, n));
    return RB_OK;
}
