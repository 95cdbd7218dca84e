/* rb_model: a compiled model, const and shareable between threads. rb_data: one simulation of it.
 *
 * Each is one block of memory. Copying it is one memcpy of `bytes` bytes followed by the _view
 * call, which rebuilds the pointers at the new place.
 *
 * Bodies are the user's frames. Links are what moves: a link is a body with joints (or a mocap
 * body) together with all bodies fixed to it; its frame is that of the body with the joints. Link 0
 * is everything fixed to the world. Parents come before children, both for bodies and links; all
 * elements keep the order of the spec, but joints and geoms are grouped by their bodies. All dofs
 * of a link are contiguous. */
#ifndef RATTLEBACK_MODEL_H
#define RATTLEBACK_MODEL_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RB_MODEL_MAGIC UINT64_C(0x000a006c646d6272) /* "rbmdl", version of the layout */
#define RB_DATA_MAGIC  UINT64_C(0x000a007461646272) /* "rbdat"                        */

/* A link of a planar mechanism in its reference configuration, axes of the plane. */
typedef struct rb_plane_link {
    double a[2]; /* from the anchor of the parent to its own [m]             */
    double c[2]; /* mass times centre of mass, from its anchor [kg m]        */
    double J;    /* moment of inertia about its hinge [kg m^2]               */
    double mass;
    double sign;  /* of its hinge: 1 or -1 times the axis of the plane        */
    double trace; /* of the inertia about its origin [kg m^2]                 */
} rb_plane_link;

/* A point of the path of a spatial tendon, in the frame of its link. */
typedef struct rb_path {
    int type;       /* rb_wrap_type                                             */
    int link;       /* that carries the site or the geom                        */
    int object;     /* site or geom                                             */
    int side_link;  /* that carries the site of the side, -1: none              */
    int cylinder;   /* geom: 1: cylinder, 0: sphere                             */
    double divisor; /* pulley                                                   */
    double radius;  /* geom [m]                                                 */
    double pos[3], rot[9], side[3];
} rb_path;

/* Two geoms that may touch, geom[0] < geom[1]. */
typedef struct rb_meet {
    int geom[2];
    int pair;   /* explicit pair, -1: none                                            */
    int family; /* 1: parent and child, which meet where option.filter_parent is 0    */
} rb_meet;

/* What a fluid meets of a geom: an ellipsoid, in the frame of the geom. */
typedef struct rb_fluid_shape {
    int on;                    /* 0: nothing                                                */
    double axes[3];            /* semi-axes [m]                                             */
    double pos[3], rot[9];     /* its frame in the body                                     */
    double coef[5];            /* by rb_fluid_coef                                          */
    double mass[3], moment[3]; /* volume and its moment that is carried along [m^3], [m^5] */
} rb_fluid_shape;

