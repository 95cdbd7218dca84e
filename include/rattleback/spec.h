/* rb_spec: an editable model. Built by hand with the calls below or by a reader of
 * rattleback/io.h, then compiled to the const rb_model of rattleback/model.h.
 *
 * Every element is described by a plain struct. Start from its _default function, fill what
 * differs, add it: the spec copies everything, names and arrays included, and returns the index of
 * the element, or -1 and a sentence in `err`: then nothing was added, and compiling does not say
 * so. Body 0 is the world; a parent is added before its children. SI units, angles in radians,
 * quaternions w x y z, frames relative to the owning body. rb_spec_compile checks the numbers: what
 * it refuses is named with the file and line in `where`.
 */
#ifndef RATTLEBACK_SPEC_H
#define RATTLEBACK_SPEC_H

#include "rattleback/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where an element was written; file may be NULL, line 0. */
typedef struct rb_where {
    const char *file;
    int line;
} rb_where;

typedef struct rb_pose {
    double pos[3];  /* [m]                                */
    double quat[4]; /* w x y z; normalised by the compiler */
} rb_pose;

/* What a name belongs to. */
typedef enum rb_kind {
    RB_KIND_BODY = 0,
    RB_KIND_JOINT,
    RB_KIND_GEOM,
    RB_KIND_SITE,
    RB_KIND_MESH,
    RB_KIND_HFIELD,
    RB_KIND_EQUALITY,
    RB_KIND_TENDON,
    RB_KIND_ACTUATOR,
    RB_KIND_EXCLUDE,
    RB_KIND_PAIR,
    RB_KIND_KEY,
    RB_KIND_CUSTOM,
    RB_KIND_SENSOR,
    RB_NKIND
} rb_kind;

/* "body", "joint", ... */
const char *rb_kind_text(rb_kind kind);

/* ---- bodies and joints ------------------------------------------------------------------------
 */

typedef enum rb_inertia_source {
    RB_INERTIA_AUTO = 0,  /* the geoms, where no mass is given                                  */
    RB_INERTIA_GIVEN,     /* mass, com, inertia of this struct; zero mass is allowed            */
    RB_INERTIA_FROM_GEOMS /* the geoms, whatever is given                                       */
} rb_inertia_source;

/* Prescribed motion of a mocap body: a constant velocity plus sines. The first three numbers are
 * linear along the axes of the world, the last three angular about them. Sines about more than one
 * axis should be small, since rotations do not commute. */
typedef struct rb_led_motion {
    double velocity[6];  /* [m/s], [rad/s]                                                     */
    double amplitude[6]; /* of amplitude sin(2 pi frequency t + phase) [m], [rad]              */
    double frequency[6]; /* [Hz]                                                               */
    double phase[6];     /* [rad]                                                              */
} rb_led_motion;

typedef struct rb_body_def {
    rb_where where;
    const char *name; /* NULL or "": none                                                      */
    int parent;       /* 0: the world                                                          */
    rb_pose pose;     /* in the parent                                                         */
    rb_inertia_source inertia_source;
    double mass;       /* [kg]                                                                 */
    double com[3];     /* centre of mass [m]                                                   */
    double inertia[6]; /* xx yy zz xy xz yz about the com, axes of the body [kg m^2]           */
    double axes[4];    /* principal axes, quaternion in the body; 0: as the inertia has them;
                          orientation of sensors on RB_OBJECT_BODY                            */
    int mocap;         /* moved by the caller through rb_data.mocap; child of the world, no joint */
    rb_led_motion motion; /* mocap: added to the motion by the caller; all 0: none            */
    double gravcomp;      /* share of its weight that is cancelled [1]                            */
} rb_body_def;

typedef enum rb_joint_type {
    RB_JOINT_FREE = 0, /* 7 coordinates, 6 velocities: linear in the world, angular in the body */
    RB_JOINT_BALL, /* quaternion, 3 angular velocities in the body                               */
    RB_JOINT_SLIDE,
    RB_JOINT_HINGE
} rb_joint_type;

/* A body without joints is fixed to its parent. Several joints of one body act in the order they
 * are added, the first next to the parent. Ball and free joints take only armature, damping,
 * frictionloss and, the ball, stiffness and limits (range[1] bounds the angle of rotation). */
