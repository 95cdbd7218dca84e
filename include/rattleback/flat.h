/* A flat interface for other languages: plain calls on handles and numbers, and a table that names
 * every field of the structs with its type, its shape and its place. Part of the library
 * rattleback_flat, which holds the core and the readers as well. Design: docs/design/flat.md.
 *
 * The structs of the public headers are the one list of fields: src/flat/fields.py makes the table
 * of it, offsets come from the C compiler. A caller checks rb_flat_abi when it loads the library
 * and reads the sizes and offsets of structs from the table, never from a copy of its own. */
#ifndef RATTLEBACK_FLAT_H
#define RATTLEBACK_FLAT_H

#include "rattleback/base.h"
#include "rattleback/step.h"
#include "rattleback/front.h"
#include "rattleback/model.h"
#include "rattleback/poses.h"
#include "rattleback/sensor.h"
#include "rattleback/show.h"
#include "rattleback/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a call below or the meaning of the table does. */
#define RB_FLAT_ABI 4

int rb_flat_abi(void);
const char *rb_flat_version(void); /* RB_VERSION */

/* ---- the table of fields -----------------------------------------------------------------------
 */

typedef enum rb_field_type {
    RB_FIELD_DOUBLE = 0,
    RB_FIELD_INT, /* enums too */
    RB_FIELD_UINT,
    RB_FIELD_LONG,
    RB_FIELD_UINT64,
    RB_FIELD_SIZE,
    RB_FIELD_CHAR,
    RB_FIELD_UCHAR,
    RB_FIELD_SCHAR,
    RB_FIELD_TEXT,  /* const char *                     */
    RB_FIELD_STRUCT /* type_name is one of this table    */
} rb_field_type;

#define RB_NO_COUNT ((size_t)-1)

/* A length: factor times the int at offset `count` of the owner, RB_NO_COUNT: the factor alone. */
typedef struct rb_length {
    int factor;
    size_t count;
} rb_length;

typedef struct rb_field {
    const char *owner;     /* struct: "rb_model"                                               */
    const char *name;      /* "body_mass"                                                      */
    const char *type_name; /* "double", "rb_touch", ..                                         */
    int type;              /* rb_field_type                                                    */
    int pointer;           /* 1: the owner holds a pointer to the numbers; 0: themselves       */
    int ndim;              /* 0: a single one                                                  */
    size_t offset;         /* in the owner                                                     */
    size_t size;           /* bytes of one element                                             */
    rb_length length[2];
    const char *text; /* what it is, unit in brackets                                     */
} rb_field;

int rb_flat_field_count(void);
const rb_field *rb_flat_field(int i);
size_t rb_flat_size(const char *struct_name); /* 0: not in the table */

/* Numbers of the field of this object along each dimension. */
void rb_flat_shape(const rb_field *field, const void *object, size_t length[2]);

/* The struct as its _default call fills it: "rb_geom_def", "rb_step_opts", ..; 0: there is none. */
int rb_flat_default(const char *struct_name, void *out);

/* An object as JSON, field by field of the table, arrays as lists of rows, numbers with 17 digits,
 * null where one is not finite; to be freed by rb_flat_free. NULL: no such struct, out of memory.
 */
char *rb_flat_json(const char *struct_name, const void *object);
void rb_flat_free(void *block);

/* ---- complementarity problems -------------------------------------------------------------------
 */

/* rb_problem in one piece. A dense W, or blocks where `bs` > 0. */
typedef struct rb_flat_problem {
    unsigned kind; /* RB_LCP, RB_BOX or RB_CONE */
    int n, nc, dim;
    int bs;              /* block size, 0: dense           */
    int nptr;            /* n / bs + 1                     */
    int nblk;            /* blocks                         */
    int nval;            /* nblk bs^2                      */
    int line;            /* of a file                      */
    const double *dense; /* (n x n) */
    const int *ptr;      /* (nptr)  */
    const int *col;      /* (nblk)  */
    const double *val;   /* (nval)  */
    const double *q;     /* (n)     */
    const double *lo;    /* (n)     */
    const double *hi;    /* (n)     */
    const double *mu;    /* (nc)    */
    const char *name, *expected;
} rb_flat_problem;

/* Solves and certifies. solver NULL: auto; max_iter 0: the default; z: guess where warm, then the
 * answer; w = W z + q; mode (n) in and out; ray (n). */
rb_status rb_flat_solve(const rb_flat_problem *p, const char *solver, double tol, int max_iter,
                        int warm, int unique, double *z, double *w, unsigned char *mode,
                        double *ray, rb_info *info, rb_error *err);

/* Files. `entry` owns what `out` points to, NULL at the end: rb_flat_problem_free. An operator is
 * multiplied out. */
void *rb_flat_problem_open(const char *path, int friction, rb_error *err);
rb_status rb_flat_problem_next(void *reader, rb_flat_problem *out, void **entry, rb_error *err);
void rb_flat_problem_free(void *entry);
void rb_flat_problem_close(void *reader);
rb_status rb_flat_problem_write(const char *path, int append, const rb_flat_problem *p,
                                rb_error *err);

