/* The MJCF reader, step by step. A file is read in the order of MuJoCo's own compiler: includes are
 * spliced into the tree, the tree is checked against the grammar, then compiler, option, default,
 * asset, worldbody, contact, equality, tendon, actuator, keyframe and custom are read. What a
 * finished model is needed for (settotalmass, springdamper, dampratio) comes last. */
#ifndef RATTLEBACK_SRC_IO_MJCF_H
#define RATTLEBACK_SRC_IO_MJCF_H

#include "io/path.h"
#include "io/xml.h"
#include "rattleback/load.h"

/* Longest chain of replicate suffixes after a name [bytes]. */
enum { RB_MJCF_MAX_SUFFIX = 256 };

/* MuJoCo's mjEPS: lengths below it have no direction, masses below it are none [1]. */
#define RB_MJCF_TINY 1e-14

/* MuJoCo's mjMINVAL: what it divides by is at least this large [1]. */
#define RB_MJCF_MIN_DIVISOR 1e-15

/* Leaves the function with the first status that is not RB_OK. */
#define RB_TRY(call)                                                                               \
    do {                                                                                           \
        rb_status try_status = (call);                                                             \
        if (try_status != RB_OK) return try_status;                                                \
    } while (0)

/* ---- settings -------------------------------------------------------------------------------- */

typedef enum rb_mjcf_auto { RB_MJCF_FALSE = 0, RB_MJCF_TRUE, RB_MJCF_AUTO } rb_mjcf_auto;

typedef struct rb_mjcf_compiler {
    int degree;
    char eulerseq[4];
    int autolimits;
    int inertiafromgeom; /* rb_mjcf_auto                    */
    int inertiagroup[2]; /* geoms outside carry no mass     */
    int strippath;
    int alignfree;
    int fitaabb;
    int discardvisual;
    const char *meshdir, *assetdir; /* "": the model's folder  */
} rb_mjcf_compiler;

/* What <option> switches off; applied when everything is read. */
typedef struct rb_mjcf_flags {
    int no_gravity, no_contact, no_equality, no_limit, no_frictionloss, no_spring, no_damper;
    int no_clamp, no_actuation, no_filterparent;
    unsigned group_off; /* actuator groups without effect, one bit each */
} rb_mjcf_flags;

/* ---- states ---------------------------------------------------------------------------------- */

/* What a default class can say something about. */
typedef enum rb_mjcf_kind {
    RB_MJCF_MESH = 0,
    RB_MJCF_JOINT,
    RB_MJCF_GEOM,
    RB_MJCF_SITE,
    RB_MJCF_PAIR,
    RB_MJCF_EQUALITY,
    RB_MJCF_TENDON,
    RB_MJCF_ACTUATOR,
    RB_MJCF_NKIND
} rb_mjcf_kind;

/* A class shares the state of its parent for every kind it says nothing about. */
typedef struct rb_mjcf_class {
    const void *state[RB_MJCF_NKIND];
} rb_mjcf_class;

/* An orientation as written: the quaternion, and the other spelling that outweighs it. */
typedef enum rb_mjcf_spelling {
    RB_MJCF_QUAT = 0,
    RB_MJCF_AXISANGLE,
    RB_MJCF_XYAXES,
    RB_MJCF_ZAXIS,
    RB_MJCF_EULER
} rb_mjcf_spelling;

typedef struct rb_mjcf_orient {
    double quat[4];
    rb_mjcf_spelling spelling;
    double numbers[6];
} rb_mjcf_orient;

/* The states: an element as its class and its own attributes say it, before names are resolved and
 * degrees are radians. */
typedef struct rb_mjcf_mesh {
    double scale[3];
    rb_mesh_inertia inertia;
    int maxhullvert; /* -1: all */
} rb_mjcf_mesh;

typedef struct rb_mjcf_joint {
    rb_joint_def def;
    int limited, force_limited; /* rb_mjcf_auto */
    double springdamper[2];
} rb_mjcf_joint;

typedef struct rb_mjcf_geom {
    rb_geom_def def;
    rb_mjcf_orient orient;
    int is_sdf;
    int has_fromto;
    double fromto[6];
    double fitscale;
    const char *mesh, *hfield; /* names, NULL: none            */
    const char *material;
    double rgba[4];
} rb_mjcf_geom;