typedef struct rb_joint_def {
    rb_where where;
    const char *name;
    int body;
    rb_joint_type type;
    double pos[3];  /* anchor, in the body at the reference configuration [m]                  */
    double axis[3]; /* need not have unit length                                               */
    int limited;
    double range[2];     /* [rad] or [m]                                                      */
    double ref;          /* coordinate at the reference configuration                         */
    double springref;    /* coordinate at which the spring is at rest                         */
    double stiffness;    /* [N m/rad] or [N/m]                                                */
    double damping;      /* [N m s/rad] or [N s/m]                                            */
    double armature;     /* added inertia of the dof [kg m^2] or [kg]                         */
    double frictionloss; /* dry friction [N m] or [N]                                         */
    double stiffness_poly[2]; /* force = -x (stiffness + s0 x + s1 x^2), x from springref; ball and
                                 free joints: r for x in the bracket, the distance or angle   */
    double damping_poly[2];   /* force = -v (damping + d0 |v| + d1 v^2), each dof              */
    double max_velocity; /* information only (URDF); 0: none                                  */
    int force_limited;   /* bound of the sum of actuator forces                               */
    double force_range[2];
    int driven_gravcomp; /* gravity compensation that reaches this joint is 0: a passive force; 1:
                            one of the actuators, bounded with them, and none where the model has no
                            actuator; 2: switched off, as the actuators are                    */
    int measured;        /* 1: has no degree of freedom: its coordinate is that of the joint of an
                            RB_EQ_CHAIN that names it, found from the two bodies of the chain         */
} rb_joint_def;

/* ---- geoms, meshes, sites ---------------------------------------------------------------------
 */

typedef enum rb_geom_type {
    RB_GEOM_PLANE = 0, /* z = 0, normal +z; size: half extents for drawing, 0 = infinite */
    RB_GEOM_HFIELD,  /* height field                                                              */
    RB_GEOM_SPHERE,  /* size[0] radius                                                            */
    RB_GEOM_CAPSULE, /* size[0] radius, size[1] half length of the segment along z                */
    RB_GEOM_ELLIPSOID, /* size: semi-axes */
    RB_GEOM_CYLINDER,  /* size[0] radius, size[1] half length along z  */
    RB_GEOM_BOX, /* size: half extents                                                        */
    RB_GEOM_MESH /* convex polyhedron (the hull of the mesh), or its triangles: see `surface` */
} rb_geom_type;

/* How contact of a pair is treated by the stepper `hybrid`. */
typedef enum rb_paradigm {
    RB_PARADIGM_SHIFT = 0, /* by impulses where it is short, by constraints where it lasts     */
    RB_PARADIGM_IMPULSE,   /* always by impulses                                               */
    RB_PARADIGM_CONSTRAINT /* always by constraints: an approach ends without a bounce         */
} rb_paradigm;

/* NAN: not given; the rule for pairs or the plain coefficient decides. */
typedef struct rb_material {
    double friction;          /* sliding, kinetic [1]                                          */
    double friction_static;   /* NAN: as friction                                              */
    double friction_torsion;  /* [m]                                                           */
    double friction_roll;     /* [m]                                                           */
    double friction_across;   /* sliding coefficient across `grain`; NAN: isotropic            */
    double grain[3];          /* direction in the geom frame along which `friction` holds      */
    double friction_viscous;  /* the sliding coefficient grows by this times the speed [s/m];
                                 NAN: 0                                                        */
    double stribeck_speed;    /* v_s: the static coefficient falls to the sliding one as
                                 exp(-(v/v_s)^2) [m/s]; NAN: at once                           */
    double restitution;       /* [1], 0 .. 1                                                   */
    double relax_stiffness;   /* contact relaxation [N/m]; NAN: hard. For `box`, `phantom` and
                                 `hybrid-friction` with a scheme other than `node`; elsewhere it is
                                 ignored, without a message                                    */
    double relax_damping;     /* [N s/m]; NAN: hard                                            */
    double bristle_stiffness; /* of sticking friction, phantom and hybrid [N/m]; NAN: hard    */
    double bristle_damping;   /* [N s/m]; NAN: hard                                           */
    double paradigm;          /* rb_paradigm, as a number; NAN: RB_PARADIGM_SHIFT              */
    int polygon; /* custom entry with the vertices x1 y1 x2 y2 .. of the set of friction forces per
                    normal force that the surface can exert [1], in the axes (grain, outward normal
                    x grain) of its tangent plane; takes the place of friction, friction_static and
                    friction_across in polyhedral formulations, others refuse it; -1: none     */
} rb_material;

/* Numbers of a friction polygon at most. */
enum { RB_POLYGON_NUMBERS = 256 };

/* Coefficients of drag and lift of an ellipsoid in a fluid. */
typedef enum rb_fluid_coef {
    RB_FLUID_BLUNT = 0,
    RB_FLUID_SLENDER,
    RB_FLUID_ANGULAR,
    RB_FLUID_KUTTA,
    RB_FLUID_MAGNUS
} rb_fluid_coef;