typedef struct rb_model {
    uint64_t magic;    /* RB_MODEL_MAGIC                           */
    size_t bytes;      /* of the whole block, this struct included */
    void *memory;      /* what the allocator gave; NULL: a view    */
    uint64_t revision; /* hash of the changes by rb_model_set_*; 0: none */

    /* ---- sizes ---- */
    int nbody;  /* bodies, world included                    */
    int nlink;  /* links, world included                     */
    int njnt;   /* joints                                    */
    int nq;     /* coordinates                               */
    int nv;     /* velocities, dofs                          */
    int nM;     /* entries of the sparse mass matrix         */
    int ntree;  /* kinematic trees: children of link 0 with dofs */
    int ngauge; /* measured joints: behind the others, with coordinates and rates that are found
                   from the chain they belong to, behind those of the state               */
    int njnt_all, nq_all, nv_all; /* with those of the gauges             */
    int ngauge_dof;               /* nv_all - nv                          */
    int ngauge_entry;             /* entries of all rows of gauges        */
    int ngeom, nsite, nmesh, nhfield, neq, ntendon, nu, na, nmocap, nexclude, npair, nkey, ncustom;
    int nctrl, nout; /* controls and forces of the nu actuators: PIDs, DC motors and orientation
                        servos may have several of them, all others one                     */
    int nctrlpast;   /* numbers in rb_data.ctrl_past                                         */
    int nservo;      /* activations of PIDs and motors                                       */
    int nsticky;     /* geoms and pairs with adhesion                                        */
    int nsensor, nsensordata;            /* sensors, their numbers                       */
    int nsensorpast;                     /* numbers of all samples that are kept         */
    int nwrap;                           /* joint terms of all tendons                */
    int npath;                           /* what all spatial tendons pass             */
    int ntendonrow;                      /* entries of the Jacobians of all tendons   */
    int nspatial;                        /* spatial tendons                           */
    int npoly;                           /* joints with polynomial springs or dampers */
    int ncoupled;                        /* dofs that M has below one that does not carry them */
    int nchain;                          /* joints of all RB_EQ_CHAIN                 */
    int nmeshvert, nmeshface;            /* of all meshes       */
    int nhullvert, nhullface, nhullloop; /* of all hulls        */
    int nelev;                           /* elevations of all height fields           */
    int ncustomdata;
    int nwarning;
    int nname;      /* bytes of all strings                      */
    int nmeet;      /* pairs of geoms that may touch; -1: too many to be listed       */
    int nmeet_room; /* room for them                                              */

    rb_option option;
    double mass;   /* of all bodies but the world [kg]          */
    double extent; /* size of the model: radius about its centre at the
                      reference configuration [m]                */

    /* ---- bodies ---- */
    int *body_parent;      /* parent body, 0 for the world itself               (nbody)       */
    int *body_link;        /* link it is part of                                (nbody)       */
    int *body_mocap;       /* index in rb_data.mocap, -1: none                  (nbody)       */
    double *body_pos;      /* frame in the parent body [m]                      (nbody x 3)   */
    double *body_quat;     /*                                                   (nbody x 4)   */
    double *body_link_pos; /* frame in its link [m]                             (nbody x 3)   */
    double *body_link_rot; /* rotation, row major                               (nbody x 9)   */
    double *body_mass;     /* [kg]                                              (nbody)       */
    double *body_com;      /* in the body frame [m]                             (nbody x 3)   */
    double *body_inertia;  /* xx yy zz xy xz yz about the com, body axes        (nbody x 6)   */
    double *body_iquat;    /* principal axes of its inertia, in the body        (nbody x 4)   */
    double *body_gravcomp; /*                                                   (nbody)       */
    int *body_jntadr, *body_jntnum;   /* its joints; adr -1 where none          (nbody)       */
    int *body_geomadr, *body_geomnum; /* its geoms                              (nbody)       */

    int fluid; /* 1: there is a fluid, and the following say what it meets                    */
    double *fluid_box; /* sides of the box of the same inertia [m]             (nbody x 3)   */
    double *fluid_rot; /* its axes in the body, row major                      (nbody x 9)   */

    rb_led_motion *mocap_motion; /* how mocap bodies move by themselves        (nmocap)      */

    /* ---- links ---- */
    int *link_parent; /* parent link, -1 for link 0                            (nlink)       */
    int *link_body;   /* body that gives the frame                             (nlink)       */
    int *link_tree;   /* tree, -1 for link 0 and mocap                         (nlink)       */
    int *link_jntadr, *link_jntnum; /*                                          (nlink)       */
    int *link_dofadr, *link_dofnum; /*                                          (nlink)       */
    double *link_pos;     /* frame in the parent link, reference configuration     (nlink x 3)   */
    double *link_quat;    /*                                                       (nlink x 4)   */
    double *link_mass;    /* all its bodies [kg]                                   (nlink)       */
    double *link_extent;  /* half the diagonal of a box around its geoms [m]       (nlink)       */
    double *link_com;     /* in the link frame [m]                                 (nlink x 3)   */
    double *link_inertia; /* about the com, link axes: xx yy zz xy xz yz       (nlink x 6)   */
    double *link_inertia_O; /* the same about the origin of the link             (nlink x 6)   */
    double *link_turn;      /* T0, T1, T2, row major: the rotation in the parent link is
                               T0 + cos T1 + sin T2 of the angle of its only hinge, for other
                               links T0 before their joints                       (nlink x 27)  */

    /* ---- mechanisms in a plane ---- */
    int plane; /* 1: each link has one hinge, all are parallel, no frames are needed          */
    double plane_axes[9];      /* e1, e2, e = e1 x e2, the axis of the hinges                    */
    rb_plane_link *plane_link; /*                                              (nlink)       */

    /* ---- joints ---- */
    int *jnt_type; /* rb_joint_type                                         (njnt_all)    */
    int *jnt_body, *jnt_link;   /* that it moves                                (njnt_all)    */
    int *jnt_qadr, *jnt_dofadr; /* first entry in q, in v                       (njnt_all)    */
    double *jnt_pos;  /* anchor in the link frame, reference configuration     (njnt_all x 3) */
    double *jnt_axis; /* unit axis in the link frame                           (njnt_all x 3) */
    double *jnt_ref,
        *jnt_springref;    /* q at the reference, where the spring rests [m], [rad] (njnt_all) */
    double *jnt_stiffness; /* [N/m], [N m/rad]                                  (njnt_all)    */
    double *jnt_stiffness_poly; /* as in rb_joint_def                           (njnt_all x 2) */
    int *jnt_limited;           /* 1: within jnt_range                          (njnt_all)    */
    double *jnt_range;          /* lower and upper limit of q [m], [rad]        (njnt_all x 2) */
    int *jnt_driven_gravcomp;   /* as in rb_joint_def                           (njnt_all)    */
    int *jnt_force_limited;     /* 1: actuators push within jnt_force_range     (njnt_all)    */
    double *jnt_force_range;    /* [N], [N m]                                   (njnt_all x 2) */

    /* ---- dofs ---- */
    int *dof_jnt, *dof_link; /* its joint, the link it moves                    (nv_all)      */
    int *dof_parent;         /* dof above it in M: the one that carries it, or, where tendons couple
                                branches, one of another branch; -1: none             (nv)          */
    int *dof_run;  /* ancestors next to it: i-1, i-2, .. one after the other (nv)          */
    int *dof_Madr; /* row of the sparse M: M(i,i), M(i,parent), ...         (nv)          */
    double *dof_armature, *dof_damping,
        *dof_frictionloss;    /* added inertia, damper, dry friction            (nv_all)      */
    double *dof_damping_poly; /*                                                (nv_all x 2)  */

    double *qpos0; /* reference configuration                               (nq_all)      */

    /* ---- gauges ---- */
    int *gauge_eq, *gauge_chain; /* the equality; place in chain_*              (ngauge)      */
    int *gauge_rowadr, *gauge_rownum; /* row of its rate, into gauge_entry      (ngauge_dof)  */
    int *gauge_entry; /* dofs that the rate depends on                         (ngauge_entry) */

    /* ---- geoms ---- */
    int *geom_type, *geom_body, *geom_link; /* rb_geom_type; where it is        (ngeom)       */
    int *geom_asset;   /* mesh or height field, -1: none                        (ngeom)       */
    double *geom_size; /* as in rb_geom_def [m]                                 (ngeom x 3)   */
    double *geom_pos;  /* in the body                                           (ngeom x 3)   */
    double *geom_quat; /* w x y z                                               (ngeom x 4)   */
    double *geom_mass; /* what it contributed where inertia comes from geoms    (ngeom)       */
    int *geom_contype, *geom_conaffinity, *geom_condim, *geom_priority,
        *geom_group;     /* as in MJCF                                          (ngeom)       */
    int *geom_invisible; /* rays do not see it                                (ngeom)       */
    double *geom_rgba;   /* how it is drawn: red, green, blue, opacity          (ngeom x 4)   */
    double
        *geom_surface; /* velocity of its surface, linear, angular, axes of the geom (ngeom x 6) */
    double *geom_adhesion; /* [N]                                               (ngeom)       */
    int *geom_triangles;   /* 1: a mesh that collides by its triangles, not by its hull (ngeom) */
    rb_fluid_shape *geom_fluid; /* forces of a fluid on it                      (ngeom)       */
    rb_material *geom_material; /* friction, restitution, ..                    (ngeom)       */

    /* ---- meshes, hulls, height fields ---- */
    int *mesh_vertadr, *mesh_vertnum, *mesh_faceadr,
        *mesh_facenum;                        /* in mesh_vert, mesh_face        (nmesh)       */
    int *mesh_hullvertadr, *mesh_hullvertnum; /* num 0: no hull               (nmesh)       */
    int *mesh_hullfaceadr, *mesh_hullfacenum; /* faces of the hull              (nmesh)       */
    double *mesh_vert;                        /* in the frame of the mesh [m]   (nmeshvert x 3) */
    int *mesh_face;    /* indices within the mesh                               (nmeshface x 3) */
    double *hull_vert; /* the same [m]                                          (nhullvert x 3) */
    int *hull_loopadr, *hull_loopnum; /* per face, into hull_loop               (nhullface)   */
    int *hull_loop; /* vertex indices within the hull                        (nhullloop)   */
    int *
        hull_twin; /* entry of hull_loop with the same edge, seen from the other face (nhullloop) */
    int *hull_turn;      /* the next entry whose edge leaves the same vertex    (nhullloop)   */
    int *hull_owner;     /* face of the entry, index within the hull            (nhullloop)   */
    int *hull_leave;     /* an entry of hull_loop whose edge leaves the vertex   (nhullvert)   */
    double *hull_plane;  /* outward unit normal n and offset, n.x = offset on it (nhullface x 4) */
    double *mesh_half;   /* half extents of the vertices about the frame [m]    (nmesh x 3)   */
    int *hull_star;      /* where its neighbours begin and end in hull_next     (nhullvert x 2) */
    int *hull_next;      /* neighbours of vertices, in the order of hull_turn   (nhullloop)   */
    int *hull_aim;       /* a vertex far along the directions of src/math/aim.h (nmesh x 384) */
    double *mesh_inner;  /* radius of a ball in the hull, the largest [m]      (nmesh)       */
    int *mesh_hullwhole; /* 1: the hull encloses the mesh: max_hull_vertices did not end it (nmesh)
                          */
    int *mesh_convex;    /* 1: hull and triangles enclose the same              (nmesh)       */
    int *mesh_twin;  /* 3 face + k of the neighbour with the edge k, k + 1; -1: none (nmeshface x 3)
                      */
    int *mesh_order; /* faces of a mesh in the order of its tree            (nmeshface)   */
    double *mesh_box; /* lo, hi of its nodes: src/model/surfaces.c           (nmeshface x 6) */
    int *hfield_nrow, *hfield_ncol, *hfield_adr; /* points; the first in hfield_elev (nhfield) */
    double *hfield_size; /* half extents x, y, height, base [m]                 (nhfield x 4) */
    double *hfield_elev; /* 0 to 1 of the height                                (nelev)       */

    /* ---- sites ---- */
    int *site_body; /*                                                       (nsite)       */
    double *site_pos, *site_quat; /* in the body                                (nsite x 3, 4) */
    int *site_type;    /* shape of its zone, rb_geom_type                       (nsite)       */
    double *site_size; /* of its zone [m]                                       (nsite x 3)   */

    /* ---- equalities ---- */
    int *eq_type, *eq_obj1, *eq_obj2,
        *eq_active;                 /* rb_equality_type, what it ties, 1: it acts (neq) */
    double *eq_pos1, *eq_quat1;     /* frame in body 1                          (neq x 3, 4)  */
    double *eq_pos2, *eq_quat2;     /* frame in body 2                          (neq x 3, 4)  */
    double *eq_poly;                /* coefficients of joints and tendons       (neq x 5)     */
    int *eq_chainadr, *eq_chainnum; /* joints of RB_EQ_CHAIN in chain_*         (neq)         */
    int *chain_type, *chain_jnt;    /* joint that has the coordinate, -1: none  (nchain)      */
    double *chain_pos, *chain_axis, *chain_ref; /*                       (nchain x 3, 3, 1)   */

    /* ---- tendons ---- */
    int *tendon_adr, *tendon_num; /* terms in wrap_*, of fixed ones             (ntendon)     */
    int *wrap_jnt;                /* joint of a term                            (nwrap)       */
    double *wrap_coef;            /* its factor                                 (nwrap)       */
    int *tendon_pathadr, *tendon_pathnum; /* path of a spatial one; num 0: fixed (ntendon)   */
    rb_path *path;                        /*                                     (npath)       */
    int *tendon_rowadr, *tendon_rownum;   /* its Jacobian: entries of tendon_dof  (ntendon)     */
    int *tendon_dof;        /* of spatial ones ascending, only those that change its length
                                                                                       (ntendonrow)  */
    double *tendon_coef;    /* entries of fixed ones; of others in rb_data.ten_J (ntendonrow)  */
    int *tendon_limited;    /* 1: within tendon_range                           (ntendon)     */
    double *tendon_range;   /* of its length [m]                                (ntendon x 2) */
    double *tendon_spring;  /* dead band of the spring                           (ntendon x 2) */
    double *tendon_length0; /* at qpos0                                         (ntendon)     */
    double *tendon_stiffness, *tendon_damping, *tendon_frictionloss,
        *tendon_armature;                                /* (ntendon) */
    double *tendon_stiffness_poly, *tendon_damping_poly; /* as in rb_tendon_def  (ntendon x 2) */
    int *tendon_force_limited;  /* 1: within tendon_force_range                 (ntendon)     */
    double *tendon_force_range; /* of its actuators [N]                         (ntendon x 2) */

    /* ---- actuators ---- */
    int *act_transmission, *act_target, *act_reference, *act_dynamics; /* rb_actuator_def (nu) */
    int *act_adr; /* first activation in rb_data.act, -1: none             (nu)          */
    int *act_num; /* of them                                               (nu)          */
    int *act_ctrladr, *act_ctrlnum; /* controls in rb_data.ctrl               (nu)          */
    int *act_plain;  /* 1: one control, affine laws, a hinge or slide, no state (nu)        */
    int *act_outadr; /* first force in rb_data.act_force                   (nu)          */
    int *act_inputs, *act_quaternion, *act_off; /* see rb_actuator_def        (nu)          */
    double *act_windup, *act_slew;              /* of a pid                     (nu)          */
    rb_dcmotor *act_motor;                      /* of a dcmotor                 (nu)          */
    double *act_delay;                          /* of its control [s]           (nu)          */
    int *act_nsample, *act_interpolate;         /*                            (nu)          */
    int *act_pastadr; /* samples in rb_data.ctrl_past, -1: none             (nu)          */
    double *act_time_constant;   /* of its activation [s]                       (nu)          */
    double *act_gear;            /* lever of the transmission                   (nu x 6)      */
    double *act_gain, *act_bias; /* gain . (1, l, l') u + bias . (1, l, l')     (nu x 3)      */
    int *act_gain_law, *act_bias_law, *act_early; /* rb_law; 1: see rb_actuator_def (nu)     */
    rb_muscle *act_gain_muscle, *act_bias_muscle; /* of muscles                 (nu)          */
    double *act_length_range, *act_muscle_time;   /* of muscles [m], [s]        (nu x 2)      */
    double *act_muscle_smooth, *act_crank_length; /* muscles, cranks [m]        (nu)          */
    int *act_ctrl_limited;                        /* 1: clamped to              (nctrl)       */
    double *act_ctrl_range;                       /* lower and upper control    (nctrl x 2)   */
    int *act_force_limited, *act_act_limited;     /* 1: clamped to              (nu)          */
    double *act_force_range, *act_act_range;      /* force, activation          (nu x 2)      */

    /* ---- sensors: as in rb_sensor_def ---- */
    int *sensor_type, *sensor_object, *sensor_index; /* what it measures, of what (nsensor)   */
    int *sensor_reference, *sensor_reference_index, *sensor_site; /*            (nsensor)     */
    int *sensor_data, *sensor_num, *sensor_reduce; /*                           (nsensor)     */
    int *sensor_adr, *sensor_dim; /* its numbers in rb_data.sensor              (nsensor)     */
    double *sensor_cutoff, *sensor_noise, *sensor_delay, *sensor_interval,
        *sensor_phase;                        /*                                (nsensor)     */
    double *sensor_picture;                   /*                            (nsensor x 4) */
    int *sensor_nsample, *sensor_interpolate; /*                                (nsensor)     */
    int *sensor_pastadr; /* its samples in rb_data.sensor_past, -1: none        (nsensor)     */

    /* ---- filtering, keyframes, custom ---- */
    int *exclude_body1, *exclude_body2;         /* never touch                  (nexclude)    */
    int *pair_geom1, *pair_geom2, *pair_condim; /* explicit pairs               (npair)       */
    int *pair_only_material;    /* 1: no part of the filter, condim from the geoms (npair)       */
    int *pair_never;            /* 1: the two never touch                       (npair)       */
    rb_material *pair_material; /* outweighs those of its geoms                 (npair)       */
    double *pair_adhesion;      /* NAN: from the geoms [N]              (npair)       */
    double *key_time;           /* [s]                                          (nkey)        */
    double *key_qpos, *key_qvel, *key_act, *key_ctrl,
        *key_mocap;               /* (nkey x nq, nv, na, nctrl, 7 nmocap) */
    int *custom_adr, *custom_num; /* numbers in custom_data                     (ncustom)     */
    int *custom_text;    /* offset in names, -1: numbers                          (ncustom)     */
    double *custom_data; /* numbers of custom_adr                               (ncustomdata) */

    /* ---- names and warnings ---- */
    int *name[RB_NKIND];       /* offset of each element's name in names    (count of kind) */
    int *name_order[RB_NKIND]; /* elements sorted by name, then index        (count of kind) */
    int *warning_file, *warning_line, *warning_element, *warning_text,
        *warning_physics; /* as in rb_warning                                     (nwarning)    */
    char *names;          /* NUL-terminated strings, the first is ""               (nname)       */

    rb_meet *meet; /* what the filter lets through, sorted by geoms             (nmeet_room)  */
} rb_model;