typedef struct rb_mjcf_site {
    double pos[3];
    rb_mjcf_orient orient;
    int has_fromto;
    double fromto[6];
    int type; /* word of the zone: sphere capsule ellipsoid cylinder box */
    double size[3];
} rb_mjcf_site;

typedef struct rb_mjcf_pair {
    int condim;
    double friction[5];
    double adhesion;
} rb_mjcf_pair;

typedef struct rb_mjcf_equality {
    int active;
} rb_mjcf_equality;

typedef struct rb_mjcf_tendon {
    rb_tendon_def def;
    int limited, force_limited; /* rb_mjcf_auto */
} rb_mjcf_tendon;

/* How an actuator computes; what is "other" (user, ...) has no effect here. */
typedef enum rb_mjcf_law {
    RB_MJCF_FIXED = 0,
    RB_MJCF_AFFINE,
    RB_MJCF_MUSCLE,
    RB_MJCF_DCMOTOR,
    RB_MJCF_SO3,
    RB_MJCF_PID,
    RB_MJCF_OTHER_LAW
} rb_mjcf_law;
enum { RB_MJCF_OTHER_DYNAMICS = RB_ACT_SERVO + 1, RB_MJCF_NPRM = 10 };

/* The three ranges of an actuator. */
enum { RB_MJCF_CTRL = 0, RB_MJCF_FORCE, RB_MJCF_ACT };

typedef struct rb_mjcf_actuator {
    int dynamics;           /* rb_activation or RB_MJCF_OTHER_DYNAMICS      */
    int gain_law, bias_law; /* rb_mjcf_law; a fixed bias is none            */
    double dynprm[RB_MJCF_NPRM], gainprm[RB_MJCF_NPRM], biasprm[RB_MJCF_NPRM];
    double gear[6];
    int limited[3]; /* rb_mjcf_auto                                 */
    double range[3][2];
    double inheritrange;
    double lengthrange[2], cranklength;
    int actearly;
    double damping[3], armature; /* added to the joint or tendon, times gear^2   */
    int group;
    int nact;       /* activations, -1: as the dynamics say         */
    int inputs;     /* RB_INPUT_.. of a PID or motor, -1: as usual  */
    int quaternion; /* input of an orientation                      */
    double velrange[2], ffrange[2];
    int nsample, interpolate;
    double delay;
} rb_mjcf_actuator;

/* ---- the reader ------------------------------------------------------------------------------ */

/* One replica of a <replicate>. */
typedef struct rb_mjcf_replica {
    int index;          /* in the order they are made         */
    const char *suffix; /* of all levels, the innermost first */
    const struct rb_mjcf_replica *outer;
} rb_mjcf_replica;

/* (space, name) -> pointer; see mjcf_names.c. */
typedef struct rb_mjcf_map {
    struct rb_mjcf_entry **bucket;
    size_t nbucket, count;
} rb_mjcf_map;

/* Numbers that need the finished model. */
typedef enum rb_mjcf_later_kind {
    RB_MJCF_SPRINGDAMPER = 0,
    RB_MJCF_DAMPRATIO,
    RB_MJCF_MUSCLE_FORCE,
    RB_MJCF_LENGTH_RANGE
} rb_mjcf_later_kind;

typedef struct rb_mjcf_later {
    rb_mjcf_later_kind kind;
    int index;         /* joint or actuator                     */
    double numbers[2]; /* time constant and ratio, or the ratio */
    struct rb_mjcf_later *next;
} rb_mjcf_later;

/* One <attach>: a reader of its own for the attached model. */
typedef struct rb_mjcf_attached {
    struct rb_mjcf *reader;
    struct rb_mjcf_attached *next;
} rb_mjcf_attached;

