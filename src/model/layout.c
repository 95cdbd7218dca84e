#include "model/layout.h"

#include <stdint.h>
#include <string.h>

#include "base/constants.h"
#include "math/aim.h"
#include "model/cache.h"

/* A block of more bytes is refused: 1 TiB where addresses have 64 bits, 1 GiB where 32. Far above
 * what any machine can hold for us, far below what overflows. */
#define MAX_BYTES ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 30))

/* `times` * count * count2 entries of `size` bytes; all offsets in the struct. */
typedef struct entry {
    size_t pointer, size, count, count2;
    int times;
} entry;

#define ONE SIZE_MAX /* count2 of an array with one count */

/* ---- the model -------------------------------------------------------------------------------
 */

#define M(field, count, times)                                                                     \
    {                                                                                              \
        offsetof(rb_model, field), sizeof *((rb_model *)0)->field, offsetof(rb_model, count), ONE, \
            times                                                                                  \
    }
#define KEY(field, count, times)                                                                   \
    {                                                                                              \
        offsetof(rb_model, field), sizeof(double), offsetof(rb_model, nkey),                       \
            offsetof(rb_model, count), times                                                       \
    }
#define NAMES(kind, count) M(name[kind], count, 1), M(name_order[kind], count, 1)

// clang-format off
static const entry model_entries[] = {
    M(body_parent, nbody, 1), M(body_link, nbody, 1), M(body_mocap, nbody, 1),
    M(body_pos, nbody, 3), M(body_quat, nbody, 4),
    M(body_link_pos, nbody, 3), M(body_link_rot, nbody, 9),
    M(body_mass, nbody, 1), M(body_com, nbody, 3), M(body_inertia, nbody, 6),
    M(body_iquat, nbody, 4), M(body_gravcomp, nbody, 1),
    M(fluid_box, nbody, 3), M(fluid_rot, nbody, 9),
    M(body_jntadr, nbody, 1), M(body_jntnum, nbody, 1),
    M(body_geomadr, nbody, 1), M(body_geomnum, nbody, 1), M(mocap_motion, nmocap, 1),

    M(link_parent, nlink, 1), M(link_body, nlink, 1), M(link_tree, nlink, 1),
    M(link_jntadr, nlink, 1), M(link_jntnum, nlink, 1),
    M(link_dofadr, nlink, 1), M(link_dofnum, nlink, 1),
    M(link_pos, nlink, 3), M(link_quat, nlink, 4),
    M(link_mass, nlink, 1), M(link_extent, nlink, 1), M(link_com, nlink, 3), M(link_inertia, nlink, 6),
    M(link_inertia_O, nlink, 6), M(link_turn, nlink, 27), M(plane_link, nlink, 1),

    M(jnt_type, njnt_all, 1), M(jnt_body, njnt_all, 1), M(jnt_link, njnt_all, 1),
    M(jnt_qadr, njnt_all, 1), M(jnt_dofadr, njnt_all, 1),
    M(jnt_pos, njnt_all, 3), M(jnt_axis, njnt_all, 3),
    M(jnt_ref, njnt_all, 1), M(jnt_springref, njnt_all, 1), M(jnt_stiffness, njnt_all, 1),
    M(jnt_stiffness_poly, njnt_all, 2),
    M(jnt_limited, njnt_all, 1), M(jnt_range, njnt_all, 2),
    M(jnt_driven_gravcomp, njnt_all, 1), M(jnt_force_limited, njnt_all, 1), M(jnt_force_range, njnt_all, 2),

    M(dof_jnt, nv_all, 1), M(dof_link, nv_all, 1), M(dof_parent, nv, 1), M(dof_run, nv, 1),
    M(dof_Madr, nv, 1),
    M(dof_armature, nv_all, 1), M(dof_damping, nv_all, 1), M(dof_frictionloss, nv_all, 1),
    M(dof_damping_poly, nv_all, 2),
    M(qpos0, nq_all, 1),

    M(gauge_eq, ngauge, 1), M(gauge_chain, ngauge, 1),
    M(gauge_rowadr, ngauge_dof, 1), M(gauge_rownum, ngauge_dof, 1),
    M(gauge_entry, ngauge_entry, 1),

    M(geom_type, ngeom, 1), M(geom_body, ngeom, 1), M(geom_link, ngeom, 1), M(geom_asset, ngeom, 1),
    M(geom_size, ngeom, 3), M(geom_pos, ngeom, 3), M(geom_quat, ngeom, 4), M(geom_mass, ngeom, 1),
    M(geom_contype, ngeom, 1), M(geom_conaffinity, ngeom, 1), M(geom_condim, ngeom, 1),
    M(geom_priority, ngeom, 1), M(geom_group, ngeom, 1), M(geom_invisible, ngeom, 1),
    M(geom_rgba, ngeom, 4), M(geom_surface, ngeom, 6),
    M(geom_adhesion, ngeom, 1),
    M(geom_triangles, ngeom, 1),
    M(geom_fluid, ngeom, 1), M(geom_material, ngeom, 1),

    M(mesh_vertadr, nmesh, 1), M(mesh_vertnum, nmesh, 1),
    M(mesh_faceadr, nmesh, 1), M(mesh_facenum, nmesh, 1),
    M(mesh_hullvertadr, nmesh, 1), M(mesh_hullvertnum, nmesh, 1),
    M(mesh_hullfaceadr, nmesh, 1), M(mesh_hullfacenum, nmesh, 1),
    M(mesh_vert, nmeshvert, 3), M(mesh_face, nmeshface, 3),
    M(hull_vert, nhullvert, 3), M(hull_loopadr, nhullface, 1), M(hull_loopnum, nhullface, 1),
    M(hull_loop, nhullloop, 1), M(hull_twin, nhullloop, 1), M(hull_owner, nhullloop, 1),
    M(hull_turn, nhullloop, 1),
    M(hull_leave, nhullvert, 1), M(hull_plane, nhullface, 4), M(mesh_half, nmesh, 3),
    M(mesh_inner, nmesh, 1), M(hull_aim, nmesh, RB_AIMS),
    M(hull_star, nhullvert, 2), M(hull_next, nhullloop, 1),
    M(mesh_hullwhole, nmesh, 1), M(mesh_convex, nmesh, 1), M(mesh_twin, nmeshface, 3), M(mesh_order, nmeshface, 1),
    M(mesh_box, nmeshface, 6),
    M(hfield_nrow, nhfield, 1), M(hfield_ncol, nhfield, 1), M(hfield_adr, nhfield, 1),
    M(hfield_size, nhfield, 4), M(hfield_elev, nelev, 1),

    M(site_body, nsite, 1), M(site_pos, nsite, 3), M(site_quat, nsite, 4),
    M(site_type, nsite, 1), M(site_size, nsite, 3),

    M(sensor_type, nsensor, 1), M(sensor_object, nsensor, 1), M(sensor_index, nsensor, 1),
    M(sensor_reference, nsensor, 1), M(sensor_reference_index, nsensor, 1),
    M(sensor_site, nsensor, 1), M(sensor_data, nsensor, 1), M(sensor_num, nsensor, 1),
    M(sensor_reduce, nsensor, 1), M(sensor_adr, nsensor, 1), M(sensor_dim, nsensor, 1),
    M(sensor_cutoff, nsensor, 1), M(sensor_noise, nsensor, 1), M(sensor_delay, nsensor, 1),
    M(sensor_interval, nsensor, 1), M(sensor_phase, nsensor, 1), M(sensor_nsample, nsensor, 1),
    M(sensor_picture, nsensor, 4), M(sensor_interpolate, nsensor, 1), M(sensor_pastadr, nsensor, 1),

    M(eq_type, neq, 1), M(eq_obj1, neq, 1), M(eq_obj2, neq, 1), M(eq_active, neq, 1),
    M(eq_pos1, neq, 3), M(eq_quat1, neq, 4), M(eq_pos2, neq, 3), M(eq_quat2, neq, 4),
    M(eq_poly, neq, 5), M(eq_chainadr, neq, 1), M(eq_chainnum, neq, 1),
    M(chain_type, nchain, 1), M(chain_jnt, nchain, 1),
    M(chain_pos, nchain, 3), M(chain_axis, nchain, 3), M(chain_ref, nchain, 1),

    M(tendon_adr, ntendon, 1), M(tendon_num, ntendon, 1),
    M(wrap_jnt, nwrap, 1), M(wrap_coef, nwrap, 1),
    M(tendon_limited, ntendon, 1), M(tendon_range, ntendon, 2), M(tendon_spring, ntendon, 2),
    M(tendon_length0, ntendon, 1), M(tendon_stiffness, ntendon, 1), M(tendon_damping, ntendon, 1),
    M(tendon_frictionloss, ntendon, 1), M(tendon_armature, ntendon, 1),
    M(tendon_pathadr, ntendon, 1), M(tendon_pathnum, ntendon, 1), M(path, npath, 1),
    M(tendon_rowadr, ntendon, 1), M(tendon_rownum, ntendon, 1),
    M(tendon_dof, ntendonrow, 1), M(tendon_coef, ntendonrow, 1),
    M(tendon_stiffness_poly, ntendon, 2), M(tendon_damping_poly, ntendon, 2),
    M(tendon_force_limited, ntendon, 1), M(tendon_force_range, ntendon, 2),

    M(act_transmission, nu, 1), M(act_target, nu, 1), M(act_reference, nu, 1),
    M(act_dynamics, nu, 1), M(act_adr, nu, 1), M(act_num, nu, 1), M(act_time_constant, nu, 1),
    M(act_ctrladr, nu, 1), M(act_ctrlnum, nu, 1), M(act_outadr, nu, 1), M(act_plain, nu, 1),
    M(act_inputs, nu, 1), M(act_quaternion, nu, 1), M(act_off, nu, 1), M(act_windup, nu, 1), M(act_slew, nu, 1),
    M(act_motor, nu, 1), M(act_delay, nu, 1), M(act_nsample, nu, 1), M(act_interpolate, nu, 1),
    M(act_pastadr, nu, 1),
    M(act_gear, nu, 6), M(act_gain, nu, 3), M(act_bias, nu, 3),
    M(act_gain_law, nu, 1), M(act_bias_law, nu, 1), M(act_early, nu, 1),
    M(act_gain_muscle, nu, 1), M(act_bias_muscle, nu, 1), M(act_length_range, nu, 2),
    M(act_muscle_time, nu, 2), M(act_muscle_smooth, nu, 1), M(act_crank_length, nu, 1),
    M(act_ctrl_limited, nctrl, 1), M(act_force_limited, nu, 1), M(act_act_limited, nu, 1),
    M(act_ctrl_range, nctrl, 2), M(act_force_range, nu, 2), M(act_act_range, nu, 2),

    M(exclude_body1, nexclude, 1), M(exclude_body2, nexclude, 1),
    M(pair_geom1, npair, 1), M(pair_geom2, npair, 1), M(pair_condim, npair, 1),
    M(pair_only_material, npair, 1), M(pair_never, npair, 1),
    M(pair_material, npair, 1), M(pair_adhesion, npair, 1),

    M(key_time, nkey, 1), KEY(key_qpos, nq, 1), KEY(key_qvel, nv, 1), KEY(key_act, na, 1),
    KEY(key_ctrl, nctrl, 1), KEY(key_mocap, nmocap, 7),
    M(custom_adr, ncustom, 1), M(custom_num, ncustom, 1), M(custom_text, ncustom, 1),
    M(custom_data, ncustomdata, 1),

    NAMES(RB_KIND_BODY, nbody), NAMES(RB_KIND_JOINT, njnt_all), NAMES(RB_KIND_GEOM, ngeom),
    NAMES(RB_KIND_SITE, nsite), NAMES(RB_KIND_MESH, nmesh), NAMES(RB_KIND_HFIELD, nhfield),
    NAMES(RB_KIND_EQUALITY, neq), NAMES(RB_KIND_TENDON, ntendon), NAMES(RB_KIND_ACTUATOR, nu),
    NAMES(RB_KIND_EXCLUDE, nexclude), NAMES(RB_KIND_PAIR, npair), NAMES(RB_KIND_KEY, nkey),
    NAMES(RB_KIND_CUSTOM, ncustom), NAMES(RB_KIND_SENSOR, nsensor),
    M(warning_file, nwarning, 1), M(warning_line, nwarning, 1), M(warning_element, nwarning, 1),
    M(warning_text, nwarning, 1), M(warning_physics, nwarning, 1),
    M(names, nname, 1), M(meet, nmeet_room, 1),
};