/* Compiles; the spec is not changed, except that missing hulls of meshes are made
 * (rb_spec_hulls): one thread at a time. The model has copies of all it needs, so that the spec may
 * be freed at once. NULL: see err (file, line, element, reason). */
rb_model *rb_spec_compile(const rb_spec *spec, const rb_alloc *alloc, rb_error *err);
void rb_model_free(rb_model *m, const rb_alloc *alloc); /* that of the making; m NULL is fine   */

/* Rebuilds the pointers of a model that was copied to `block`, which is aligned to 64 bytes.
 * Returns it, or NULL where the bytes are not a model of this version. */
rb_model *rb_model_view(void *block, size_t bytes);

/* ---- changes between steps --------------------------------------------------------------------
 *
 * A model is const and shared. To change friction, mass, gravity or gains in one simulation, copy
 * the model, change the copy, and continue with it and the same rb_data; a batch has a copy for
 * each simulation that differs (rb_step_each). Changes act from the next step on; what rb_data has
 * cached of the model is computed again where it depends on them. RB_BAD_INPUT: an index or a
 * number is out of range, and nothing is changed. */

/* A model of its own, to be freed by rb_model_free. NULL: out of memory. */
rb_model *rb_model_copy(const rb_model *m, const rb_alloc *alloc);

