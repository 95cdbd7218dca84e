/* What the tests of the MJCF reader share: models from text or from tests/data/mjcf, and their
 * elements by name. */
#ifndef RB_TESTS_MJCF_SUPPORT_H
#define RB_TESTS_MJCF_SUPPORT_H

#include "rattleback/dynamics.h"
#include "rattleback/load.h"
#include "rattleback/model.h"
#include "test.h"

static inline void say_error(const rb_error *err)
{
    print_error("%s:%d: %s\n", err->file, err->line, err->text);
}

static inline const char *mjcf_path(const char *file)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/mjcf/%s", RB_DATA_DIR, file);
    return path;
}

/* A file of tests/data/mjcf, or any path. */
static inline rb_spec *read_path(const char *path)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read(path, NULL, NULL, &err);
    if (!spec) say_error(&err);
    CHECK(spec != NULL);
    return spec;
}

static inline rb_spec *read_file(const char *file)
{
    return read_path(mjcf_path(file));
}

static inline rb_spec *read_text(const char *text)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, NULL, NULL, &err);
    if (!spec) say_error(&err);
    CHECK(spec != NULL);
    return spec;
}

/* Takes the spec. */
static inline rb_model *compile(rb_spec *spec)
{
    rb_error err = { 0 };
    if (rb_spec_hulls(spec, &err) != RB_OK) say_error(&err);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) say_error(&err);
    CHECK(m != NULL);
    rb_spec_free(spec);
    return m;
}

static inline int index_of(const rb_model *m, rb_kind kind, const char *name)
{
    int index = rb_model_find(m, kind, name);
    if (index < 0) print_error("there is no %s %s\n", rb_kind_text(kind), name);
    CHECK(index >= 0);
    return index;
}

static inline void check_vector(const double *a, int n, const double *b, double tol)
{
    for (int k = 0; k < n; k++) CHECK_NEAR(a[k], b[k], tol);
}

#define CHECK_VECTOR(a, tol, ...)                                                                  \
    do {                                                                                           \
        const double expected[] = { __VA_ARGS__ };                                                 \
        check_vector((a), (int)(sizeof expected / sizeof *expected), expected, (tol));             \
    } while (0)

/* Text inside <mujoco>, refused on that line of it with these words. */
static inline void check_refused(const char *inside, int line, const char *words)
{
    char text[8192];
    rb_error err = { 0 };
    snprintf(text, sizeof text, "<mujoco>%s</mujoco>", inside);
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), "m.xml", NULL, NULL, &err);
    rb_model *m = NULL;
    if (spec) m = rb_spec_compile(spec, NULL, &err);
    if (m) print_error("accepted: %s\n", inside);
    CHECK(m == NULL);
    if (!strstr(err.text, words) || err.line != line) say_error(&err);
    CHECK_CONTAINS(err.text, words);
    CHECK_STR(err.file, "m.xml");
    CHECK_INT(err.line, line);
    rb_spec_free(spec);
}

#endif