/* ---- the data --------------------------------------------------------------------------------
 */

#define D(field, count, times)                                                                     \
    { offsetof(rb_data, field), sizeof(double), offsetof(rb_data, count), ONE, times }

static const entry data_entries[] = {
    D(q, nq_all, 1), D(v, nv_all, 1), D(act, na, 1), D(ctrl_past, nctrlpast, 1), D(mocap, nmocap, 7),
    D(mocap_was, nmocap, 6), D(gauge_at, ngauge_dof, 1), D(push, nv, 2), D(slope, nv, RB_SLOPES),
    D(kick, nv, 2), D(servo, nu, 1),
    { offsetof(rb_data, touch), sizeof(rb_touch), offsetof(rb_data, touch_max), ONE, 1 },
    D(ctrl, nctrl, 1), D(tau, nv, 1), D(wrench, nbody, 6),
    D(mocap_v, nmocap, 6), D(mocap_a, nmocap, 6),
    D(sensor, nsensordata, 1), D(sensor_past, nsensorpast, 1), D(sense_work, nsense, 1),

    D(link_p, nlink, 3), D(link_R, nlink, 9), D(link_l, nlink, 3),
    D(link_c, nlink, 3), D(link_I, nlink, 6), D(dof_S, nv, 6),

    D(link_w, nlink, 3), D(link_v, nlink, 3), D(link_a, nlink, 6),
    D(gauge_J, ngauge_entry, 1), D(gauge_bias, ngauge_dof, 1),

    D(body_p, nbody, 3), D(body_R, nbody, 9), D(geom_p, ngeom, 3), D(geom_R, ngeom, 9),
    D(site_p, nsite, 3), D(site_R, nsite, 9),

    D(ten_length, ntendon, 1), D(ten_J, ntendonrow, 1),

    D(c, nv, 1), D(passive, nv_all, 1), D(actuation, nv_all, 1), D(act_force, nout, 1), D(act_dot, na, 1),

    D(M, nM, 1), D(L, nM, 1),
    D(P, nlink, 21), D(dof_U, nv, 6), D(dof_D, nv, 1),
    D(Y, nlink, 21),
    D(link_work, nlink, 72),
};

