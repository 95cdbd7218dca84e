/* Output for viewers: scenes and replays for the viewer, animated GLB, strips of
 * snapshots as SVG. Part of rattleback_io. The formats: docs/design/viewer.md. */
#ifndef RATTLEBACK_SHOW_H
#define RATTLEBACK_SHOW_H

#include <stdio.h>

#include "rattleback/base.h"
#include "rattleback/step.h"
#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the scene ---------------------------------------------------------------------------------
 */

typedef struct rb_scene_info {
    double lost_mesh;  /* largest distance by which rounding moved a vertex [m] */
    size_t mesh_bytes; /* of the text that meshes and height fields take        */
} rb_scene_info;

/* The model as JSON. shown: the same model read with its visuals (rb_load_opts.visuals), whose
 * geoms that touch nothing come behind those of m; NULL: none. name: what it is called. info may
 * be NULL. RB_FILE: out cannot be written. */
rb_status rb_scene_write(FILE *out, const rb_model *m, const rb_model *shown, const char *name,
                         rb_scene_info *info);

/* ---- a replay ----------------------------------------------------------------------------------
 */

typedef struct rb_replay rb_replay;

typedef struct rb_replay_opts {
    double fps;        /* frames for a second of the run; 0: each step is one                     */
    int contacts;      /* 1: contacts with their forces are recorded                              */
    int most_contacts; /* open ones of a frame that are kept                                      */
    int most_plots;    /* joints that get a plot of their own                                     */
    int most_marks;    /* events that are kept                                                    */
} rb_replay_opts;

rb_replay_opts rb_replay_opts_default(void); /* 60 frames, 200 contacts, 64 plots, 5000 marks */

/* Records the run of a model, which outlives it. opts NULL: the default. NULL: out of memory. */
rb_replay *rb_replay_new(const rb_model *m, const rb_replay_opts *opts);
void rb_replay_free(rb_replay *r); /* NULL is fine */

/* Takes the events of a step (rb_step_opts.events); those of a step that fails are dropped. */
rb_event_sink rb_replay_events(rb_replay *r);

/* The state before the first step, and after each one: done 1: it was taken. Frames are kept where
 * they are due. Frames and velocities of d are computed. opts NULL: the defaults. RB_NOMEM. */
rb_status rb_replay_start(rb_replay *r, rb_data *d, const rb_step_opts *opts);
rb_status rb_replay_step(rb_replay *r, rb_data *d, const rb_step_opts *opts,
                         const rb_step_info *info, rb_status status, const rb_error *err);

/* Keeps the last state where it is no frame yet, so that a replay ends where the run did. */
rb_status rb_replay_end(rb_replay *r, rb_data *d, const rb_step_opts *opts);

int rb_replay_frames(const rb_replay *r);

typedef struct rb_replay_info {
    rb_scene_info scene;
    int frames;
    size_t bytes;         /* of the whole text                                 */
    double lost_position; /* largest error of what was rounded [m]            */
    double lost_angle;    /* [rad]                                             */
    double lost_contact;  /* of points of contact [m]                          */
    double lost_normal;   /* of their normals [rad]                            */
} rb_replay_info;

/* The replay as JSON, with the scene in it. info may be NULL. RB_NOMEM, RB_FILE. */
rb_status rb_replay_write(FILE *out, const rb_replay *r, const rb_model *shown, const char *name,
                          rb_replay_info *info);

/* The same as GLB: shapes, colours, and an animation that moves the bodies. */
rb_status rb_replay_write_gltf(FILE *out, const rb_replay *r, const rb_model *shown,
                               const char *name);

/* `count` >= 1 pictures side by side as SVG, seen from azimuth and elevation [degree]; NAN: the
 * view that shows most of the motion. */
rb_status rb_replay_write_svg(FILE *out, const rb_replay *r, const rb_model *shown, int count,
                              double azimuth, double elevation);

typedef struct rb_save_opts {
    const char *page;          /* viewer.html, for .html                                          */
    size_t page_size;          /* [bytes]                                                         */
    int snapshots;             /* .svg: pictures side by side                                     */
    double azimuth, elevation; /* .svg: as in rb_replay_write_svg [degree]                        */
} rb_save_opts;

rb_save_opts rb_save_opts_default(void); /* no page, 6 snapshots */

/* Writes a file; its ending is the format: .html, .json, .glb, .svg. err has the reason of a
 * failure. info may be NULL. */
rb_status rb_replay_save(const char *path, const rb_replay *r, const rb_model *shown,
                         const char *name, const rb_save_opts *opts, rb_replay_info *info,
                         rb_error *err);

/* ---- pages -------------------------------------------------------------------------------------
 */

/* A file of a model, for a page that carries it along. */
typedef struct rb_page_file {
    const char *path;
    const void *bytes;
    size_t size;
} rb_page_file;

/* A JSON text into a page, in the place of its line <!--rattleback:data-->: copies what is
 * before it, the tags, and the rest. `write` writes the JSON. RB_BAD_INPUT: there is no such line.
 */
rb_status rb_page_write(FILE *out, const char *page, size_t size, const char *id,
                        rb_status (*write)(FILE *out, void *ctx), void *ctx, const void *wasm,
                        size_t wasm_size);

/* Base64 of these bytes. */
void rb_put_base64(FILE *out, const void *bytes, size_t size);

/* A quoted, escaped string in which no tag can begin or end. */
void rb_put_text(FILE *out, const char *text);

#ifdef __cplusplus
}
#endif

#endif
