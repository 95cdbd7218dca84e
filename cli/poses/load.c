/* The model of `rattleback poses`: a file, or a mesh on a floor without one. */
#include <stdio.h>
#include <string.h>

#include "poses/poses.h"

static rb_model *load_mesh(poses_options *o)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_part_spec(o->file, o->scale, o->density, o->inertia, &o->model.load, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_spec_free(spec);
    if (m) return m;
    fprintf(stderr, "%s", o->file);
    if (err.line && strcmp(err.file, o->file) != 0) fprintf(stderr, ":%d", err.line);
    fprintf(stderr, ": %s\n", err.text[0] ? err.text : rb_status_text(err.status));
    return NULL;
}

rb_model *poses_load(poses_options *o)
{
    rb_model *m = o->is_mesh ? load_mesh(o) : model_load(&o->model, o->file);
    if (!m) return NULL;
    int physics = 0, open = 0;
    for (int k = 0; k < m->nwarning; k++) {
        physics += m->warning_physics[k] == 1;
        open += strcmp(m->names + m->warning_element[k], "mesh/open") == 0;
    }
    model_warn_physics(m);
    model_warn_shapes(m);
    if (open && !o->model.lenient) {
        fprintf(stderr,
                "rattleback poses: the centre of mass is not known; --lenient drops it all the "
                "same\n");
        rb_model_free(m, NULL);
        return NULL;
    }
    if (physics && !o->model.lenient) {
        fprintf(stderr,
                "rattleback poses: the motion would not be that of %s; --lenient drops it "
                "all the same\n",
                o->file);
        rb_model_free(m, NULL);
        return NULL;
    }
    return m;
}