/* Arrays of the cache: pointers in rb_cache, counts in rb_data. */
#define C(field, type, count, times)                                                               \
    { offsetof(rb_cache, field), sizeof(type), offsetof(rb_data, count), ONE, times }

static const entry cache_entries[] = {
    C(rest_x, double, nrest, 1), C(rest_touch, rb_touch, touch_max, 1),
    C(kept_pose, double, nlink, 12), C(kept_way, double, nlink, 4), C(kept_out, double, ngeom, 1),
    C(kept_link_out, double, nlink, 1), C(kept_thin, double, nlink, 1), C(kept_root, int, nlink, 1),
    C(kept_row, rb_kept_row, nmeet, 1), C(kept_group, rb_kept_group, nmeet, 1),
    C(kept, rb_kept_pair, nmeet, 1),
    C(placed_q, double, nq, 1), C(placed_pose, double, nlink, 24), C(placed_S, double, nv, 6),
};
// clang-format on

/* ---- both ------------------------------------------------------------------------------------
 */

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static size_t align_up(size_t bytes)
{
    return (bytes + RB_BLOCK_ALIGN - 1) / RB_BLOCK_ALIGN * RB_BLOCK_ALIGN;
}

static int read_count(const void *block, size_t offset)
{
    int count = 1;
    if (offset != ONE) memcpy(&count, (const char *)block + offset, sizeof count);
    return count;
}