/* A model file on its way into the spec: the main one, or one that is attached to it. */
typedef struct rb_mjcf {
    rb_spec *spec;
    rb_xml_doc *doc; /* its memory serves the whole reading                     */
    const rb_load_opts *opts;
    rb_io_search search;
    rb_error *err;

    struct rb_mjcf *top;    /* the reader of the main file                      */
    struct rb_mjcf *parent; /* the one that attaches this file, NULL: none      */
    const char *prefix;     /* of all names, "" in the main file                */
    int partial;            /* only a part of the file is attached              */
    rb_mjcf_attached *attached, *last_attached;

    /* what the files of a model share, in the reader of the main one */
    rb_xml_doc *included[RB_LOAD_MAX_INCLUDES];
    int nincluded;
    size_t nelement; /* replicas counted again                                  */
    size_t nbyte;
    rb_mjcf_later *later;

    rb_option option; /* of the file; that of the main one goes to the spec     */
    rb_mjcf_compiler compiler;
    rb_mjcf_flags flags;
    rb_mjcf_map classes, map; /* see rb_mjcf_map_get                            */
    rb_mjcf_class main_class;
    const rb_mjcf_replica *base;    /* around the whole file, NULL: none        */
    const rb_mjcf_replica *replica; /* the one being read                       */
    int nreplica;
} rb_mjcf;

/* The document of a <mujoco> file into an empty spec. */
rb_status rb_io_mjcf_read(rb_xml_doc *doc, const rb_io_search *search, const rb_load_opts *opts,
                          rb_spec *spec, rb_error *err);

/* ---- names, references, warnings (mjcf_names.c) ---------------------------------------------- */

/* Spaces of names beside the rb_kinds, which hold the replicas of a name. Classes and models belong
 * to a file, warnings to all files, the others to one use of a file. */
enum {
    RB_MJCF_CLASSES = RB_NKIND,
    RB_MJCF_MODELS,
    RB_MJCF_WARNINGS,
    RB_MJCF_FILES,
    RB_MJCF_UNREAD_MESHES, /* assets that are left out, with the geoms that need them           */
    RB_MJCF_UNREAD_HFIELDS,
    RB_MJCF_CAMERAS /* rb_mjcf_camera */
};

void *rb_mjcf_map_get(const rb_mjcf *r, int space, const char *name);
rb_status rb_mjcf_map_put(rb_mjcf *r, int space, const char *name, void *value);

rb_where rb_mjcf_where(const rb_xml_node *node);
rb_status rb_mjcf_nomem(const rb_mjcf *r, const rb_xml_node *node);

/* Keeps the warning where it is the first with that `element`. */
rb_status rb_mjcf_warn(rb_mjcf *r, const rb_xml_node *node, const char *element, int physics,
                       const char *text);

/* The name with the suffix of the replica being read; *out = NULL where there is none. A name
 * inside a replica is recorded, so that elements that refer to it are replicated too. */
rb_status rb_mjcf_name(rb_mjcf *r, const rb_xml_node *node, rb_kind kind, const char **out);

/* An asset of the file being read; -1: there is none of that name. */
int rb_mjcf_asset(rb_mjcf *r, rb_kind kind, const char *name);

/* The prefix of the file, the text, and the suffix. NULL: out of memory. */
const char *rb_mjcf_full_name(rb_mjcf *r, const char *text, const char *suffix);

/* Counts elements against the budget of the model. */
rb_status rb_mjcf_count(rb_mjcf *r, const rb_xml_node *node, size_t count);

/* The element that `attr` names. Missing: *index = -1, refused where `needed`. */
rb_status rb_mjcf_find(rb_mjcf *r, const rb_xml_node *node, const char *attr, rb_kind kind,
                       int needed, int *index);

/* RB_OK for the index of an added element, else the status of the refusal in r->err. */
rb_status rb_mjcf_added(const rb_mjcf *r, int index);

/* Reads the elements of all sections of that name; those that refer to replicated elements are read
 * once for each replica, after the others. Attached models come last. */
typedef rb_status (*rb_mjcf_element)(rb_mjcf *r, const rb_xml_node *node);
rb_status rb_mjcf_sections(rb_mjcf *r, const char *section, rb_mjcf_element read);

/* ---- steps ----------------------------------------------------------------------------------- */