/* Sliding coefficient of a geom, and its static one and the one across the grain. As always the
 * larger of two geoms counts, and a <pair> overrides both. */
rb_status rb_model_set_friction(rb_model *m, int geom, double mu, rb_error *err);
rb_status rb_model_set_restitution(rb_model *m, int geom, double e, rb_error *err);

/* The same of pair 0 .. npair - 1 (pair_geom1, pair_geom2); NAN: as it is. */
rb_status rb_model_set_pair(rb_model *m, int pair, double mu, double e, rb_error *err);

/* Mass of a body [kg], > 0 and finite; its inertia changes in proportion, its centre of mass does
 * not. The world and bodies without mass are refused. */
rb_status rb_model_set_mass(rb_model *m, int body, double mass, rb_error *err);
rb_status rb_model_set_gravity(rb_model *m, const double gravity[3], rb_error *err); /* [m/s^2] */

/* Gains of an actuator as in rb_model.act_gain, act_bias: a position servo of stiffness kp and
 * damping kv has gain (kp, 0, 0) and bias (0, -kp, -kv); a pid has its ki in gain[0]. Muscles and
 * dcmotors have none: RB_BAD_INPUT. */
rb_status rb_model_set_gain(rb_model *m, int actuator, const double gain[3], const double bias[3],
                            rb_error *err);