/* ---- models ------------------------------------------------------------------------------------
 */

#define RB_READ_FLOATING_BASE 1u
#define RB_READ_SNAP_ANGLES   2u

/* rb_front_read with plain arguments. packages: NULL-terminated list or NULL; friction: of URDF
 * geoms, NAN: the default; ground: height of a plane that is added, NAN: none. */
rb_spec *rb_flat_read(const char *path, const char *text, size_t size, const char *const *packages,
                      const char *sandbox, unsigned flags, double friction, double ground,
                      rb_error *err);

/* rb_front_compile of a spec that may have been made by hand: hulls are made before. */
rb_model *rb_flat_compile(rb_spec *spec, int keep_overlap, rb_error *err);

/* A model of its own from bytes of one of the same version. NULL: they are none. */
rb_model *rb_flat_model_from(const void *bytes, size_t size);

/* ---- one simulation ----------------------------------------------------------------------------
 */

typedef struct rb_sim rb_sim;

/* Begins at the reference configuration, loops closed, with the options of the model. The model
 * outlives it. */
rb_sim *rb_sim_new(const rb_model *m, rb_error *err);
void rb_sim_free(rb_sim *s); /* NULL is fine */

/* Another one in the same state, with the same options. NULL: out of memory. */
rb_sim *rb_sim_copy(const rb_sim *s);

/* Its data. It moves when room for contacts grows, but the arrays whose lengths are those of the
 * model keep their addresses as long as the simulation exists. */
rb_data *rb_sim_data(const rb_sim *s);
const rb_model *rb_sim_model(const rb_sim *s);
rb_step_opts *rb_sim_opts(rb_sim *s);
rb_step_info *rb_sim_info(rb_sim *s);
rb_error *rb_sim_error(rb_sim *s);

/* Reference configuration (key -1) or a keyframe; loops are closed, sensors read. */
rb_status rb_sim_reset(rb_sim *s, int key);

/* n steps, room for contacts grows by itself. Ends at the first that fails: the state is as after
 * the last good one. done may be NULL. opts NULL: those of the simulation. */
rb_status rb_sim_step(rb_sim *s, long n, const rb_step_opts *opts, long *done);

rb_status rb_sim_step_one(rb_sim *s); /* the same for one step with its own options */

/* A host with an interpreter, whose lock the calling thread has given up, and whose signals are to
 * end a long call: lock; check, nonzero: a handler raised something; take that away; unlock.
 * CPython: PyGILState_Ensure, PyErr_CheckSignals, PyErr_Fetch, PyGILState_Release. */
typedef struct rb_host {
    int (*lock)(void);
    int (*check)(void);
    void (*take)(void **type, void **value, void **trace);
    void (*unlock)(int state);
    void *taken[3]; /* what was raised; NULL: nothing */
} rb_host;

/* rb_sim_step and rb_batch_step call host->check some times a second, on the calling thread;
 * nonzero ends the call with RB_CANCELLED. NULL: no host. */
void rb_sim_on_wait(rb_sim *s, rb_host *host);

/* Frames of bodies, geoms and sites, velocities and sensors at the present state. */
rb_status rb_sim_update(rb_sim *s);
double rb_sim_energy(rb_sim *s, double *kinetic, double *potential);

/* All that is needed to go on bit for bit, as bytes of this version; the size, or 0 where capacity
 * is too small and nothing is written. */
size_t rb_sim_save_size(const rb_sim *s);
size_t rb_sim_save(const rb_sim *s, void *out, size_t capacity);
rb_status rb_sim_restore(rb_sim *s, const void *bytes, size_t size);

/* Contacts of the last step, records of rb_contact_force followed by the names of both geoms,
 * `name_size` bytes each, copied from names (ngeom x name_size). The number of them; at most
 * capacity are written. stride: bytes of a record. */
int rb_sim_contacts(const rb_sim *s, int capacity, size_t stride, const char *names,
                    size_t name_size, char *out);

/* Pairs that `rattleback compute --what gaps` lists, grown until they fit; to be freed by
 * rb_flat_free. NULL where n = 0 or the status is bad. */
rb_contact *rb_sim_gaps(rb_sim *s, double within, int *n, rb_status *status);

/* Threads for the islands of its steps, 1: the caller's alone; the bits do not depend on them. They
 * do not survive a fork: forget them there, then ask for new ones. RB_NOMEM: none could be started.
 */
rb_status rb_sim_threads(rb_sim *s, int threads);
void rb_sim_forget_threads(rb_sim *s);

/* Records the simulation from now on, fps frames a second (0: each step), in the place of what was
 * recorded before, which still belongs to the caller. NULL: out of memory. */
rb_replay *rb_sim_record(rb_sim *s, double fps);

