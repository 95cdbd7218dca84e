/* A mesh as a part on a floor: MJCF that names it, read in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/io.h"
#include "rattleback/poses.h"

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

/* NULL: no memory. */
static char *write_model(const char *name, double scale, double density, const char *inertia,
                         size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) return NULL;
    fputs("<mujoco model=\"part\">\n<asset><mesh name=\"part\" file=\"", out);
    put_escaped(out, name);
    fputs("\" scale=\"", out);
    for (int i = 0; i < 3; i++) {
        rb_json_put_number(out, scale); /* independent of the locale */
        putc(' ', out);
    }
    fprintf(out,
            "\" inertia=\"%s\"/></asset>\n"
            "<worldbody>\n<geom name=\"floor\" type=\"plane\" size=\"0 0 1\" friction=\"0.3\"/>\n"
            "<body name=\"part\"><freejoint/>"
            "<geom type=\"mesh\" mesh=\"part\" friction=\"0.3\" density=\"",
            inertia);
    rb_json_put_number(out, density);
    fputs("\"/></body>\n</worldbody>\n"
          "<custom><numeric name=\"rb.restitution\" data=\"0.3\"/></custom>\n</mujoco>\n",
          out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

rb_spec *rb_part_spec(const char *mesh, double scale, double density, const char *inertia,
                      const rb_load_opts *load, rb_error *err)
{
    rb_load_opts o = load ? *load : rb_load_opts_default();
    size_t size = 0;
    const char *slash = strrchr(mesh, '/');
    o.all_objects = 1; /* a part of several pieces is all of them */
    char *text = write_model(slash ? slash + 1 : mesh, scale, density, inertia, &size);
    rb_spec *spec = text ? rb_spec_read_memory(text, size, mesh, &o, NULL, err) : NULL;
    if (!text) *err = (rb_error){ .status = RB_NOMEM, .text = "out of memory" };
    free(text);
    if (spec && rb_spec_hulls(spec, err) == RB_OK) return spec;
    rb_spec_free(spec);
    return NULL;
}