rb_status rb_mjcf_include(rb_mjcf *r, rb_xml_node *root);         /* mjcf_include.c  */
rb_status rb_mjcf_check(rb_mjcf *r, const rb_xml_node *root);     /* mjcf_schema.c   */
rb_status rb_mjcf_settings(rb_mjcf *r, const rb_xml_node *root);  /* mjcf_settings.c */
rb_status rb_mjcf_defaults(rb_mjcf *r, const rb_xml_node *root);  /* mjcf_default.c  */
rb_status rb_mjcf_models(rb_mjcf *r, const rb_xml_node *root);    /* mjcf_attach.c   */
rb_status rb_mjcf_assets(rb_mjcf *r, const rb_xml_node *root);    /* mjcf_asset.c    */
rb_status rb_mjcf_bodies(rb_mjcf *r, const rb_xml_node *root);    /* mjcf_body.c     */
rb_status rb_mjcf_customs(rb_mjcf *r, const rb_xml_node *root);   /* mjcf_custom.c   */
rb_status rb_mjcf_keyframes(rb_mjcf *r, const rb_xml_node *root); /* mjcf_key.c      */
rb_status rb_mjcf_finish(rb_mjcf *r, const rb_xml_node *root);    /* mjcf_finish.c   */
rb_status rb_mjcf_discard_visual(rb_mjcf *r);                     /* mjcf_visual.c   */

/* The file that `node` names, as a tree that lives as long as the reading (mjcf_include.c). */
rb_status rb_mjcf_parse(rb_mjcf *r, const rb_xml_node *node, char path[RB_IO_PATH_MAX],
                        rb_xml_doc **doc);

/* One element each, when the bodies are there. */
rb_status rb_mjcf_add_contact(rb_mjcf *r, const rb_xml_node *node);  /* mjcf_contact.c  */
rb_status rb_mjcf_add_equality(rb_mjcf *r, const rb_xml_node *node); /* mjcf_equality.c */
rb_status rb_mjcf_add_tendon(rb_mjcf *r, const rb_xml_node *node);   /* mjcf_tendon.c   */
rb_status rb_mjcf_add_actuator(rb_mjcf *r, const rb_xml_node *node); /* mjcf_actuator.c */
rb_status rb_mjcf_add_sensor(rb_mjcf *r, const rb_xml_node *node);   /* mjcf_sensor.c   */

/* ---- attributes by table (mjcf_fields.c) ----------------------------------------------------- */

typedef enum rb_mjcf_field_type {
    RB_MJCF_NUMBERS = 0, /* double[most], at least `least`; the rest is unchanged       */
    RB_MJCF_INTS,        /* int[most]                                                 */
    RB_MJCF_WORD,        /* int: index among `words`                                  */
    RB_MJCF_TEXT         /* const char *                                              */
} rb_mjcf_field_type;

/* One attribute and where it goes. A list ends with attr NULL. */
typedef struct rb_mjcf_field {
    const char *attr;
    rb_mjcf_field_type type;
    size_t offset;
    int least, most;
    const char *words;
} rb_mjcf_field;

#define RB_MJCF_BOOL_WORDS "false true"
#define RB_MJCF_AUTO_WORDS "false true auto"

rb_status rb_mjcf_fields(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_field *fields,
                         void *target);

/* Numbers below zero of a quantity that MuJoCo takes as zero then: a warning. */
rb_status rb_mjcf_at_least_zero(rb_mjcf *r, const rb_xml_node *node, const char *attr, double *x,
                                int count);

/* Stiffness or damping: the linear coefficient, and those of the polynomial after it. A negative
 * one is kept, with a warning. */
rb_status rb_mjcf_law_of(rb_mjcf *r, const rb_xml_node *node, const char *attr, double *linear,
                         double more[2]);

/* ---- classes (mjcf_default.c) ---------------------------------------------------------------- */

/* Attributes of one element over the state of its class. */
rb_status rb_mjcf_apply_mesh(rb_mjcf *r, const rb_xml_node *node, void *mesh);
rb_status rb_mjcf_apply_joint(rb_mjcf *r, const rb_xml_node *node, void *joint);
rb_status rb_mjcf_apply_geom(rb_mjcf *r, const rb_xml_node *node, void *geom);
rb_status rb_mjcf_apply_site(rb_mjcf *r, const rb_xml_node *node, void *site);
rb_status rb_mjcf_apply_pair(rb_mjcf *r, const rb_xml_node *node, void *pair);
rb_status rb_mjcf_apply_equality(rb_mjcf *r, const rb_xml_node *node, void *equality);
rb_status rb_mjcf_apply_tendon(rb_mjcf *r, const rb_xml_node *node, void *tendon);
/* Lengths of a muscle that its file does not say (mjcf_muscle.c), with the model as far as it is.
 */
rb_status rb_mjcf_length_range(rb_mjcf *r, const rb_xml_node *root, const rb_model *m, rb_data *d,
                               int actuator);

