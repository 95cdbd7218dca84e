/* The model of `rattleback poses`: a file, or a mesh on a floor without one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poses.h"

/* A file name inside an attribute. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>&\"'", *text) || (unsigned char)*text < 0x20)
            fprintf(out, "&#%d;", (unsigned char)*text);
        else
            putc(*text, out);
    }
}

/* MJCF that names the mesh, in memory; NULL: no memory. */
static char *write_model(const poses_options *o, const char *name, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) return NULL;
    fputs("<mujoco model=\"part\">\n<asset><mesh name=\"part\" file=\"", out);
    put_escaped(out, name);
    fprintf(out,
            "\" scale=\"%.17g %.17g %.17g\" inertia=\"%s\"/></asset>\n"
            "<worldbody>\n<geom name=\"floor\" type=\"plane\" size=\"0 0 1\" friction=\"0.3\"/>\n"
            "<body name=\"part\"><freejoint/>"
            "<geom type=\"mesh\" mesh=\"part\" density=\"%.17g\" friction=\"0.3\"/></body>\n"
            "</worldbody>\n"
            "<custom><numeric name=\"rb.restitution\" data=\"0.3\"/></custom>\n</mujoco>\n",
            o->scale, o->scale, o->scale, o->inertia, o->density);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

static rb_model *load_mesh(poses_options *o)
{
    rb_error err = { 0 };
    rb_model *m = NULL;
    size_t size = 0;
    const char *slash = strrchr(o->file, '/');
    o->model.load.all_objects = 1; /* a part of several pieces is all of them */
    char *text = write_model(o, slash ? slash + 1 : o->file, &size);
    rb_spec *spec =
        text ? rb_spec_read_memory(text, size, o->file, &o->model.load, NULL, &err) : NULL;
    if (spec && rb_spec_hulls(spec, &err) == RB_OK) m = rb_spec_compile(spec, NULL, &err);
    rb_spec_free(spec);
    free(text);
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