int rb_model_count(const rb_model *m, rb_kind kind);
int rb_model_find(const rb_model *m, rb_kind kind, const char *name); /* -1: none              */

/* The name, never NULL. A joint without one is "BODY.0", "BODY.1", ...; a body without one is
 * "body3"; other elements without one have "". The text is written to buf where it is not stored.
 */
const char *rb_model_name(const rb_model *m, rb_kind kind, int i, char *buf, size_t size);

/* The name of a control: that of its actuator, with ":pos", ":vel", ":ff", ":voltage" or ":x", ..
 * where this has several; actuators without a name are "actuator0", ... Written to buf. */
const char *rb_control_name(const rb_model *m, int control, char *buf, size_t size);

/* For messages: the name of a geom, or "geom 3 of BODY"; written to buf, whose start is returned.
 */
const char *rb_geom_title(const rb_model *m, int geom, char *buf, size_t size);

/* The same model in maximal coordinates: every link free, every joint as bilateral rows
 * (RB_EQ_CONNECT for balls, RB_EQ_HINGE, RB_EQ_SLIDE; RB_EQ_CHAIN for several joints on a body and
 * for joints with armature). A joint with armature becomes a rotor, a body without mass on a joint
 * of the same type, after all other bodies: springs, limits, actuators, tendons and joint
 * couplings act on it. On a joint without armature they act between its two bodies: its
 * coordinate is measured (rb_joint_def.measured), up to full turns. Bodies keep their indices,
 * everything keeps its name; keyframes are left out. See docs/design/model.md. */
