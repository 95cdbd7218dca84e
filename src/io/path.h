/* Paths of the files that a model names.
 *
 * "." and ".." of a reference are resolved in the text. A model read from a file may name any file,
 * as in MuJoCo, unless it is kept to a folder (sandbox): there the path with all links resolved
 * must lie. A model in memory is confined to its roots: the folder of its path, the folder a reader
 * starts from (meshdir), the package folders of rb_load_opts and the folder in which a package://
 * was found; links are followed there: a user who can place a link below a root can place the file
 * itself. Only regular files are read, so that neither a pipe nor a device can hang a reader. */
#ifndef RATTLEBACK_SRC_IO_PATH_H
#define RATTLEBACK_SRC_IO_PATH_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

/* Longest path, final zero included; longer ones are refused. */
enum { RB_IO_PATH_MAX = 4096 };

/* Where a model may look for other files. */
typedef struct rb_io_search {
    const char *model;           /* path of the main model file; NULL: nothing may be opened */
    const char *const *packages; /* as in rb_load_opts, may be NULL                          */
    const char *sandbox;         /* no file outside of this folder, links resolved; NULL: any */
    int confined;                /* no file outside of the roots                             */
    void (*found)(void *ctx, const char *path); /* as in rb_load_opts */
    void *found_ctx;
    int climb; /* relative paths, too, are looked for in the folders above the model (URDF)   */
} rb_io_search;

/* Folder of a file: "a/b.xml" -> "a", "b.xml" -> ".". RB_TOO_LARGE where it does not fit. */
rb_status rb_io_path_folder(const char *path, char out[RB_IO_PATH_MAX]);

/* folder/path with "." and ".." resolved in the text; an absolute path is unchanged. NULL or ""
 * as a folder is the current one. RB_TOO_LARGE where it does not fit. */
rb_status rb_io_path_join(const char *folder, const char *path, char out[RB_IO_PATH_MAX]);

/* What follows the last slash or backslash. */
const char *rb_io_path_name(const char *path);

/* Extension in lower case without its dot, "" where there is none or it is long. */
void rb_io_path_extension(const char *path, char out[8]);

/* The file of a reference: a relative or absolute path, file://, package:// or model://. The
 * latter two are looked for in the package folders, then in the model's folder and those above it,
 * as NAME/rest and as rest, eight levels at most and never in the file system's root. `base` is the
 * folder where relative paths start (meshdir joined to the model's folder), NULL: that of
 * the model. Refusals carry `where`, the element that names the file. RB_FILE: no such file;
 * RB_BAD_INPUT: outside of the roots or of the sandbox. */
rb_status rb_io_path_resolve(const rb_io_search *search, const char *base, const char *reference,
                             const rb_where *where, char out[RB_IO_PATH_MAX], rb_error *err);

/* RB_BAD_INPUT: the search has a sandbox, and the file is not in it. */
rb_status rb_io_path_check(const rb_io_search *search, const char *path, const rb_where *where,
                           rb_error *err);

/* The bytes of a file, a zero after them, to be released with `alloc`. Refuses what is not a
 * regular file or has more than `limit` bytes before it takes memory. `where` may be NULL: the
 * refusal then names the file itself. */
rb_status rb_io_file_read(const char *path, size_t limit, const rb_where *where,
                          const rb_alloc *alloc, char **bytes, size_t *size, rb_error *err);

/* After an open that failed: "; looked for /full/path" where there is no such file and the path
 * was relative, else "". */
const char *rb_io_path_looked(const char *path, char out[RB_IO_PATH_MAX + 16]);

#endif
