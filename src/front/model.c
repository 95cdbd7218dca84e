/* From a file to a model, with what the options of a run add to it. */
#include "rattleback/front.h"

#include <stdio.h>

/* <numeric name="rb.keep_errors" data="1"/> */
static int asks_to_keep(rb_spec *spec)
{
    int k = rb_spec_find(spec, RB_KIND_CUSTOM, "rb.keep_errors");
    const rb_custom_def *custom = k >= 0 ? rb_spec_custom(spec, k) : NULL;
    return custom && custom->ndata > 0 && custom->data[0] != 0.0;
}

/* A name for the world, as URDF files have one above a base that is free by a joint of its own. */
static int is_empty(rb_spec *spec, int b)
{
    int used = rb_spec_body(spec, b)->mass > 0.0;
    for (int g = 0; g < rb_spec_count(spec, RB_KIND_GEOM); g++)
        used |= rb_spec_geom(spec, g)->body == b;
    for (int c = 0; c < rb_spec_count(spec, RB_KIND_BODY); c++)
        used |= rb_spec_body(spec, c)->parent == b;
    return !used;
}

static int is_fixed(rb_spec *spec, int b)
{
    for (int j = 0; j < rb_spec_count(spec, RB_KIND_JOINT); j++)
        if (rb_spec_joint(spec, j)->body == b) return 0;
    const rb_body_def *body = rb_spec_body(spec, b);
    return body->parent == 0 && !body->mocap && !is_empty(spec, b);
}

/* A free base where an MJCF file has a fixed one; keyframes have no numbers for it. */
static int free_bases(rb_spec *spec, rb_error *err)
{
    int nbody = rb_spec_count(spec, RB_KIND_BODY), added = 0;
    for (int b = 1; b < nbody; b++) {
        if (!is_fixed(spec, b)) continue;
        rb_joint_def joint = rb_joint_default();
        joint.type = RB_JOINT_FREE;
        joint.body = b;
        if (rb_spec_add_joint(spec, &joint, err) < 0) return 0;
        added++;
    }
    for (int k = 0; k < rb_spec_count(spec, RB_KIND_KEY) && added; k++) {
        rb_key_def *key = rb_spec_key(spec, k);
        key->qpos = key->qvel = NULL;
        key->nqpos = key->nqvel = 0;
    }
    return 1;
}

/* Of two coefficients the larger one counts: that of the body on the ground. */
static int add_ground(rb_spec *spec, double z, rb_error *err)
{
    rb_geom_def plane = rb_geom_default();
    plane.type = RB_GEOM_PLANE;
    plane.name = "ground";
    plane.body = 0;
    plane.pose.pos[2] = z;
    plane.material.friction = 0.0;
    plane.material.friction_torsion = plane.material.friction_roll = 0.0;
    return rb_spec_add_geom(spec, &plane, err) >= 0;
}

rb_read_opts rb_read_opts_default(void)
{
    return (rb_read_opts){ .load = rb_load_opts_default() };
}

rb_spec *rb_front_read(const char *path, const char *text, size_t size, const rb_read_opts *opts,
                       rb_error *err)
{
    const rb_read_opts o = opts ? *opts : rb_read_opts_default();
    rb_spec *spec = text ? rb_spec_read_memory(text, size, path, &o.load, NULL, err)
                         : rb_spec_read(path, &o.load, NULL, err);
    int good = spec && (!o.load.floating_base || free_bases(spec, err)) &&
               (!o.has_ground || add_ground(spec, o.ground, err)) &&
               rb_spec_hulls(spec, err) == RB_OK;
    if (good) return spec;
    rb_spec_free(spec);
    if (!err->file[0] && path) snprintf(err->file, sizeof err->file, "%s", path);
    return NULL;
}

rb_model *rb_front_compile(rb_spec *spec, int keep_overlap, rb_error *err)
{
    int count = 0;
    rb_model *m = rb_spec_compile(spec, NULL, err);
    if (!m || keep_overlap || asks_to_keep(spec)) return m;
    rb_status status = rb_spec_leave_out(spec, m, NULL, &count, err);
    if (status == RB_OK && count == 0) return m;
    rb_model_free(m, NULL);
    return status == RB_OK ? rb_spec_compile(spec, NULL, err) : NULL;
}