typedef struct rb_geom_def {
    rb_where where;
    const char *name;
    int body;
    rb_geom_type type;
    double size[3];
    rb_pose pose;
    int asset;      /* index of the mesh or height field, else -1                              */
    double mass;    /* [kg]; NAN: density times volume                                         */
    double density; /* [kg/m^3]                                                                */
    int shell;      /* mass on the surface instead of the volume                               */
    int contype, conaffinity, condim, priority, group;
    int invisible;  /* rays and rangefinders do not see it                                      */
    double rgba[4]; /* how it is drawn: red, green, blue, opacity                              */
    double surface_velocity[6]; /* a belt: linear and angular velocity of its surface, about the
                                   origin and in the axes of the geom [m/s], [rad/s]           */
    double adhesion; /* contacts with it pull with this force before they break [N]            */
    int surface;     /* mesh: 1: collides by its triangles, on a body that does not move; 0: by its
                        hull, or by its triangles where it has no volume */
    rb_material material;
    int fluid_ellipsoid;  /* 1: fluid forces act on the ellipsoid of its size, 0: on the box of its
                             body */
    double fluid_coef[5]; /* by rb_fluid_coef                                                  */
} rb_geom_def;

/* How the inertia of a mesh is found. */
typedef enum rb_mesh_inertia {
    RB_MESH_LEGACY =
        0,          /* volume, faces seen from their centroid, overlaps counted as MuJoCo does */
    RB_MESH_EXACT,  /* signed volume of a closed mesh                                      */
    RB_MESH_CONVEX, /* volume of the hull                                                  */
    RB_MESH_SHELL   /* surface                                                             */
} rb_mesh_inertia;

/* A convex polyhedron; faces are planar polygons, counter-clockwise seen from outside. Written by
 * rb_spec_hulls of rattleback/io.h, or given by hand. */
typedef struct rb_hull_def {
    int nvert, nface, nloop;
    const double *vert; /* (nvert x 3)                                                         */
    const int *start;   /* first entry of each face in loop, one more at the end (nface + 1)   */
    const int *loop;    /* vertex indices                                          (nloop)     */
} rb_hull_def;

typedef struct rb_mesh_def {
    rb_where where;
    const char *name;
    int nvert, nface;
    const double *vert; /* scaled, in the frame of the geom that uses it [m]   (nvert x 3)     */
    const int *face;    /* triangles, counter-clockwise from outside       (nface x 3)         */
    rb_mesh_inertia inertia;
    int max_hull_vertices; /* 4 or more: the hull has no more and lies inside the true one; 0: all
                            */
    rb_hull_def hull; /* nvert = 0: not known                                                  */
} rb_mesh_def;

typedef struct rb_hfield_def {
    rb_where where;
    const char *name;
    int nrow, ncol;
    double size[4];     /* half extent x, half extent y, height at 1, thickness below 0 [m]    */
    const double *elev; /* 0 .. 1, row major, first row at y = -size[1]   (nrow x ncol)        */
} rb_hfield_def;

typedef struct rb_site_def {
    rb_where where;
    const char *name;
    int body;
    rb_pose pose;
    rb_geom_type type; /* of the zone of touch, contact and insidesite sensors: sphere, capsule,
                          ellipsoid, cylinder or box                                           */
    double size[3];    /* of the zone, as of a geom [m]                                        */
} rb_site_def;

/* ---- couplings, tendons, actuators ------------------------------------------------------------
 */

typedef enum rb_equality_type {
    RB_EQ_CONNECT = 0, /* two points coincide: 3 rows                                          */
    RB_EQ_WELD,        /* two frames coincide: 6 rows                                          */
    RB_EQ_JOINT,       /* q1 - ref1 = poly(q2 - ref2), second may be absent: 1 row             */
    RB_EQ_TENDON,      /* the same for tendon lengths: 1 row                                   */
    RB_EQ_HINGE,       /* frames share the origin and the z axis: 5 rows                       */
    RB_EQ_SLIDE,       /* frames differ by a translation along z only: 5 rows                  */
    RB_EQ_CHAIN        /* frames differ by a chain of joints: 6 rows less its free dofs        */
} rb_equality_type;

#define RB_CHAIN_JOINTS 6 /* joints of one chain */

/* A joint of RB_EQ_CHAIN. The chain connects frame 2 to frame 1, as the joints of a body connect
 * its parent to it. Its coordinate is that of a joint of the same type anywhere in the model (a
 * rotor, which carries the armature) or, with joint = -1, free. At most three hinges or one ball
 * and three slides of a chain are free. */