/* Ends the recording at the present state where r is what is recorded. */
rb_status rb_sim_record_end(rb_sim *s, rb_replay *r);

/* rb_replay_save, with the page of the viewer. sizes (6, may be NULL) gets: number of frames,
 * bytes, bytes of meshes, largest rounding errors [m], [rad], bytes of the viewer. */
rb_status rb_flat_replay_save(const rb_replay *r, const char *path, const char *name, int snapshots,
                              double azimuth, double elevation, double *sizes, rb_error *err);

/* ---- many simulations --------------------------------------------------------------------------
 */

typedef struct rb_batch rb_batch;

/* n simulations of a model, their q, v, act, ctrl, tau, mocap, sensor .. one after the other in
 * arrays of the batch. threads >= 1. */
rb_batch *rb_batch_new(const rb_model *m, int n, int threads, rb_error *err);
void rb_batch_free(rb_batch *b);
rb_sim *rb_batch_sim(const rb_batch *b, int i);
void rb_batch_on_wait(rb_batch *b, rb_host *host); /* rb_sim_on_wait of all */

/* The array (n x length) of a field of rb_data; NULL: it has none. */
double *rb_batch_array(const rb_batch *b, const char *field, int *length);
double *rb_batch_time(const rb_batch *b); /* (n), as of the end of the last call */

/* World i gets a model of its own, to be changed by rb_model_set_*. NULL: out of memory. */
rb_model *rb_batch_own_model(rb_batch *b, int i);

/* New threads, as needed after a fork, which does not copy threads. */
rb_status rb_batch_threads(rb_batch *b, int threads);
void rb_batch_forget_threads(rb_batch *b);

/* n steps of each world; failed ones keep their state. status (worlds), steps done (worlds) may be
 * NULL. The first status that is not RB_OK. */
rb_status rb_batch_step(rb_batch *b, long n, const rb_step_opts *opts, int *status, long *done);

/* T times: controls (worlds x T x nctrl, NULL: as they are), then `skip` steps. After each of the
 * T times the outputs are written: states (worlds x T x (nq + nv)), sensors (worlds x T x
 * nsensordata), certificates (worlds x T x 4: residual, penetration, below_accuracy, contacts); any
 * may be NULL. A world that fails keeps its state and repeats its last row; rows after RB_CANCELLED
 * are not written. */
rb_status rb_batch_rollout(rb_batch *b, int T, int skip, const rb_step_opts *opts,
                           const double *controls, double *states, double *sensors,
                           double *certificates, int *status, long *done);

/* Parameters of each world, which gets a model of its own where they differ from what it has. x
 * (n x columns) for the worlds of ids (n, NULL: all of them); NAN: as it is. RB_PARAMETER_GRAVITY
 * has 3 columns, gain and bias 3 for each actuator, the others one for each geom or body. */
typedef enum rb_parameter {
    RB_PARAMETER_FRICTION = 0,
    RB_PARAMETER_RESTITUTION,
    RB_PARAMETER_MASS,
    RB_PARAMETER_GRAVITY,
    RB_PARAMETER_GAIN,
    RB_PARAMETER_BIAS
} rb_parameter;

rb_status rb_batch_set(rb_batch *b, rb_parameter what, const double *x, const int *ids, int n,
                       rb_error *err);
void rb_batch_get(const rb_batch *b, rb_parameter what, double *x); /* (worlds x columns) */
void rb_batch_certificates(const rb_batch *b, double *out); /* of the last steps (worlds x 4) */
rb_status rb_batch_reset(rb_batch *b, const int *ids, int n, int key);

/* What all bodies have now, about the centre of mass of the tree that each is part of, world axes:
 * inertia (worlds x nbody x 10: xx yy zz xy xz yz, mass times the vector from there, mass); angular
 * and linear velocity (worlds x nbody x 6); torque and force of the contacts of the last step
 * (worlds x nbody x 6). MuJoCo's cinert, cvel, cfrc_ext. RB_NOMEM. */
typedef enum rb_body_quantity {
    RB_BODY_INERTIA = 0,
    RB_BODY_VELOCITY,
    RB_BODY_CONTACT
} rb_body_quantity;

rb_status rb_batch_bodies(const rb_batch *b, rb_body_quantity what, double *out);
void rb_batch_actuation(const rb_batch *b, double *out); /* forces of actuators (worlds x nv) */
void rb_batch_center_of_mass(const rb_batch *b, double *out); /* of all bodies (worlds x 3) */

/* ---- stable poses ------------------------------------------------------------------------------
 */

/* A mesh as a part on a floor: rb_part_spec, compiled. */
rb_model *rb_flat_part(const char *mesh, double scale, double density, const char *inertia,
                       rb_error *err);

/* Drops first .. first + count - 1 of a part, shared out over threads (1 to 256); the numbers do
 * not depend on them. */
rb_status rb_flat_drops(const rb_part *p, const rb_model *m, const rb_drop_opts *opts, int first,
                        int count, int threads, rb_drop *out, rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