rb_spec *rb_spec_maximal(const rb_spec *spec, const rb_alloc *alloc, rb_error *err);

/* ---- one simulation ---------------------------------------------------------------------------
 */

/* Identity of a constraint, the same from step to step. Ordered by kind, a, b, c. */
typedef struct rb_touch_id {
    int kind;   /* 0 contact, 1 limit, 2 dry friction, 3 equality                               */
    int a, b;   /* contact: geoms; limit: joint (njnt_all + tendon) and side (0 lower, 1 upper);
                   dry friction: dof (nv_all + tendon); equality: its index                      */
    uint32_t c; /* contact: feature                                                             */
} rb_touch_id;

/* A constraint that acted or could have acted in the last step: what the next step starts from, and
 * what users read. */
typedef struct rb_touch {
    rb_touch_id id;
    int mode;        /* rb_mode                                                                 */
    int nrow;        /* numbers of p and u that count                                           */
    int held;        /* `hybrid`: 1: the pair is in contact by constraints                      */
    double gap;      /* at the start of the step [m] or [rad]                                   */
    double floor;    /* overlap of a mechanism with itself: where its gap may end [m], else 0   */
    double pos[3];   /* contacts: where, world [m]                                              */
    double frame[9]; /* contacts: axes n, t1, t2 as rows, world; else for the step alone        */
    double p[6];     /* impulse of each row [N s]; contacts act with +p on geom b               */
    double u[6];     /* velocity of each row after the step [m/s]                               */
} rb_touch;

enum { RB_SLOPES = 5 }; /* parts of steps whose slopes are kept */

typedef struct rb_cache rb_cache; /* what calls remember; src/model/cache.h */

/* Spatial vectors are angular first, in world axes at the origin O of their link. A symmetric 6x6
 * matrix [[A, B], [B', C]] is stored as A xx yy zz xy xz yz, B row major, C like A: 21 numbers. */
