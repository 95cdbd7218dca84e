/* A run as it is kept in memory. */
#ifndef RB_SHOW_REPLAY_H
#define RB_SHOW_REPLAY_H

#include <stdint.h>

#include "rattleback/sensor.h"
#include "rattleback/show.h"
#include "show/list.h"

/* Plots that every run has, before those of joints. */
enum {
    PLOT_ENERGY = 0,
    PLOT_KINETIC,
    PLOT_POTENTIAL,
    PLOT_RESIDUAL,
    PLOT_PENETRATION,
    PLOT_GAP,
    PLOT_FORCE,
    PLOT_CONTACTS,
    PLOT_JOINTS
};

typedef enum replay_kind {
    MARK_IMPACT = RB_EVENT_IMPACT,
    MARK_MICRO = RB_EVENT_MICRO,
    MARK_GROUP = RB_EVENT_GROUP,
    MARK_SHIFT = RB_EVENT_SHIFT,
    MARK_LOCATED,
    MARK_DIVIDED,
    MARK_BELOW,
    MARK_JAM,
    MARK_FAILED
} replay_kind;

typedef struct replay_mark {
    replay_kind kind;
    double time;
    int geom1, geom2; /* -1: no place */
    double pos[3], impulse[3];
    char text[160];
} replay_mark;

typedef struct replay_pair {
    int geom1, geom2;
    double mu;
} replay_pair;

typedef struct replay_contact {
    uint32_t pair;
    uint8_t mode; /* 0 open, 1 stick, 2 slide */
    double pos[3], normal[3];
    float force[3];
} replay_contact;

typedef struct replay_line {
    uint32_t tendon, count;
} replay_line;

struct rb_replay {
    const rb_model *m;
    rb_replay_opts opts;

    /* frames */
    int nmoving, *moving;
    list time;                    /* double            */
    list pose;                    /* double, 7 for each moving body */
    list plot;                    /* float, nplot for each frame */
    list start;                   /* uint32_t: contacts before the frame */
    list contact;                 /* replay_contact */
    list line_start, line, point; /* uint32_t, replay_line, float x 3 */
    int nplot, njoint, *joint;    /* joints that are plotted */
    int joints_left_out;
    long contacts_left_out;
    double begin; /* time of the first frame */
    long due;     /* frames that were due so far */

    /* pairs of geoms that met, found by a table of indices + 1 */
    list pair;
    uint32_t *slot;
    size_t nslot;

    /* marks */
    list mark, pending; /* replay_mark, rb_event of the step on its way */
    long marks_left_out;

    /* since the last frame */
    double residual, penetration, gap;

    /* the run */
    rb_step_opts used; /* of the last step */
    double h;
    long steps, failures, below;
    double residual_max, penetration_max;
    uint64_t hash;
    char message[sizeof(((rb_error *)0)->text) + 64];
    rb_step_info jam; /* njam 0: none */
    int lost;         /* 1: out of memory */

    rb_contact_force *force; /* room for the contacts of a frame */
    int force_room;
};

/* Writes the marks so far as a list, and forgets them. */
rb_status rb_show_replay_take_marks(FILE *out, rb_replay *r);

/* Value of plot k at frame i. */
float rb_show_replay_plot(const rb_replay *r, long i, int k);

#endif
