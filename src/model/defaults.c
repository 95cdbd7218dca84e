/* What each def says before anything is filled in. Numbers are those of MJCF, so that a reader sets
 * only what a file says. */
#include <math.h>

#include "rattleback/spec.h"

static const rb_pose identity = { { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } };

rb_body_def rb_body_default(void)
{
    return (rb_body_def){ .pose = identity };
}

rb_joint_def rb_joint_default(void)
{
    return (rb_joint_def){ .type = RB_JOINT_HINGE, .axis = { 0.0, 0.0, 1.0 } };
}

rb_material rb_material_default(void)
{
    return (rb_material){
        .friction = 1.0,
        .friction_static = NAN,
        .friction_torsion = 0.005,
        .friction_roll = 0.0001,
        .friction_across = NAN,
        .grain = { 1.0, 0.0, 0.0 },
        .friction_viscous = NAN,
        .stribeck_speed = NAN,
        .restitution = NAN,
        .relax_stiffness = NAN,
        .relax_damping = NAN,
        .bristle_stiffness = NAN,
        .bristle_damping = NAN,
        .paradigm = NAN,
        .polygon = -1,
    };
}

rb_geom_def rb_geom_default(void)
{
    return (rb_geom_def){
        .type = RB_GEOM_SPHERE,
        .pose = identity,
        .asset = -1,
        .mass = NAN,
        .density = 1000.0,
        .contype = 1,
        .conaffinity = 1,
        .condim = 3,
        .rgba = { 0.5, 0.5, 0.5, 1.0 },
        .fluid_coef = { 0.5, 0.25, 1.5, 1.0, 1.0 },
        .material = rb_material_default(),
    };
}

rb_mesh_def rb_mesh_default(void)
{
    return (rb_mesh_def){ .inertia = RB_MESH_LEGACY };
}

rb_hfield_def rb_hfield_default(void)
{
    return (rb_hfield_def){ .size = { 1.0, 1.0, 1.0, 0.1 } };
}

rb_site_def rb_site_default(void)
{
    return (
        rb_site_def){ .pose = identity, .type = RB_GEOM_SPHERE, .size = { 0.005, 0.005, 0.005 } };
}

rb_equality_def rb_equality_default(void)
{
    return (rb_equality_def){
        .type = RB_EQ_CONNECT,
        .pose1 = identity,
        .pose2 = identity,
        .derive2 = 1,
        .poly = { 0.0, 1.0, 0.0, 0.0, 0.0 },
        .active = 1,
    };
}

rb_tendon_def rb_tendon_default(void)
{
    return (rb_tendon_def){ .springlength = { NAN, NAN } };
}

rb_actuator_def rb_actuator_default(void)
{
    return (rb_actuator_def){
        .transmission = RB_TRN_JOINT,
        .reference = -1,
        .gear = { 1.0 },
        .time_constant = 1.0,
        .gain = { 1.0 },
    };
}

rb_exclude_def rb_exclude_default(void)
{
    return (rb_exclude_def){ 0 };
}

/* Everything a pair does not say comes from its two geoms. */
rb_pair_def rb_pair_default(void)
{
    rb_material open = rb_material_default();
    open.friction = open.friction_torsion = open.friction_roll = NAN;
    open.grain[0] = open.grain[1] = open.grain[2] = NAN;
    return (rb_pair_def){ .condim = 3, .material = open, .adhesion = NAN };
}

rb_key_def rb_key_default(void)
{
    return (rb_key_def){ 0 };
}

rb_custom_def rb_custom_default(void)
{
    return (rb_custom_def){ 0 };
}

rb_sensor_def rb_sensor_default(void)
{
    return (rb_sensor_def){ .type = RB_SENSOR_CLOCK,
                            .index = -1,
                            .reference_index = -1,
                            .site = -1,
                            .data = 1,
                            .num = 1,
                            .dim = 1 };
}
