/* Model files: MJCF and URDF to rb_spec, meshes in STL, OBJ and COLLADA. Part of rattleback_io.
 *
 * Files are not trusted: every budget below is checked before memory of a declared size is taken,
 * there is no DTD and no external entity. A model read from a file may name any regular file, as in
 * MuJoCo, unless `sandbox` keeps it to a folder; a model in memory opens files below the folder of
 * its path, its meshdir, and the package folders given only. What a file asks for and is not
 * supported becomes a warning of the spec. Manual: docs/manual/model-files.md. */
#ifndef RATTLEBACK_LOAD_H
#define RATTLEBACK_LOAD_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RB_LOAD_MAX_FILE     ((size_t)64 << 20)  /* bytes of all XML files of a model            */
#define RB_LOAD_MAX_MESH     ((size_t)256 << 20) /* bytes of one mesh file                      */
#define RB_LOAD_MAX_DEPTH    1024                /* nested elements                             */
#define RB_LOAD_MAX_ELEMENTS ((size_t)1 << 20)   /* elements of a model, after include, replicate */
#define RB_LOAD_MAX_INCLUDES 256                 /* files of a model, meshes not counted        */
#define RB_LOAD_MAX_FACES    ((size_t)4 << 20)   /* triangles of one mesh                       */

/* Start from rb_load_opts_default(). */
typedef struct rb_load_opts {
    /* "package://NAME/rest" is looked up as DIR/rest where entry k of packages is "NAME=DIR", as
     * DIR/NAME/rest where it is a folder "DIR", then in the folders above the model file. */
    const char *const *packages; /* NULL-terminated list, or NULL */
    const char *sandbox; /* no file outside of this folder is opened, links resolved; NULL: any */
    int floating_base;   /* URDF: give the root link a free joint                       */
    double friction;     /* URDF: sliding coefficient of all geoms                      */
    int snap_angles; /* 1: frames that miss a right angle by rounding are corrected; 0: a warning */
    int skip_meshes; /* do not open mesh files: geoms that need them are left out   */
    int all_objects; /* MJCF: all objects of an OBJ file; 0: the first, as MuJoCo    */
    int visuals;     /* URDF: <visual> elements become geoms that touch nothing     */

    /* called for each file that the model names and that was found; may be NULL */
    void (*found)(void *ctx, const char *path);
    void *found_ctx;
} rb_load_opts;

rb_load_opts rb_load_opts_default(void);

/* Reads a model; <mujoco> as root element: MJCF, <robot>: URDF. NULL: see err. */
rb_spec *rb_spec_read(const char *path, const rb_load_opts *opts, const rb_alloc *alloc,
                      rb_error *err);

/* The same for a file in memory; `path` names it in messages and is where relative paths start:
 * what is not below its folder or a package folder is refused. NULL: nothing else may be opened. */
rb_spec *rb_spec_read_memory(const char *bytes, size_t size, const char *path,
                             const rb_load_opts *opts, const rb_alloc *alloc, rb_error *err);

/* Makes convex hulls, by Qhull, of meshes that need one for contact or mass and have none; coplanar
 * facets are merged. A mesh without volume on a body that moves is refused with its file and line.
 * rb_spec_compile calls it for specs that were read from files, so that only specs made by hand
 * need it; calling it before shows the warnings about meshes that are not convex. */
rb_status rb_spec_hulls(rb_spec *spec, rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