/* Bytes of an array, or more than the budget. Three ints fit in 2^62 only one after the other, so
 * the products are compared as they grow. */
static size_t entry_bytes(const entry *e, const void *block)
{
    int a = read_count(block, e->count), b = read_count(block, e->count2);
    if (a < 0 || b < 0) return MAX_BYTES + 1;
    size_t each = e->size * (size_t)e->times;
    if (b > 0 && (size_t)a > MAX_BYTES / each / (size_t)b) return MAX_BYTES + 1;
    return align_up((size_t)a * (size_t)b * each);
}

/* Bytes up to the end of the arrays, which begin at `bytes`; 0: too many. */
static size_t layout(const entry *e, size_t n, const void *block, size_t bytes)
{
    for (size_t i = 0; i < n; i++) {
        size_t more = entry_bytes(&e[i], block);
        if (more > MAX_BYTES || bytes > MAX_BYTES - more) return 0;
        bytes += more;
    }
    return bytes;
}

/* `owner` has the pointers; returns the end of the arrays, which begin at `at`. */
static size_t bind(const entry *e, size_t n, void *block, void *owner, size_t at)
{
    for (size_t i = 0; i < n; i++) {
        void *array = (char *)block + at;
        memcpy((char *)owner + e[i].pointer, &array, sizeof array);
        at += entry_bytes(&e[i], block);
    }
    return at;
}

