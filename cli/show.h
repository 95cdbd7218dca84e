/* Output of a run for viewers: pages, GLB and SVG files, recorded during the run. */
#ifndef RATTLEBACK_CLI_SHOW_H
#define RATTLEBACK_CLI_SHOW_H

#include "arguments.h"
#include "model.h"
#include "rattleback/show.h"

typedef struct show_options {
    const char *html, *gltf, *svg; /* files; NULL: not given                                    */
    double fps;
    int snapshots;
    double camera[2]; /* azimuth, elevation [degree]; NAN: chosen */
} show_options;

show_options show_options_default(void);
int show_is_asked(const show_options *o);

/* --camera AZIMUTH,ELEVATION: 1, or 0 after a sentence. */
int show_camera(const char *command, const char *text, double camera[2]);

typedef struct show show;

/* Records a run of m; events also go to `other`. NULL: out of memory, after a sentence. */
show *show_new(const show_options *o, const rb_model *m, rb_event_sink other);
rb_event_sink show_sink(show *s);
void show_start(show *s, rb_data *d, const rb_step_opts *opts);
void show_step(show *s, rb_data *d, const rb_step_opts *opts, const rb_step_info *info,
               rb_status status, const rb_error *err);

/* Writes the files and says how large they are, on stderr where quiet. 1, or 0 after a sentence. */
int show_save(show *s, rb_data *d, const rb_step_opts *opts, model_options *model, const char *path,
              int quiet);
void show_free(show *s);

/* The model once more, with what is only seen: NULL where the file says nothing of that. */
rb_model *show_visuals(const model_options *model, const char *path);

#endif