typedef struct rb_data {
    uint64_t magic; /* RB_DATA_MAGIC                            */
    size_t bytes;   /* of the whole block, this struct included */
    void *memory;   /* what the allocator gave; NULL: a view    */
    rb_alloc alloc; /* of memory and arena                      */
    int nbody, nlink, nv, nq, nu, na, nmocap, ngeom, nsite, ntendon, nM; /* as in the model       */
    int nctrl, nout, nctrlpast;                                          /* as in the model       */
    int nq_all, nv_all, ngauge_dof, ngauge_entry, ntendonrow;            /* as in the model       */
    int nsensordata, nsensorpast, nsense; /* as in the model; nsense: 0 without sensors           */
    rb_arena *arena; /* scratch of the calls that need some; not part of the block's contents   */

    /* state: with the inputs, enough to resume bit for bit */
    double time; /* [s]                                                                      */
    rb_rng rng;
    double *q;         /* configuration; after it, not state, that of gauges        (nq_all)      */
    double *v;         /* velocity; after it that of gauges                         (nv_all)      */
    double *act;       /* activations                                               (na)          */
    double *ctrl_past; /* of delayed actuators: times of the controls before, then these, the oldest
                          first                                                     (nctrlpast)   */
    double *mocap;     /* position, quaternion of mocap bodies                      (nmocap x 7)  */
    double *mocap_was; /* their velocity in the last step, NAN: none yet          (nmocap x 6)  */
    double *gauge_at;  /* angles of measured hinges at the end of the last step, full turns
                          included, NAN: none yet; one entry for each dof           (ngauge_dof)  */
    double *push; /* `impulse`: forces of contacts that last on the dofs of mechanisms, until the
                     next tick; the second half: those of contacts with free bodies  (nv x 2) */
    double push_time; /* time for which push is valid; at other times it is not used [s]         */
    double *slope;    /* `fixed`: rate of v by smooth motion in the last parts of steps, the last
                         one first, from which the next begins its iteration (RB_SLOPES x nv) */
    double slope_h[RB_SLOPES]; /* lengths of these parts, 0: none yet [s]                       */
    double slope_time; /* time for which slope is valid; at other times it is not used [s]      */
    double *servo;     /* how actuators ended the last part, valid as slope is: 0 not known, 1 at a
                          bound     of its force, 2 between them, 3 at a bound and damped     (nu)     */
    double *kick; /* node rule: what v lacks to the velocity before the impulses of this instant;
                     the second half: the v that it belongs to                          (nv x 2) */
    double correct_end; /* end of the correction of errors of the start, 0: none yet [s]          */
    double correct_from; /* the largest of them at its beginning, < 0: cannot be corrected */
    int ntouch;      /* constraints of the last step                                            */
    double touch_h;  /* length of the part of a step that they belong to [s]; 0: none yet       */
    int touch_max;   /* room for them: rb_data_reserve                                          */
    rb_touch *touch; /*                                                         (touch_max)   */

    /* inputs: act in every step until others are written */
    double *ctrl;    /* controls                                                  (nctrl)       */
    double *tau;     /* applied generalised force                                 (nv)          */
    double *wrench;  /* applied to bodies: force, torque, world axes, at the com (nbody x 6)   */
    double *mocap_v; /* velocity of mocap bodies: linear of the origin, angular, world axes. A step
                        adds their own motion and moves them by it               (nmocap x 6)  */
    double *mocap_a; /* its rate, which acts on their joints; set by a step      (nmocap x 6)  */

    /* rb_sensors */
    double *sensor;      /* values, rb_model.sensor_adr                           (nsensordata) */
    double *sensor_past; /* state: samples of delayed sensors; of each the time of the last sample,
                            then nsample + 1 times, then their values, the oldest first
                                                                                  (nsensorpast) */
    double *sense_work;  /* scratch of rb_sensors                                 (nsense)      */

    /* rb_kinematics: depends on q, mocap */
    double *link_p; /* O, link origin, world [m]                                (nlink x 3)   */
    double *link_R; /* link-to-world rotation, row major                        (nlink x 9)   */
    double *link_l; /* O - O of the parent, world axes                          (nlink x 3)   */
    double *link_c; /* com - O, world axes                                      (nlink x 3)   */
    double *link_I; /* rotational inertia about O, world axes, 6 numbers        (nlink x 6)   */
    double *dof_S;  /* motion vector of the dof at O of its link                (nv x 6)      */

    /* rb_velocity: depends on q, v */
    double *link_w; /* angular velocity, world axes [rad/s]                     (nlink x 3)   */
    double *link_v; /* velocity of O, world axes [m/s]                          (nlink x 3)   */
    double *link_a; /* acceleration (dw/dt; dv_O/dt) of the link where that of its parent and
                       all of qdd are zero                                      (nlink x 6)   */

    double *gauge_J;    /* rate of each dof of a gauge = sum J v, see rb_model.gauge_entry
                           (ngauge_entry) */
    double *gauge_bias; /* its derivative at qdd = 0                            (ngauge_dof)  */

    /* rb_frames: depends on q */
    double *body_p, *body_R; /* body origin and rotation, world                 (nbody x 3, 9) */
    double *geom_p, *geom_R; /*                                                 (ngeom x 3, 9) */
    double *site_p, *site_R; /*                                                 (nsite x 3, 9) */

    int placed; /* 1: poses of links may be those of q; code that writes them sets 0              */
    int framed; /* 1: so may frames, but of geoms that are only to be seen. After a step call
                   rb_kinematics and rb_frames before poses are read                            */

    /* rb_tendons, with rb_kinematics: spatial tendons */
    double *ten_length; /* [m]                                                  (ntendon)     */
    double *ten_J;      /* gradient, dofs as in rb_model.tendon_dof             (ntendonrow)  */

    /* rb_bias, rb_passive, rb_actuation */
    double *c;           /* bias: Coriolis, centrifugal, minus gravity          (nv)          */
    double *passive;     /* springs, dampers, gravity compensation; after them those of gauges,
                            which are part of the former already                  (nv_all)      */
    double *actuation;   /* forces of the actuators on the dofs; as passive     (nv_all)      */
    double *act_force;   /* force of each actuator; of orientation servos three (nout)        */
    double *act_dot;     /* rate of the activations                             (na)          */
    const double *slide; /* friction of sliding joints, counted as passive while a step computes
                            their motion; NULL: none                            (nv_all)      */

    /* rb_mass, rb_mass_factor: depends on q */
    double *M; /* mass matrix, rows as rb_model.dof_Madr says         (nM)          */
    double *L; /* L' D L factor, same places; D on the diagonal       (nM)          */

    /* rb_aba_factor: depends on q */
    double *P;     /* articulated inertia, all dofs but the first free    (nlink x 21)  */
    double *dof_U; /* P S at the stage of the dof                         (nv x 6)      */
    double *dof_D; /* S' P S + added inertia                              (nv)          */

    /* rb_upsilon: depends on q */
    double *Y; /* Upsilon, acceleration of O per wrench at O          (nlink x 21)  */

    double *link_work; /* scratch of one dynamics call, nothing in it survives    (nlink x 72)  */

    /* not part of the state: results have the same bits without it */
    rb_cache *cache;
    int nrest, nmeet; /* sizes of its arrays                                                     */
} rb_data;