/* <pid>, <orientation>, <dcmotor> (mjcf_motor.c), the inputs that a PID or a motor has, and what
 * these are in a spec. */
rb_status rb_mjcf_set_pid(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act);
rb_status rb_mjcf_set_orientation(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act);
rb_status rb_mjcf_set_dcmotor(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act);
rb_status rb_mjcf_read_inputs(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act);
void rb_mjcf_fill_servo(const rb_mjcf_actuator *act, rb_actuator_def *def);

rb_status rb_mjcf_apply_actuator(rb_mjcf *r, const rb_xml_node *node, void *actuator);

/* The class that attribute `attr` ("class", "childclass") names, or `otherwise`. */
rb_status rb_mjcf_class_of(rb_mjcf *r, const rb_xml_node *node, const char *attr,
                           const rb_mjcf_class *otherwise, const rb_mjcf_class **out);

/* A copy of the state that the element's class, or `otherwise`, has for `kind`, with the
 * attributes of the element applied. */
rb_status rb_mjcf_state(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_kind kind,
                        const rb_mjcf_class *otherwise, void *out);

/* Includes, grammar, settings, classes and attached models: what comes before elements are made. */
rb_status rb_mjcf_open(rb_mjcf *r);

/* ---- orientations (mjcf_orient.c) ------------------------------------------------------------ */

rb_mjcf_orient rb_mjcf_orient_default(void);
rb_status rb_mjcf_read_orient(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_orient *orient);
rb_status rb_mjcf_resolve_orient(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_orient *orient,
                                 double quat[4]);

/* pos and orientation of an element without a class: body, frame. */
rb_status rb_mjcf_read_pose(rb_mjcf *r, const rb_xml_node *node, rb_pose *pose);

/* Angles as written, in the units and the sequence of <compiler>. */
void rb_mjcf_euler(const rb_mjcf *r, const double euler[3], double quat[4]);

/* Middle, half length and orientation of a segment: z points from its end to its beginning. */
rb_status rb_mjcf_segment(rb_mjcf *r, const rb_xml_node *node, const double fromto[6],
                          rb_pose *pose, double *half);

/* out = a b: the frame b, which is given in a. */
void rb_mjcf_compose(const rb_pose *a, const rb_pose *b, rb_pose *out);

/* ---- elements of bodies ---------------------------------------------------------------------- */

/* Context of an element: its body, the frame in it, the default class there. */
typedef struct rb_mjcf_place {
    int body;
    rb_pose frame;
    const rb_mjcf_class *class;
} rb_mjcf_place;

/* A camera that keeps its place in its body: sensors make a site of it (mjcf_camera.c). */
typedef struct rb_mjcf_camera {
    const rb_xml_node *node;
    int body;
    rb_pose pose;
    int site; /* -1: none yet */
} rb_mjcf_camera;

rb_status rb_mjcf_add_camera(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place);

/* The site of the camera that an attribute names; -1: there is none, or it follows something. */
rb_status rb_mjcf_camera_site(rb_mjcf *r, const rb_xml_node *node, const char *attr, int *site);

/* Focal lengths and centre of its picture [pixel]. 0: they are not known. */
int rb_mjcf_camera_picture(const rb_mjcf *r, const char *name, double picture[4]);

/* The parts of an attached file: a body, what a frame holds, or what the world holds (mjcf_body.c).
 */
rb_status rb_mjcf_attach_body(rb_mjcf *r, const rb_xml_node *body, const rb_mjcf_place *place);
rb_status rb_mjcf_attach_frame(rb_mjcf *r, const rb_xml_node *frame, const rb_mjcf_place *place);
rb_status rb_mjcf_attach_world(rb_mjcf *r, const rb_mjcf_place *place);

rb_status rb_mjcf_attach(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place);
rb_status rb_mjcf_add_joint(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place);
rb_status rb_mjcf_add_geom(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place);
rb_status rb_mjcf_add_site(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place);

/* <inertial> into the description of its body. */
rb_status rb_mjcf_read_inertial(rb_mjcf *r, const rb_xml_node *node, rb_body_def *body);

/* Whether something is limited: "auto" means where the range has a width. */
rb_status rb_mjcf_limited(rb_mjcf *r, const rb_xml_node *node, const char *attr, int limited,
                          const double range[2], int *out);

#endif