typedef struct rb_chain_joint {
    rb_joint_type type; /* not free                                                            */
    int joint;          /* or -1                                                               */
    double pos[3], axis[3], ref;
} rb_chain_joint;

typedef struct rb_equality_def {
    rb_where where;
    const char *name;
    rb_equality_type type;
    int obj1, obj2; /* bodies, joints or tendons; obj2 = -1: none, for bodies the world is 0   */
    rb_pose pose1;  /* constraint frame in body 1                                              */
    rb_pose pose2;  /* and in body 2                                                           */
    int derive2;    /* 1: the compiler sets pose2 so that the constraint holds at the reference
                       configuration                                                           */
    double poly[5]; /* RB_EQ_JOINT, RB_EQ_TENDON                                               */
    int nchain;     /* RB_EQ_CHAIN                                                             */
    const rb_chain_joint *chain; /* (nchain)                                                   */
    int active; /* 0: present in counts, without effect                                    */
} rb_equality_def;

typedef enum rb_wrap_type { RB_WRAP_SITE = 0, RB_WRAP_GEOM, RB_WRAP_PULLEY } rb_wrap_type;

/* What a spatial tendon passes: sites; between two of them a sphere or a cylinder, which it wraps
 * around; pulleys, after which all lengths are divided and a new path begins. */
typedef struct rb_wrap_def {
    rb_wrap_type type;
    int object;     /* site or geom                                                            */
    int side;       /* geom: site on the side where it passes, within the geom: it passes through
                       the inside; -1: the shorter path                                        */
    double divisor; /* pulley                                                                  */
} rb_wrap_def;

/* A fixed tendon: length = sum coef_i q_i over scalar joints; or, where npath > 0, a spatial one: a
 * string along its path, whose length is measured. */
typedef struct rb_tendon_def {
    rb_where where;
    const char *name;
    int njoint; /* 0 and npath = 0: no length, no force                                        */
    const int *joint;   /* (njoint) */
    const double *coef; /* (njoint) */
    int npath;
    const rb_wrap_def *path; /* (npath) */
    int limited;
    double range[2];
    double springlength[2]; /* dead band of the spring; both NAN: the length where the springs of
                               all joints are at rest for a spatial one, else at the reference */
    double stiffness, damping, frictionloss, armature;
    double stiffness_poly[2]; /* force = -x (stiffness + s0 x + s1 x^2), x the stretch         */
    double damping_poly[2];   /* force = -u (damping + d0 |u| + d1 u^2), u the rate            */
    int force_limited;
    double force_range[2]; /* of the sum of the forces of its actuators                        */
} rb_tendon_def;

typedef enum rb_transmission {
    RB_TRN_JOINT = 0,
    RB_TRN_JOINT_IN_PARENT,
    RB_TRN_TENDON,
    RB_TRN_SITE,
    RB_TRN_SLIDER_CRANK, /* between the sites `target`, where the crank ends, and `reference`, whose
                            z axis the slider moves along                                      */
    RB_TRN_BODY          /* adhesion: the contacts of a body are pulled together               */
} rb_transmission;
typedef enum rb_activation {
    RB_ACT_NONE = 0,
    RB_ACT_INTEGRATOR,
    RB_ACT_FILTER,
    RB_ACT_FILTER_EXACT,
    RB_ACT_MUSCLE,
    RB_ACT_SERVO /* the states that a PID or a DC motor needs, see rb_servo, rb_dcmotor          */
} rb_activation;

typedef enum rb_law {
    RB_LAW_AFFINE = 0,
    RB_LAW_MUSCLE,
    RB_LAW_PID,        /* gain_law: (D.33)                                                      */
    RB_LAW_DCMOTOR,    /* gain_law: (D.34)                                                      */
    RB_LAW_ORIENTATION /* gain_law: three torques that rotate a frame (D.35)                    */
} rb_law;

/* Inputs of a PID or a DC motor: those that it has are in rb_data.ctrl in this order. */
enum { RB_INPUT_POS = 1, RB_INPUT_VEL = 2, RB_INPUT_FF = 4, RB_INPUT_VOLTAGE = 8 };

/* kp (pos - l) + kv (vel - ldot) + ki x + ff, with x the integral of pos - l. States: the first
 * input as it is followed (slew > 0), x (ki != 0). */
typedef struct rb_servo {
    double kp, kv, ki;
    double windup; /* largest |x|, 0: no bound                                                 */
    double slew;   /* largest rate at which the first input is followed, 0: at once            */
} rb_servo;

/* A DC motor, docs/theory (D.34). Its states come after those of its servo: temperature above the
 * surroundings (thermal_capacity > 0), bristle (bristle_stiffness > 0), current (time_constant >
 * 0).
 */
