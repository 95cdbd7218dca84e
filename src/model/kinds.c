/* What the spec has to know about each kind of element: how large its def is, which members are
 * arrays, which are indices of other elements. Indices are checked when an element is added and
 * again by the compiler, since a def may be edited in between. */
#include "model/spec.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARRAY(def, member, count, times, plus)                                                     \
    {                                                                                              \
        offsetof(def, member), offsetof(def, count), RB_NO_SLOT, sizeof *((def *)0)->member,       \
            times, plus                                                                            \
    }
#define ARRAY_END                                                                                  \
    {                                                                                              \
        RB_NO_SLOT, 0, 0, 0, 0, 0                                                                  \
    }
#define REF(def, member, kind, lowest)                                                             \
    {                                                                                              \
        offsetof(def, member), kind, lowest, #member                                               \
    }
#define REF_END                                                                                    \
    {                                                                                              \
        RB_NO_SLOT, RB_KIND_BODY, 0, NULL                                                          \
    }

/* ---- arrays -----------------------------------------------------------------------------------
 */

static const rb_array_slot mesh_arrays[] = { ARRAY(rb_mesh_def, vert, nvert, 3, 0),
                                             ARRAY(rb_mesh_def, face, nface, 3, 0),
                                             ARRAY(rb_mesh_def, hull.vert, hull.nvert, 3, 0),
                                             ARRAY(rb_mesh_def, hull.start, hull.nface, 1, 1),
                                             ARRAY(rb_mesh_def, hull.loop, hull.nloop, 1, 0),
                                             ARRAY_END };

static const rb_array_slot hfield_arrays[] = {
    { offsetof(rb_hfield_def, elev), offsetof(rb_hfield_def, nrow), offsetof(rb_hfield_def, ncol),
      sizeof(double), 1, 0 },
    ARRAY_END
};

static const rb_array_slot equality_arrays[] = { ARRAY(rb_equality_def, chain, nchain, 1, 0),
                                                 ARRAY_END };

static const rb_array_slot tendon_arrays[] = { ARRAY(rb_tendon_def, joint, njoint, 1, 0),
                                               ARRAY(rb_tendon_def, coef, njoint, 1, 0),
                                               ARRAY(rb_tendon_def, path, npath, 1, 0), ARRAY_END };

static const rb_array_slot key_arrays[] = {
    ARRAY(rb_key_def, qpos, nqpos, 1, 0),   ARRAY(rb_key_def, qvel, nqvel, 1, 0),
    ARRAY(rb_key_def, act, nact, 1, 0),     ARRAY(rb_key_def, ctrl, nctrl, 1, 0),
    ARRAY(rb_key_def, mocap, nmocap, 1, 0), ARRAY_END
};

static const rb_array_slot custom_arrays[] = { ARRAY(rb_custom_def, data, ndata, 1, 0), ARRAY_END };

static int read_int(const void *def, size_t offset)
{
    int value;
    memcpy(&value, (const char *)def + offset, sizeof value);
    return value;
}

ptrdiff_t rb_array_length(const rb_array_slot *slot, const void *def)
{
    int a = read_int(def, slot->count);
    int b = slot->count2 == RB_NO_SLOT ? 1 : read_int(def, slot->count2);
    if (a < 0 || b < 0) return -1;
    if (b > 0 && a > (INT_MAX / 4) / b) return -1;
    return (ptrdiff_t)slot->times * a * b + slot->plus;
}

/* An array is there when its count says so. An optional one, NULL, has count zero. */
static rb_status check_arrays(const rb_kind_info *info, rb_kind kind, int i, const void *def,
                              rb_error *err)
{
    for (const rb_array_slot *a = info->arrays; a && a->pointer != RB_NO_SLOT; a++) {
        const void *array;
        memcpy(&array, (const char *)def + a->pointer, sizeof array);
        ptrdiff_t length = rb_array_length(a, def);
        if (length < 0) return rb_refuse(def, kind, i, err, "an array length is out of range");
        if (!array && length > a->plus) {
            return rb_refuse(def, kind, i, err, "an array of %td entries is missing", length);
        }
    }
    return RB_OK;
}

/* ---- indices ----------------------------------------------------------------------------------
 */

