/* Models for other languages: read with plain arguments, made from bytes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/flat.h"
#include "rattleback/front.h"

rb_spec *rb_flat_read(const char *path, const char *text, size_t size, const char *const *packages,
                      const char *sandbox, unsigned flags, double friction, double ground,
                      rb_error *err)
{
    rb_read_opts o = rb_read_opts_default();
    o.load.packages = packages;
    o.load.sandbox = sandbox;
    o.load.floating_base = (flags & RB_READ_FLOATING_BASE) != 0;
    o.load.snap_angles = (flags & RB_READ_SNAP_ANGLES) != 0;
    if (!isnan(friction)) o.load.friction = friction;
    o.has_ground = !isnan(ground);
    o.ground = ground;
    return rb_front_read(path, text, size, &o, err);
}

rb_model *rb_flat_compile(rb_spec *spec, int keep_overlap, rb_error *err)
{
    if (rb_spec_hulls(spec, err) != RB_OK) return NULL;
    return rb_front_compile(spec, keep_overlap, err);
}

rb_model *rb_flat_model_from(const void *bytes, size_t size)
{
    enum { ALIGN = 64 };
    char *raw = malloc(size + ALIGN);
    if (!raw) return NULL;
    void *block = raw + (ALIGN - (uintptr_t)raw % ALIGN) % ALIGN;
    memcpy(block, bytes, size);
    const rb_model *view = rb_model_view(block, size);
    rb_model *m = view ? rb_model_copy(view, NULL) : NULL;
    free(raw);
    return m;
}