typedef struct rb_dcmotor {
    rb_servo servo;
    double resistance, constant;                   /* [Ohm], [N m/A = V s/rad]                */
    double voltage_max;                            /* of the servo [V], 0: none               */
    double time_constant, current_rate;            /* L/R [s]; largest di/dt [A/s], 0: none   */
    double thermal_resistance, thermal_capacity;   /* [K/W], [J/K]                            */
    double coefficient, reference_temperature;     /* R(T) = R (1 + c (T - T_ref)) [1/K], [C] */
    double ambient;                                /* [C]                                     */
    double bristle_stiffness, bristle_damping;     /* LuGre [N m/rad], [N m s/rad]            */
    double coulomb, stiction, stribeck;            /* [N m], [N m], [rad/s]                   */
    double cogging, cogging_period, cogging_phase; /* [N m], per turn times 2 pi [1/rad], [rad] */
} rb_dcmotor;

/* A muscle, docs/theory (D.31). Lengths in units of the length L0 at which it is strongest. */
typedef struct rb_muscle {
    double range[2]; /* that the length range of the actuator maps to                          */
    double force;    /* at L0, full activation and rest [N]                                    */
    double scale;    /* force < 0: scale by the acceleration of a unit force; readers do so    */
    double lmin, lmax, vmax, fpmax, fvmax;
} rb_muscle;

/* force = gain u + bias with u the control or the activation, l and ldot the length and velocity
 * of the transmission: gain = gain_0 + gain_1 l + gain_2 ldot, the same for bias. A motor is gain
 * (1, 0, 0); a position servo gain (kp, 0, 0), bias (0, -kp, -kv). */
typedef struct rb_actuator_def {
    rb_where where;
    const char *name;
    rb_transmission transmission;
    int target;     /* joint, tendon or site                                                   */
    int reference;  /* RB_TRN_SITE: site whose frame is used, -1: its own                      */
    double gear[6]; /* scalar joints and tendons use gear[0]; sites a wrench, force first      */
    rb_activation activation;
    double time_constant; /* of the filters [s]                                                */
    double gain[3], bias[3];
    rb_law gain_law, bias_law;            /* muscles: instead of gain and bias                   */
    rb_muscle gain_muscle, bias_muscle;   /*                                                     */
    double length_range[2];               /* muscles: shortest and longest length                */
    double muscle_time[2], muscle_smooth; /* RB_ACT_MUSCLE: constants of rise and fall [s], width
                                           of the change between them                       */
    double crank_length;                  /* RB_TRN_SLIDER_CRANK [m]                             */
    int early;                            /* 1: forces use the activation at the end of the step */
    unsigned inputs;                      /* RB_INPUT_..: PID, DC motor                          */
    double servo_windup, servo_slew;      /* PID; its gains are ki = gain_0, kp = -bias_1,
                                             kv = -bias_2                                        */
    rb_dcmotor motor;                     /* DC motor                                            */
    int quaternion; /* RB_LAW_ORIENTATION: its input is one, else a rotation vector            */
    int off;        /* 1: it has no force                                                      */
    int ctrl_limited, force_limited, act_limited;
    double ctrl_range[2], force_range[2], act_range[2];
    double vel_range[2], ff_range[2]; /* of these inputs; equal numbers: no bounds             */
    double delay;                     /* controls are as old as this [s]                       */
    int nsample;                      /* controls that are kept, one each step; needed for delay */
    int interpolate;                  /* between them: 0 the last, 1 linear, 2 cubic           */
} rb_actuator_def;

/* How many numbers in rb_data.ctrl, act and act_force the actuator has. */
int rb_actuator_inputs(const rb_actuator_def *def);
int rb_actuator_states(const rb_actuator_def *def);
int rb_actuator_outputs(const rb_actuator_def *def);

/* ---- contact filtering, keyframes, rest -------------------------------------------------------
 */

typedef struct rb_exclude_def {
    rb_where where;
    const char *name;
    int body1, body2;
} rb_exclude_def;

typedef struct rb_pair_def {
    rb_where where;
    const char *name;
    int geom1, geom2;
    int condim;
    int only_material;    /* 1: gives the material of the two geoms alone; it neither makes them
                             collide nor sets their condim                                        */
    int never;            /* 1: the two never touch, unless another, explicit pair names them    */
    rb_material material; /* NAN in friction, restitution, ...: from the geoms                 */
    double adhesion;      /* NAN: from the geoms [N]                                           */
} rb_pair_def;

