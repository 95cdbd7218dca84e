/* `rattleback info --json`: counts first, then a list per kind of element. */
#include "info.h"

#include "json.h"

enum { NAME_ROOM = 64 };

static void put_name(json *j, const char *key, const rb_model *m, rb_kind kind, int i)
{
    char buffer[NAME_ROOM];
    json_text(j, key, rb_model_name(m, kind, i, buffer, sizeof buffer));
}

static void put_counts(json *j, const rb_model *m)
{
    json_int(j, "bodies", m->nbody - 1);
    json_int(j, "joints", m->njnt);
    json_int(j, "nq", m->nq);
    json_int(j, "nv", m->nv);
    json_int(j, "geoms", m->ngeom);
    json_int(j, "sites", m->nsite);
    json_int(j, "meshes", m->nmesh);
    json_int(j, "actuators", m->nu);
    json_int(j, "activations", m->na);
    json_int(j, "equalities", m->neq);
    json_int(j, "tendons", m->ntendon);
    json_int(j, "sensors", m->nsensor);
    json_int(j, "keyframes", m->nkey);
    json_int(j, "mocap", m->nmocap);
    json_int(j, "links", m->nlink - 1);
    json_int(j, "trees", m->ntree);
}

static void put_bodies(json *j, const rb_model *m)
{
    json_begin_list(j, "body_list");
    for (int b = 1; b < m->nbody; b++) {
        json_begin(j, NULL);
        put_name(j, "name", m, RB_KIND_BODY, b);
        put_name(j, "parent", m, RB_KIND_BODY, m->body_parent[b]);
        json_number(j, "mass", m->body_mass[b]);
        json_vector(j, "com", m->body_com + 3 * b, 3);
        json_vector(j, "inertia", m->body_inertia + 6 * b, 6);
        json_vector(j, "pos", m->body_pos + 3 * b, 3);
        json_vector(j, "quat", m->body_quat + 4 * b, 4);
        json_int(j, "geoms", m->body_geomnum[b]);
        json_end(j);
    }
    json_end_list(j);
}

static void put_joints(json *j, const rb_model *m)
{
    json_begin_list(j, "joint_list");
    for (int k = 0; k < m->njnt; k++) {
        json_begin(j, NULL);
        put_name(j, "name", m, RB_KIND_JOINT, k);
        json_text(j, "type", info_joint_word(m->jnt_type[k]));
        put_name(j, "body", m, RB_KIND_BODY, m->jnt_body[k]);
        json_int(j, "qpos", m->jnt_qadr[k]);
        json_int(j, "dof", m->jnt_dofadr[k]);
        if (m->jnt_limited[k])
            json_vector(j, "range", m->jnt_range + 2 * k, 2);
        else
            json_null(j, "range");
        json_number(j, "damping", m->dof_damping[m->jnt_dofadr[k]]);
        json_number(j, "armature", m->dof_armature[m->jnt_dofadr[k]]);
        json_number(j, "frictionloss", m->dof_frictionloss[m->jnt_dofadr[k]]);
        json_number(j, "stiffness", m->jnt_stiffness[k]);
        json_end(j);
    }
    json_end_list(j);
}

static void put_geoms(json *j, const rb_model *m)
{
    json_begin_list(j, "geom_list");
    for (int g = 0; g < m->ngeom; g++) {
        json_begin(j, NULL);
        put_name(j, "name", m, RB_KIND_GEOM, g);
        json_text(j, "type", info_geom_word(m->geom_type[g]));
        put_name(j, "body", m, RB_KIND_BODY, m->geom_body[g]);
        json_number(j, "friction", m->geom_material[g].friction);
        if (m->geom_type[g] == RB_GEOM_MESH) json_text(j, "collides_as", info_mesh_word(m, g));
        json_end(j);
    }
    json_end_list(j);
}

static void put_couplings(json *j, const rb_model *m)
{
    json_begin_list(j, "equality_list");
    for (int k = 0; k < m->neq; k++) {
        rb_kind kind = info_equality_kind(m->eq_type[k]);
        json_begin(j, NULL);
        put_name(j, "name", m, RB_KIND_EQUALITY, k);
        json_text(j, "type", info_equality_word(m->eq_type[k]));
        put_name(j, "first", m, kind, m->eq_obj1[k]);
        if (m->eq_obj2[k] >= 0)
            put_name(j, "second", m, kind, m->eq_obj2[k]);
        else
            json_null(j, "second");
        json_int(j, "active", m->eq_active[k]);
        json_end(j);
    }
    json_end_list(j);

    json_begin_list(j, "tendon_list");
    for (int k = 0; k < m->ntendon; k++) {
        json_begin(j, NULL);
        put_name(j, "name", m, RB_KIND_TENDON, k);
        json_begin_list(j, "joints");
        for (int i = 0; i < m->tendon_num[k]; i++)
            put_name(j, NULL, m, RB_KIND_JOINT, m->wrap_jnt[m->tendon_adr[k] + i]);
        json_end_list(j);
        json_vector(j, "coefficients", m->wrap_coef + m->tendon_adr[k], m->tendon_num[k]);
        json_int(j, "spatial", m->tendon_pathnum[k] > 0);
        json_number(j, "length", m->tendon_length0[k]);
        json_end(j);
    }
    json_end_list(j);
}

static void put_actuators(json *j, const rb_model *m)
{
    json_begin_list(j, "actuator_list");
    for (int k = 0; k < m->nu; k++) {
        json_begin(j, NULL);
        put_name(j, "name", m, RB_KIND_ACTUATOR, k);
        json_text(j, "transmission", info_transmission_word(m->act_transmission[k]));
        put_name(j, "target", m, info_transmission_kind(m->act_transmission[k]), m->act_target[k]);
        json_vector(j, "gain", m->act_gain + 3 * k, 3);
        json_vector(j, "bias", m->act_bias + 3 * k, 3);
        json_end(j);
    }
    json_end_list(j);
    json_begin_list(j, "key_list");
    for (int k = 0; k < m->nkey; k++) put_name(j, NULL, m, RB_KIND_KEY, k);
    json_end_list(j);
}

static void put_warnings(json *j, const rb_model *m)
{
    json_begin_list(j, "warnings");
    for (int k = 0; k < m->nwarning; k++) {
        json_begin(j, NULL);
        json_text(j, "file", m->names + m->warning_file[k]);
        json_int(j, "line", m->warning_line[k]);
        json_text(j, "element", m->names + m->warning_element[k]);
        json_text(j, "text", m->names + m->warning_text[k]);
        json_int(j, "physics", m->warning_physics[k]);
        json_end(j);
    }
    json_end_list(j);
}

void info_json(FILE *out, const info *in)
{
    const rb_model *m = in->m;
    json j = { .out = out };
    json_begin(&j, NULL);
    json_text(&j, "file", in->path);
    put_counts(&j, m);
    json_number(&j, "mass", m->mass);
    json_vector(&j, "com", in->com, 3);
    json_vector(&j, "gravity", m->option.gravity, 3);
    json_number(&j, "timestep", m->option.timestep);
    json_vector(&j, "qpos0", m->qpos0, m->nq);
    json_text(&j, "friction_rule", info_friction_rule);
    put_bodies(&j, m);
    put_joints(&j, m);
    put_geoms(&j, m);
    put_couplings(&j, m);
    put_actuators(&j, m);
    put_warnings(&j, m);
    json_end(&j);
}
