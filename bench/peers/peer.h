/* One scene, as every engine is given it, and one engine, as the comparison runs it.
 *
 * The scene comes out of an MJCF file read by rattleback. Engines that read MJCF take the file;
 * the others build bodies, joints and shapes from the description below. All hand back nothing but
 * poses and velocities of the bodies: energy, penetration and drift are measured from those alone
 * (measure.c), in the same way for all. */
#ifndef RB_BENCH_PEER_H
#define RB_BENCH_PEER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum peer_shape { PEER_SPHERE, PEER_CAPSULE, PEER_BOX, PEER_PLANE } peer_shape;
typedef enum peer_joint { PEER_FREE, PEER_HINGE, PEER_PLANAR } peer_joint;

/* A shape in the frame of its body, or of the world. Sphere: radius. Capsule along z: radius, half
 * length. Box: half sides. Plane: solid below z = 0. */
typedef struct peer_geom {
    peer_shape shape;
    int body; /* -1: the world */
    double size[3], pos[3], quat[4];
    double mu;
} peer_geom;

/* The frame of a body is its centre of mass with its principal axes; vectors are in world axes and
 * hold at the start. */
typedef struct peer_body {
    double mass, inertia[3];
    double pos[3], quat[4], v[3], w[3];
    int parent; /* -1: the world */
    peer_joint joint;
    double anchor[3], axis[3]; /* hinge; planar: the normal of the plane */
    double rate;               /* of the hinge [rad/s]                   */
    double kp, kd;             /* servo that holds the start pose        */
} peer_body;

typedef struct peer_scene {
    char name[64];
    const char *path; /* of the MJCF file */
    double h, T, gravity[3];
    int nbody, ngeom;
    peer_body *body;
    peer_geom *geom;
    int self_collide; /* bodies touch each other, children and parents never */
    int articulated, servos;
} peer_scene;

typedef struct peer_state {
    double p[3], q[4], v[3], w[3]; /* of the body frame, world axes */
} peer_state;

typedef struct peer_engine {
    const char *name;
    const char *(*version)(void);
    const char *const *settings; /* NULL terminated */

    /* NULL where the engine cannot have this scene: why, in a sentence. */
    void *(*make)(const peer_scene *s, const char *setting, char *why, size_t size);
    int (*step)(void *sim); /* 0: the engine gave up */
    int (*contacts)(void *sim);
    void (*read)(void *sim, peer_state *x); /* (nbody) */
    void (*release)(void *sim);
} peer_engine;

extern const peer_engine peer_engine_here; /* of this program */

/* scene.c: NULL and a sentence on standard error where the file cannot be had. */
peer_scene *peer_scene_read(const char *path);
void peer_scene_free(peer_scene *s);

/* vectors.c */
double peer_dot(const double *a, const double *b);
void peer_cross(const double *a, const double *b, double *out);
void peer_turn(const double *q, const double *a, double *out);      /* q a q*           */
void peer_turn_back(const double *q, const double *a, double *out); /* q* a q           */
void peer_quat_multiply(const double *a, const double *b, double *out);
void peer_quat_axis(const double *axis, double angle, double *q);
void peer_quat_of(const double *R, double *q); /* of a rotation, row major */

/* Explicit torque of the servo of body i from its angle and rate. */
double peer_servo(const peer_body *b, double angle, double rate);

/* ---- measure.c ---------------------------------------------------------------------------------
 */

typedef struct peer_metrics {
    long samples;
    double pen_max, pen_sum, pen_end; /* [m]                                               */
    double touched;                   /* first contact [s], < 0: none                      */
    double E_start, E_end, E_low;     /* [J]                                               */
    double E_made;                    /* largest rise above the lowest so far [J]          */
    double E_square, pen_square;      /* sums of (E - E_start)^2, and of all overlaps squared   */
    double E_lost_free, E_dev_free;   /* before anything is within 2 cm of anything [J]    */
    double joint_max;                 /* opening of hinges [m]                             */
    double path;                      /* of the first body [m]                             */
    double last[3];
    double speed_end; /* fastest body [m/s]                                */
    int lost;         /* not finite, or 10 km away                         */
    int near;
} peer_metrics;

void peer_measure(const peer_scene *s, const peer_state *x, double t, peer_metrics *k);

#ifdef __cplusplus
}
#endif

#endif