typedef struct rb_key_def {
    rb_where where;
    const char *name;
    double time;
    /* any may be NULL or short: the rest is that of the reference configuration, or zero; longer
     * ones are refused */
    const double *qpos;  /* (nqpos)  */
    const double *qvel;  /* (nqvel)  */
    const double *act;   /* (nact)   */
    const double *ctrl;  /* (nctrl)  */
    const double *mocap; /* (nmocap) */
    int nqpos, nqvel, nact, nctrl, nmocap;
} rb_key_def;

/* ---- sensors ----------------------------------------------------------------------------------
 */

/* Numbers, frames and signs of each are those of MuJoCo: docs/manual/sensors.md. */
typedef enum rb_sensor_type {
    RB_SENSOR_TOUCH = 0,
    RB_SENSOR_ACCELEROMETER,
    RB_SENSOR_VELOCIMETER,
    RB_SENSOR_GYRO,
    RB_SENSOR_FORCE,
    RB_SENSOR_TORQUE,
    RB_SENSOR_MAGNETOMETER,
    RB_SENSOR_RANGEFINDER,
    RB_SENSOR_JOINTPOS,
    RB_SENSOR_JOINTVEL,
    RB_SENSOR_TENDONPOS,
    RB_SENSOR_TENDONVEL,
    RB_SENSOR_ACTUATORPOS,
    RB_SENSOR_ACTUATORVEL,
    RB_SENSOR_ACTUATORFRC,
    RB_SENSOR_JOINTACTUATORFRC,
    RB_SENSOR_TENDONACTUATORFRC,
    RB_SENSOR_BALLQUAT,
    RB_SENSOR_BALLANGVEL,
    RB_SENSOR_JOINTLIMITPOS,
    RB_SENSOR_JOINTLIMITVEL,
    RB_SENSOR_JOINTLIMITFRC,
    RB_SENSOR_TENDONLIMITPOS,
    RB_SENSOR_TENDONLIMITVEL,
    RB_SENSOR_TENDONLIMITFRC,
    RB_SENSOR_FRAMEPOS,
    RB_SENSOR_FRAMEQUAT,
    RB_SENSOR_FRAMEXAXIS,
    RB_SENSOR_FRAMEYAXIS,
    RB_SENSOR_FRAMEZAXIS,
    RB_SENSOR_FRAMELINVEL,
    RB_SENSOR_FRAMEANGVEL,
    RB_SENSOR_FRAMELINACC,
    RB_SENSOR_FRAMEANGACC,
    RB_SENSOR_SUBTREECOM,
    RB_SENSOR_SUBTREELINVEL,
    RB_SENSOR_SUBTREEANGMOM,
    RB_SENSOR_INSIDESITE,
    RB_SENSOR_DISTANCE,
    RB_SENSOR_NORMAL,
    RB_SENSOR_FROMTO,
    RB_SENSOR_CONTACT,
    RB_SENSOR_E_POTENTIAL,
    RB_SENSOR_E_KINETIC,
    RB_SENSOR_CLOCK,
    RB_SENSOR_USER,          /* zeros: the caller writes them */
    RB_SENSOR_CAMPROJECTION, /* the site `index` in a picture taken from the frame of the site
                                `reference_index`, which looks along -z, x to the right [pixel] */
    RB_NSENSOR
} rb_sensor_type;

/* How many numbers the sensors of a model may have, and the samples they keep. */
enum { RB_SENSOR_MOST = 1 << 24, RB_SENSOR_SAMPLES = 65536 /* of one sensor */ };

/* What the numbers of a sensor are. */
typedef enum rb_sensor_data {
    RB_SENSOR_REAL = 0,
    RB_SENSOR_POSITIVE,
    RB_SENSOR_AXIS,      /* unit vector     */
    RB_SENSOR_QUATERNION /* unit quaternion */
} rb_sensor_data;

const char *rb_sensor_word(rb_sensor_type type); /* as in MJCF: "touch", ... */
rb_sensor_data rb_sensor_datatype(rb_sensor_type type);

/* What a sensor is attached to or measures against. */
typedef enum rb_object {
    RB_OBJECT_NONE = 0,
    RB_OBJECT_BODY,  /* its inertial frame: centre of mass, principal axes                       */
    RB_OBJECT_XBODY, /* its own frame                                                            */
    RB_OBJECT_GEOM,
    RB_OBJECT_SITE,
    RB_OBJECT_JOINT,
    RB_OBJECT_TENDON,
    RB_OBJECT_ACTUATOR,
    RB_OBJECT_SUBTREE /* a body and all below it                                                 */
} rb_object;