static const rb_ref_slot joint_refs[] = { REF(rb_joint_def, body, RB_KIND_BODY, 1), REF_END };
static const rb_ref_slot geom_refs[] = { REF(rb_geom_def, body, RB_KIND_BODY, 0), REF_END };
static const rb_ref_slot site_refs[] = { REF(rb_site_def, body, RB_KIND_BODY, 0), REF_END };
static const rb_ref_slot exclude_refs[] = { REF(rb_exclude_def, body1, RB_KIND_BODY, 0),
                                            REF(rb_exclude_def, body2, RB_KIND_BODY, 0), REF_END };
static const rb_ref_slot pair_refs[] = { REF(rb_pair_def, geom1, RB_KIND_GEOM, 0),
                                         REF(rb_pair_def, geom2, RB_KIND_GEOM, 0), REF_END };

static rb_status check_ref(const rb_spec *spec, const void *def, rb_kind kind, int i, int value,
                           const rb_ref_slot *ref, rb_error *err)
{
    int count = spec->list[ref->kind].count;
    if (value >= ref->lowest && value < count) return RB_OK;
    return rb_refuse(def, kind, i, err, "%s = %d is no %s: expected an index from %d to %d",
                     ref->word, value, rb_kinds[ref->kind].word, ref->lowest, count - 1);
}

static rb_status check_body(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    (void)spec;
    const rb_body_def *body = def;
    if (i == 0 || (body->parent >= 0 && body->parent < i)) return RB_OK;
    return rb_refuse(def, RB_KIND_BODY, i, err,
                     "parent = %d: expected a body that was added before it", body->parent);
}

static rb_status check_joint(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    (void)spec;
    const rb_joint_def *joint = def;
    if (joint->type >= RB_JOINT_FREE && joint->type <= RB_JOINT_HINGE) return RB_OK;
    return rb_refuse(def, RB_KIND_JOINT, i, err, "type = %d is no rb_joint_type", (int)joint->type);
}

static rb_status check_geom(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    const rb_geom_def *geom = def;
    if (geom->type < RB_GEOM_PLANE || geom->type > RB_GEOM_MESH) {
        return rb_refuse(def, RB_KIND_GEOM, i, err, "type = %d is no rb_geom_type",
                         (int)geom->type);
    }
    rb_ref_slot asset = { 0, RB_KIND_MESH, 0, "asset" };
    if (geom->type == RB_GEOM_HFIELD) asset.kind = RB_KIND_HFIELD;
    if (geom->type != RB_GEOM_HFIELD && geom->type != RB_GEOM_MESH) return RB_OK;
    return check_ref(spec, def, RB_KIND_GEOM, i, geom->asset, &asset, err);
}

static rb_status check_mesh(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    (void)spec;
    const rb_mesh_def *mesh = def;
    if (mesh->inertia < RB_MESH_LEGACY || mesh->inertia > RB_MESH_SHELL) {
        return rb_refuse(def, RB_KIND_MESH, i, err, "inertia = %d is no rb_mesh_inertia",
                         (int)mesh->inertia);
    }
    for (ptrdiff_t k = 0; k < (ptrdiff_t)3 * mesh->nface; k++) {
        if (mesh->face[k] >= 0 && mesh->face[k] < mesh->nvert) continue;
        return rb_refuse(def, RB_KIND_MESH, i, err,
                         "face %td names vertex %d: expected 0 to %d, the mesh has %d vertices",
                         k / 3, mesh->face[k], mesh->nvert - 1, mesh->nvert);
    }
    return RB_OK;
}

/* The coordinate of a chain joint is that of a joint of its own type. */
static rb_status check_chain(const rb_spec *spec, int i, const rb_equality_def *eq, rb_error *err)
{
    const rb_ref_slot rotor = { 0, RB_KIND_JOINT, -1, "chain joint" };
    for (int k = 0; k < eq->nchain; k++) {
        const rb_chain_joint *joint = &eq->chain[k];
        rb_status status = check_ref(spec, eq, RB_KIND_EQUALITY, i, joint->joint, &rotor, err);
        if (status != RB_OK) return status;
        if (joint->type <= RB_JOINT_FREE || joint->type > RB_JOINT_HINGE) {
            return rb_refuse(eq, RB_KIND_EQUALITY, i, err,
                             "chain joint %d is neither ball, slide nor hinge", k);
        }
        if (joint->joint < 0) continue;
        const rb_joint_def *owner = rb_spec_item(spec, RB_KIND_JOINT, joint->joint);
        if (owner->type == joint->type) continue;
        return rb_refuse(eq, RB_KIND_EQUALITY, i, err,
                         "chain joint %d has the coordinate of a joint of another type", k);
    }
    return RB_OK;
}