/* State at the reference configuration at rest, with room for a scene at rest: 16 + 4 ngeom +
 * 2 njnt_all + 3 ntendon + nv + neq constraints, at most 65536 (touch_max). NULL: out of memory. */
rb_data *rb_data_new(const rb_model *m, const rb_alloc *alloc);
void rb_data_free(rb_data *d); /* NULL is fine */

/* Back to the reference configuration, or to a keyframe. Inputs become zero (controls that are
 * quaternions the identity), or with a keyframe ctrl its own. RB_BAD_INPUT: there is no keyframe
 * `key`, and d is unchanged. */
void rb_data_reset(const rb_model *m, rb_data *d);
rb_status rb_data_reset_key(const rb_model *m, rb_data *d, int key);

/* Copies state and inputs; `to` and `from` belong to the same model. RB_FULL, with `to` unchanged,
 * where it has no room for the constraints of `from`. */
rb_status rb_data_copy(const rb_model *m, rb_data *to, const rb_data *from);

/* Room for n constraints in a step: contacts, limits, dry friction and equalities together. *d may
 * move. Never shrinks. RB_NOMEM leaves *d as it is; RB_BAD_INPUT for a view, whose block is the
 * caller's, and for n < 0. */
rb_status rb_data_reserve(const rb_model *m, rb_data **d, int n);

/* Rebuilds the pointers of data that was copied to `block`, aligned to 64 bytes; the arena is the
 * one given, the allocator and the cache of the sender are dropped: the block may come from another
 * process of the same build. The block stays the caller's: rb_data_free does nothing with it.
 * Pointers are written into it, so that each process needs a copy of its own. bytes: of the block,
 * at least those of d->bytes. NULL where the bytes do not fit the model. */
rb_data *rb_data_view(const rb_model *m, void *block, size_t bytes, rb_arena *arena);

/* Sets mocap_v so that a step of length h moves the mocap body to `pose` (position, quaternion):
 * by the shortest rotation. `mocap` is rb_model.body_mocap[body]. mocap_v is an input: in the steps
 * after that the body moves on, until this is called again or mocap_v is zero. Its own motion
 * (mocap_motion) comes on top. Writing a pose to rb_data.mocap instead is a jump without velocity,
 * which contacts do not feel. */
void rb_data_lead(rb_data *d, int mocap, const double pose[7], double h);

/* Over the whole state of rb_data, samples of delayed sensors and constraints of the last step
 * included; not over inputs, which decide how it goes on as well. */
uint64_t rb_data_hash(const rb_data *d);

#ifdef __cplusplus
}
#endif

#endif
