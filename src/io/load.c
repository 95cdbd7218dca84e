/* Model files: which format, and the spec that comes out. */
#include "rattleback/load.h"

#include <string.h>

#include "io/context.h"
#include "io/mjcf.h"
#include "io/path.h"
#include "io/snap.h"
#include "io/tendon_branches.h"
#include "io/urdf.h"
#include "model/spec.h"

rb_load_opts rb_load_opts_default(void)
{
    return (rb_load_opts){ .friction = 0.5 };
}

static rb_status read_document(rb_xml_doc *doc, const rb_io_search *search,
                               const rb_load_opts *opts, rb_spec *spec, rb_error *err)
{
    const rb_xml_node *root = doc->root;
    if (rb_xml_is(root, "mujoco")) return rb_io_mjcf_read(doc, search, opts, spec, err);
    if (rb_xml_is(root, "robot")) return rb_io_urdf_read(doc, search, opts, spec, err);
    return rb_xml_refuse(root, NULL, err, RB_BAD_INPUT,
                         "is no model: expected <mujoco> (MJCF) or <robot> (URDF)");
}

static rb_spec *read_bytes(const char *bytes, size_t size, const rb_io_search *search,
                           const rb_load_opts *opts, const rb_alloc *alloc, rb_error *err)
{
    rb_load_opts defaults = rb_load_opts_default();
    const char *path = search->model;
    if (size > RB_LOAD_MAX_FILE) {
        rb_io_error_set(err, RB_TOO_LARGE, path, 0, "%zu bytes, at most %zu are read", size,
                        RB_LOAD_MAX_FILE);
        return NULL;
    }
    rb_xml_doc *doc = rb_xml_parse(bytes, size, path, alloc, err);
    if (!doc) return NULL;

    rb_spec *spec = rb_spec_new(alloc);
    rb_status status = RB_NOMEM;
    if (spec)
        status = read_document(doc, search, opts ? opts : &defaults, spec, err);
    else
        rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory");
    rb_xml_free(doc);
    if (status == RB_OK && rb_io_tendon_branches(spec) != RB_OK)
        status = rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory");
    if (status == RB_OK && rb_io_snap_angles(spec, opts && opts->snap_angles) != RB_OK)
        status = rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory");
    if (status == RB_OK) {
        spec->make_hulls = rb_spec_hulls;
        return spec;
    }
    rb_spec_free(spec);
    return NULL;
}

rb_spec *rb_spec_read_memory(const char *bytes, size_t size, const char *path,
                             const rb_load_opts *opts, const rb_alloc *alloc, rb_error *err)
{
    rb_io_search search = { .model = path,
                            .packages = opts ? opts->packages : NULL,
                            .sandbox = opts ? opts->sandbox : NULL,
                            .confined = 1,
                            .found = opts ? opts->found : NULL,
                            .found_ctx = opts ? opts->found_ctx : NULL };
    return read_bytes(bytes, size, &search, opts, alloc, err);
}

rb_spec *rb_spec_read(const char *path, const rb_load_opts *opts, const rb_alloc *alloc,
                      rb_error *err)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    char *bytes = NULL;
    size_t size = 0;
    rb_where where = { path, 0 };
    rb_io_search search = { .model = path,
                            .packages = opts ? opts->packages : NULL,
                            .sandbox = opts ? opts->sandbox : NULL,
                            .found = opts ? opts->found : NULL,
                            .found_ctx = opts ? opts->found_ctx : NULL };
    if (rb_io_path_check(&search, path, &where, err) != RB_OK) return NULL;
    if (rb_io_file_read(path, RB_LOAD_MAX_FILE, NULL, &a, &bytes, &size, err) != RB_OK) return NULL;
    rb_spec *spec = read_bytes(bytes, size, &search, opts, &a, err);
    a.release(a.ctx, bytes);
    return spec;
}