static rb_status check_equality(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    const rb_equality_def *eq = def;
    if (eq->type < RB_EQ_CONNECT || eq->type > RB_EQ_CHAIN) {
        return rb_refuse(def, RB_KIND_EQUALITY, i, err, "type = %d is no rb_equality_type",
                         (int)eq->type);
    }
    rb_ref_slot first = { 0, RB_KIND_BODY, 0, "obj1" }, second = { 0, RB_KIND_BODY, 0, "obj2" };
    if (eq->type == RB_EQ_JOINT) first.kind = second.kind = RB_KIND_JOINT;
    if (eq->type == RB_EQ_TENDON) first.kind = second.kind = RB_KIND_TENDON;
    if (first.kind != RB_KIND_BODY) second.lowest = -1;
    rb_status status = check_ref(spec, def, RB_KIND_EQUALITY, i, eq->obj1, &first, err);
    if (status != RB_OK) return status;
    status = check_ref(spec, def, RB_KIND_EQUALITY, i, eq->obj2, &second, err);
    return status == RB_OK && eq->type == RB_EQ_CHAIN ? check_chain(spec, i, eq, err) : status;
}

static rb_status check_wrap(const rb_spec *spec, int i, const void *def, const rb_wrap_def *wrap,
                            rb_error *err)
{
    const rb_ref_slot site = { 0, RB_KIND_SITE, 0, "object" },
                      geom = { 0, RB_KIND_GEOM, 0, "object" };
    const rb_ref_slot side = { 0, RB_KIND_SITE, -1, "side" };
    switch (wrap->type) {
    case RB_WRAP_PULLEY:
        return RB_OK;
    case RB_WRAP_SITE:
        return check_ref(spec, def, RB_KIND_TENDON, i, wrap->object, &site, err);
    case RB_WRAP_GEOM: {
        rb_status status = check_ref(spec, def, RB_KIND_TENDON, i, wrap->object, &geom, err);
        if (status != RB_OK) return status;
        return check_ref(spec, def, RB_KIND_TENDON, i, wrap->side, &side, err);
    }
    }
    return rb_refuse(def, RB_KIND_TENDON, i, err, "type = %d is no rb_wrap_type", (int)wrap->type);
}