size_t rb_model_layout(const rb_model *m)
{
    return layout(model_entries, COUNT(model_entries), m, align_up(sizeof *m));
}

size_t rb_data_layout(const rb_data *d)
{
    size_t bytes = layout(data_entries, COUNT(data_entries), d, align_up(sizeof *d));
    if (bytes == 0) return 0;
    return layout(cache_entries, COUNT(cache_entries), d, bytes + align_up(sizeof(rb_cache)));
}

void rb_model_bind(rb_model *m)
{
    bind(model_entries, COUNT(model_entries), m, m, align_up(sizeof *m));
}

void rb_data_bind(rb_data *d)
{
    size_t at = bind(data_entries, COUNT(data_entries), d, d, align_up(sizeof *d));
    d->cache = (rb_cache *)((char *)d + at);
    bind(cache_entries, COUNT(cache_entries), d, d->cache, at + align_up(sizeof(rb_cache)));
}

void *rb_block_new(const rb_alloc *alloc, size_t bytes, void **memory)
{
    char *raw = alloc->alloc(alloc->ctx, bytes + RB_BLOCK_ALIGN);
    *memory = raw;
    if (!raw) return NULL;
    uintptr_t past = (uintptr_t)raw % RB_BLOCK_ALIGN;
    char *block = raw + (past ? RB_BLOCK_ALIGN - past : 0);
    memset(block, 0, bytes);
    return block;
}

void rb_data_sizes(const rb_model *m, rb_data *d)
{
    d->nbody = m->nbody;
    d->nlink = m->nlink;
    d->nv = m->nv;
    d->nq = m->nq;
    d->nu = m->nu;
    d->nctrl = m->nctrl;
    d->nout = m->nout;
    d->nctrlpast = m->nctrlpast;
    d->na = m->na;
    d->nmocap = m->nmocap;
    d->ngeom = m->ngeom;
    d->nsite = m->nsite;
    d->ntendon = m->ntendon;
    d->nM = m->nM;
    d->nq_all = m->nq_all;
    d->nv_all = m->nv_all;
    d->ngauge_dof = m->ngauge_dof;
    d->ngauge_entry = m->ngauge_entry;
    d->ntendonrow = m->ntendonrow;
    d->nsensordata = m->nsensordata;
    d->nsensorpast = m->nsensorpast;
    d->nsense = m->nsensor > 0 ? 6 * m->nlink + 6 * m->nbody + 2 * m->nv_all : 0;
    d->nmeet = m->nmeet > 0 ? m->nmeet : 0;
    d->nrest =
        m->nq + 4 * m->nv + m->na + m->nu + m->nctrl + 6 * m->nbody + RB_SLOPES * (m->nv + 1);
}