/* Fields of a contact sensor, in their order within each slot. */
enum {
    RB_CONTACT_FOUND = 1,    /* number of contacts that match                                 [1] */
    RB_CONTACT_FORCE = 2,    /* in the frame of the contact                                   [3] */
    RB_CONTACT_TORQUE = 4,   /*                                                               [3] */
    RB_CONTACT_DIST = 8,     /* gap                                                           [1] */
    RB_CONTACT_POS = 16,     /* world                                                         [3] */
    RB_CONTACT_NORMAL = 32,  /* world, from the first to the second                           [3] */
    RB_CONTACT_TANGENT = 64, /* world, the first one                                          [3] */
    RB_CONTACT_LINVEL = 128, /* of the second against the first, frame of the contact         [3] */
    RB_CONTACT_ANGVEL = 256  /*                                                               [3] */
};

/* Numbers of one slot with these fields. */
int rb_contact_slot(int data);

typedef enum rb_reduce {
    RB_REDUCE_NONE = 0,
    RB_REDUCE_MINDIST,
    RB_REDUCE_MAXFORCE,
    RB_REDUCE_NETFORCE
} rb_reduce;

/* Fields of a rangefinder, in their order. */
enum {
    RB_RANGE_DIST = 1,    /* -1: nothing is hit            [1] */
    RB_RANGE_DIR = 2,     /* of the ray, zero without hit  [3] */
    RB_RANGE_ORIGIN = 4,  /*                               [3] */
    RB_RANGE_POINT = 8,   /*                               [3] */
    RB_RANGE_NORMAL = 16, /*                              [3] */
    RB_RANGE_DEPTH = 32   /* as dist                      [1] */
};

typedef struct rb_sensor_def {
    rb_where where;
    const char *name;
    rb_sensor_type type;
    rb_object object; /* what it is attached to; first geom, body or subtree of a pair          */
    int index;        /* element of that kind, -1: none                                        */
    rb_object reference; /* frame sensors: in whose frame; second of a pair                     */
    int reference_index;
    int site; /* zone of contact and insidesite sensors, -1: none                        */
    int data; /* fields of contact sensors and rangefinders, bits                        */
    int num;  /* contact: slots                                                          */
    rb_reduce reduce;
    int dim;           /* user: how many numbers                                                 */
    double picture[4]; /* camprojection: focal lengths and centre, x and y [pixel]              */
    double cutoff;     /* > 0: larger values are cut to it; of distances: the reach [unit]       */
    double noise;      /* standard deviation; for rb_sensor_noise, values are exact              */
    double delay;      /* values are as old as this [s]                                          */
    double interval;   /* time between samples, 0: every step [s]                                */
    double phase;      /* of the first sample, <= 0 [s]                                          */
    int nsample;       /* samples kept for delays; 0: none                                       */
    int interpolate;   /* between samples: 0 the last, 1 linear, 2 cubic                         */
} rb_sensor_def;

/* A named list of numbers or a text of a file ("rb.restitution", ...). */
typedef struct rb_custom_def {
    rb_where where;
    const char *name;
    int ndata;
    const double *data; /* (ndata) */
    const char *text;   /* NULL: numbers                                                         */
} rb_custom_def;

typedef struct rb_option {
    double timestep;    /* [s]                                                                  */
    double gravity[3];  /* [m/s^2]                                                              */
    double magnetic[3]; /* flux that magnetometers measure, world axes                        */
    double density;     /* of the fluid around all bodies [kg/m^3], 0: none                     */
    double viscosity;   /* its viscosity [Pa s], 0: none                                        */
    double wind[3];     /* its velocity [m/s]                                                   */
    int contact;        /* 0: a file switched contacts off                                      */
    int filter_parent;  /* 1: bodies and their parents do not collide                           */

    /* what the compiler does to masses once they are known, as in MJCF; all 0: nothing */
    double bound_mass;    /* lower bound of the mass of each body [kg]                          */
    double bound_inertia; /* lower bound of its principal moments [kg m^2]                      */
    int balance_inertia;  /* 1: moments that break A + B >= C are set to their mean             */
    int keep_inertia;     /* 1: impossible moments are kept: the reader has warned               */
    int keep_massless;    /* 1: joints that move no mass are kept: the reader has warned         */
    double total_mass;    /* > 0: scale all masses so that they sum up to this [kg]             */
    int rough_axes;       /* 1: inertia of meshes as MuJoCo leaves it: docs/design/model.md     */
} rb_option;

/* Something that a reader accepted without effect, or that a user should know. */
typedef struct rb_warning {
    rb_where where;
    const char *element; /* "tendon/spatial", "geom", ...                                      */
    const char *text;
    int physics; /* 1: ignoring it changes the motion, `run` refuses unless lenient; 2: a shape
                    stands in for another one in contacts, or is left out of them, or a sensor
                    reads zero or is left out: `run` says so and goes on                       */
} rb_warning;