static rb_status check_tendon(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    const rb_tendon_def *tendon = def;
    const rb_ref_slot joint = { 0, RB_KIND_JOINT, 0, "joint" };
    for (int k = 0; k < tendon->njoint; k++) {
        rb_status status = check_ref(spec, def, RB_KIND_TENDON, i, tendon->joint[k], &joint, err);
        if (status != RB_OK) return status;
    }
    for (int k = 0; k < tendon->npath; k++) {
        rb_status status = check_wrap(spec, i, tendon, &tendon->path[k], err);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

static rb_status check_actuator(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    const rb_actuator_def *act = def;
    static const rb_kind targets[] = { RB_KIND_JOINT, RB_KIND_JOINT, RB_KIND_TENDON,
                                       RB_KIND_SITE,  RB_KIND_SITE,  RB_KIND_BODY };
    if (act->transmission < RB_TRN_JOINT || act->transmission > RB_TRN_BODY) {
        return rb_refuse(def, RB_KIND_ACTUATOR, i, err, "transmission = %d is no rb_transmission",
                         (int)act->transmission);
    }
    if (act->activation < RB_ACT_NONE || act->activation > RB_ACT_SERVO) {
        return rb_refuse(def, RB_KIND_ACTUATOR, i, err, "activation = %d is no rb_activation",
                         (int)act->activation);
    }
    const rb_ref_slot target = { 0, targets[act->transmission], 0, "target" };
    int crank = act->transmission == RB_TRN_SLIDER_CRANK;
    const rb_ref_slot reference = { 0, RB_KIND_SITE, crank ? 0 : -1, "reference" };
    rb_status status = check_ref(spec, def, RB_KIND_ACTUATOR, i, act->target, &target, err);
    if (status != RB_OK || (act->transmission != RB_TRN_SITE && !crank)) return status;
    return check_ref(spec, def, RB_KIND_ACTUATOR, i, act->reference, &reference, err);
}

static rb_kind kind_of_object(rb_object object)
{
    switch (object) {
    case RB_OBJECT_GEOM:
        return RB_KIND_GEOM;
    case RB_OBJECT_SITE:
        return RB_KIND_SITE;
    case RB_OBJECT_JOINT:
        return RB_KIND_JOINT;
    case RB_OBJECT_TENDON:
        return RB_KIND_TENDON;
    case RB_OBJECT_ACTUATOR:
        return RB_KIND_ACTUATOR;
    default:
        return RB_KIND_BODY;
    }
}

/* What a sensor has to be attached to; bits of rb_object, 0: nothing. */
static unsigned objects_of(rb_sensor_type type)
{
    const unsigned frames =
        1u << RB_OBJECT_BODY | 1u << RB_OBJECT_XBODY | 1u << RB_OBJECT_GEOM | 1u << RB_OBJECT_SITE;
    const unsigned pair = 1u << RB_OBJECT_BODY | 1u << RB_OBJECT_XBODY | 1u << RB_OBJECT_GEOM;
    if (type <= RB_SENSOR_RANGEFINDER) return 1u << RB_OBJECT_SITE;
    if (type == RB_SENSOR_JOINTPOS || type == RB_SENSOR_JOINTVEL) return 1u << RB_OBJECT_JOINT;
    if (type == RB_SENSOR_TENDONPOS || type == RB_SENSOR_TENDONVEL) return 1u << RB_OBJECT_TENDON;
    if (type <= RB_SENSOR_ACTUATORFRC) return 1u << RB_OBJECT_ACTUATOR;
    if (type == RB_SENSOR_TENDONACTUATORFRC) return 1u << RB_OBJECT_TENDON;
    if (type <= RB_SENSOR_JOINTLIMITFRC) return 1u << RB_OBJECT_JOINT;
    if (type <= RB_SENSOR_TENDONLIMITFRC) return 1u << RB_OBJECT_TENDON;
    if (type <= RB_SENSOR_FRAMEANGACC || type == RB_SENSOR_INSIDESITE) return frames;
    if (type <= RB_SENSOR_SUBTREEANGMOM) return 1u << RB_OBJECT_SUBTREE;
    return type <= RB_SENSOR_FROMTO ? pair : 0;
}

static rb_status check_sensor_objects(const rb_spec *spec, int i, const rb_sensor_def *s,
                                      rb_error *err)
{
    unsigned objects = objects_of(s->type);
    int pair = s->type >= RB_SENSOR_DISTANCE && s->type <= RB_SENSOR_FROMTO;
    if (objects && (s->object > RB_OBJECT_SUBTREE || !(objects >> s->object & 1u)))
        return rb_refuse(s, RB_KIND_SENSOR, i, err, "%s: is attached to nothing it can measure",
                         rb_sensor_word(s->type));
    const rb_ref_slot object = { 0, kind_of_object(s->object), objects ? 0 : -1, "index" };
    const rb_ref_slot reference = { 0, kind_of_object(s->reference), pair ? 0 : -1,
                                    "reference_index" };
    const rb_ref_slot site = { 0, RB_KIND_SITE, s->type == RB_SENSOR_INSIDESITE ? 0 : -1, "site" };
    rb_status status = check_ref(spec, s, RB_KIND_SENSOR, i, s->index, &object, err);
    if (status == RB_OK)
        status = check_ref(spec, s, RB_KIND_SENSOR, i, s->reference_index, &reference, err);
    return status == RB_OK ? check_ref(spec, s, RB_KIND_SENSOR, i, s->site, &site, err) : status;
}

static rb_status check_sensor(const rb_spec *spec, int i, const void *def, rb_error *err)
{
    const rb_sensor_def *s = def;
    if (s->type < 0 || s->type >= RB_NSENSOR)
        return rb_refuse(def, RB_KIND_SENSOR, i, err, "type = %d is no rb_sensor_type",
                         (int)s->type);
    int counts = s->nsample < 0 || s->nsample > RB_SENSOR_SAMPLES || s->num < 1 ||
                 s->num > RB_SENSOR_SAMPLES || s->dim < 0 || s->dim > RB_SENSOR_SAMPLES;
    if (counts || s->interpolate < 0 || s->interpolate > 2 || s->data < 0 || s->data > 511 ||
        s->reduce < RB_REDUCE_NONE || s->reduce > RB_REDUCE_NETFORCE)
        return rb_refuse(def, RB_KIND_SENSOR, i, err,
                         "nsample, num, dim, data, reduce or interpolate is out of range");
    return check_sensor_objects(spec, i, s, err);
}

rb_status rb_check_links_of(const rb_spec *spec, rb_kind kind, int i, const void *def,
                            rb_error *err)
{
    const rb_kind_info *info = &rb_kinds[kind];
    rb_status status = check_arrays(info, kind, i, def, err);
    for (const rb_ref_slot *ref = info->refs; ref && ref->offset != RB_NO_SLOT; ref++) {
        if (status != RB_OK) return status;
        status = check_ref(spec, def, kind, i, read_int(def, ref->offset), ref, err);
    }
    if (status == RB_OK && info->check) status = info->check(spec, i, def, err);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------
 */

#define TEXT RB_NO_SLOT

// clang-format off
const rb_kind_info rb_kinds[RB_NKIND] = {
    [RB_KIND_BODY]     = { "body",     sizeof(rb_body_def),     TEXT, NULL,          NULL,         check_body },
    [RB_KIND_JOINT]    = { "joint",    sizeof(rb_joint_def),    TEXT, NULL,          joint_refs,   check_joint },
    [RB_KIND_GEOM]     = { "geom",     sizeof(rb_geom_def),     TEXT, NULL,          geom_refs,    check_geom },
    [RB_KIND_SITE]     = { "site",     sizeof(rb_site_def),     TEXT, NULL,          site_refs,    NULL },
    [RB_KIND_MESH]     = { "mesh",     sizeof(rb_mesh_def),     TEXT, mesh_arrays,   NULL,         check_mesh },
    [RB_KIND_HFIELD]   = { "hfield",   sizeof(rb_hfield_def),   TEXT, hfield_arrays, NULL,         NULL },
    [RB_KIND_EQUALITY] = { "equality", sizeof(rb_equality_def), TEXT, equality_arrays, NULL,       check_equality },
    [RB_KIND_TENDON]   = { "tendon",   sizeof(rb_tendon_def),   TEXT, tendon_arrays, NULL,         check_tendon },
    [RB_KIND_ACTUATOR] = { "actuator", sizeof(rb_actuator_def), TEXT, NULL,          NULL,         check_actuator },
    [RB_KIND_EXCLUDE]  = { "exclude",  sizeof(rb_exclude_def),  TEXT, NULL,          exclude_refs, NULL },
    [RB_KIND_PAIR]     = { "pair",     sizeof(rb_pair_def),     TEXT, NULL,          pair_refs,    NULL },
    [RB_KIND_KEY]      = { "key",      sizeof(rb_key_def),      TEXT, key_arrays,    NULL,         NULL },
    [RB_KIND_CUSTOM]   = { "custom",   sizeof(rb_custom_def),
                           offsetof(rb_custom_def, text),             custom_arrays, NULL,         NULL },
    [RB_KIND_SENSOR]   = { "sensor",   sizeof(rb_sensor_def),   TEXT, NULL,          NULL,         check_sensor },
};
// clang-format on

#define SAME_HEAD(word, KIND)                                                                      \
    _Static_assert(offsetof(rb_##word##_def, where) == offsetof(rb_head, where) &&                 \
                       offsetof(rb_##word##_def, name) == offsetof(rb_head, name),                 \
                   "a def begins with where and name");
RB_FOR_EACH_KIND(SAME_HEAD)

const char *rb_kind_text(rb_kind kind)
{
    return kind >= RB_KIND_BODY && kind < RB_NKIND ? rb_kinds[kind].word : "element";
}

rb_status rb_refuse(const void *def, rb_kind kind, int i, rb_error *err, const char *format, ...)
{
    if (!err) return RB_BAD_INPUT;
    rb_head head = rb_head_of(def);
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);

    snprintf(err->file, sizeof err->file, "%s", head.where.file ? head.where.file : "");
    err->line = head.where.line;
    const char *word = rb_kind_text(kind);
    if (head.name && *head.name) {
        return rb_fail(err, RB_BAD_INPUT, "%s '%.80s': %s", word, head.name, sentence);
    }
    return rb_fail(err, RB_BAD_INPUT, "%s %d: %s", word, i, sentence);
}