/* ---- the calls --------------------------------------------------------------------------------
 */

typedef struct rb_spec rb_spec;

rb_spec *rb_spec_new(const rb_alloc *alloc); /* NULL: out of memory */
void rb_spec_free(rb_spec *spec);            /* NULL is fine; models stay valid */

rb_body_def rb_body_default(void);
rb_joint_def rb_joint_default(void); /* hinge about z */
rb_geom_def rb_geom_default(void);   /* sphere, density 1000, friction 1 0.005 0.0001, condim 3 */
rb_material rb_material_default(void);
rb_mesh_def rb_mesh_default(void);
rb_hfield_def rb_hfield_default(void);
rb_site_def rb_site_default(void);
rb_equality_def rb_equality_default(void);
rb_tendon_def rb_tendon_default(void);
rb_actuator_def rb_actuator_default(void); /* motor on a joint */
rb_exclude_def rb_exclude_default(void);
rb_pair_def rb_pair_default(void);
rb_key_def rb_key_default(void);
rb_custom_def rb_custom_default(void);
rb_sensor_def rb_sensor_default(void);

int rb_spec_add_body(rb_spec *spec, const rb_body_def *def, rb_error *err);
int rb_spec_add_joint(rb_spec *spec, const rb_joint_def *def, rb_error *err);
int rb_spec_add_geom(rb_spec *spec, const rb_geom_def *def, rb_error *err);
int rb_spec_add_mesh(rb_spec *spec, const rb_mesh_def *def, rb_error *err);
int rb_spec_add_hfield(rb_spec *spec, const rb_hfield_def *def, rb_error *err);
int rb_spec_add_site(rb_spec *spec, const rb_site_def *def, rb_error *err);
int rb_spec_add_equality(rb_spec *spec, const rb_equality_def *def, rb_error *err);
int rb_spec_add_tendon(rb_spec *spec, const rb_tendon_def *def, rb_error *err);
int rb_spec_add_actuator(rb_spec *spec, const rb_actuator_def *def, rb_error *err);
int rb_spec_add_exclude(rb_spec *spec, const rb_exclude_def *def, rb_error *err);
int rb_spec_add_pair(rb_spec *spec, const rb_pair_def *def, rb_error *err);
int rb_spec_add_key(rb_spec *spec, const rb_key_def *def, rb_error *err);
int rb_spec_add_custom(rb_spec *spec, const rb_custom_def *def, rb_error *err);
int rb_spec_add_sensor(rb_spec *spec, const rb_sensor_def *def, rb_error *err);
rb_status rb_spec_warn(rb_spec *spec, const rb_warning *warning);

/* The stored description, to be edited in place: numbers only, strings and arrays belong to the
 * spec. The pointer is valid until the next element of its kind is added. NULL: no such index. */
rb_body_def *rb_spec_body(rb_spec *spec, int i);
rb_joint_def *rb_spec_joint(rb_spec *spec, int i);
rb_geom_def *rb_spec_geom(rb_spec *spec, int i);
rb_mesh_def *rb_spec_mesh(rb_spec *spec, int i);
rb_hfield_def *rb_spec_hfield(rb_spec *spec, int i);
rb_site_def *rb_spec_site(rb_spec *spec, int i);
rb_equality_def *rb_spec_equality(rb_spec *spec, int i);
rb_tendon_def *rb_spec_tendon(rb_spec *spec, int i);
rb_actuator_def *rb_spec_actuator(rb_spec *spec, int i);
rb_exclude_def *rb_spec_exclude(rb_spec *spec, int i);
rb_pair_def *rb_spec_pair(rb_spec *spec, int i);
rb_key_def *rb_spec_key(rb_spec *spec, int i);
rb_custom_def *rb_spec_custom(rb_spec *spec, int i);
rb_sensor_def *rb_spec_sensor(rb_spec *spec, int i);
rb_option *rb_spec_option(rb_spec *spec);

/* Replaces the hull of a mesh by a copy of this one. */
rb_status rb_spec_set_hull(rb_spec *spec, int mesh, const rb_hull_def *hull);

int rb_spec_count(const rb_spec *spec, rb_kind kind);                  /* world included      */
int rb_spec_find(const rb_spec *spec, rb_kind kind, const char *name); /* -1: none            */
int rb_spec_warning_count(const rb_spec *spec);
const rb_warning *rb_spec_warning(const rb_spec *spec, int i);

#ifdef __cplusplus
}
#endif

#endif
