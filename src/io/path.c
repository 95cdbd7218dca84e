/* for realpath */
#define _XOPEN_SOURCE 700

#include "io/path.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/context.h"

/* Folders above the model in which packages are looked for: example-robot-data needs three. */
enum { LEVELS_ABOVE = 8 };

/* ---- paths as text ---- */

/* Appends one component to a normalised path; ".." removes the last one where there is one that is
 * not ".." itself. */
static rb_status append(char out[RB_IO_PATH_MAX], const char *part, size_t length)
{
    size_t used = strlen(out);
    if (length == 0 || (length == 1 && part[0] == '.')) return RB_OK;
    if (length == 2 && part[0] == '.' && part[1] == '.') {
        char *slash = strrchr(out, '/');
        char *last = slash ? slash + 1 : out;
        if (out[0] == '/' && last == out + 1) {
            *last = '\0';
            return RB_OK;
        }
        if (*last && strcmp(last, "..") != 0) {
            *(slash ? slash : out) = '\0';
            if (slash == out) strcpy(out, "/");
            return RB_OK;
        }
    }
    int separated = used > 0 && out[used - 1] != '/';
    if (used + (size_t)separated + length >= RB_IO_PATH_MAX) return RB_TOO_LARGE;
    if (separated) out[used++] = '/';
    memcpy(out + used, part, length);
    out[used + length] = '\0';
    return RB_OK;
}

static rb_status append_all(char out[RB_IO_PATH_MAX], const char *path)
{
    while (*path) {
        size_t length = strcspn(path, "/");
        rb_status status = append(out, path, length);
        if (status != RB_OK) return status;
        path += length;
        path += strspn(path, "/");
    }
    return RB_OK;
}

rb_status rb_io_path_join(const char *folder, const char *path, char out[RB_IO_PATH_MAX])
{
    const char *start = path[0] == '/' || !folder ? "" : folder;
    strcpy(out, path[0] == '/' || start[0] == '/' ? "/" : "");
    rb_status status = append_all(out, start);
    if (status == RB_OK) status = append_all(out, path);
    if (status == RB_OK && out[0] == '\0') strcpy(out, ".");
    return status;
}

rb_status rb_io_path_folder(const char *path, char out[RB_IO_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= RB_IO_PATH_MAX) return RB_TOO_LARGE;
    if (slash == path) length = 1;
    char folder[RB_IO_PATH_MAX];
    memcpy(folder, path, length);
    folder[length] = '\0';
    return rb_io_path_join(NULL, folder, out);
}

const char *rb_io_path_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\') name = c + 1;
    return name;
}

void rb_io_path_extension(const char *path, char out[8])
{
    const char *dot = strrchr(rb_io_path_name(path), '.');
    size_t length = dot ? strlen(dot + 1) : 0;
    if (length >= 8) length = 0;
    for (size_t i = 0; i < length; i++) out[i] = (char)tolower((unsigned char)dot[1 + i]);
    out[length] = '\0';
}

/* From the current folder where it is relative, so that two spellings can be compared. */
static rb_status absolute(const char *path, char out[RB_IO_PATH_MAX])
{
    char here[RB_IO_PATH_MAX];
    if (path[0] != '/' && !getcwd(here, sizeof here)) return RB_TOO_LARGE;
    return rb_io_path_join(path[0] == '/' ? NULL : here, path, out);
}

/* Whether `path` is `root` or below it; both absolute. */
static int is_below(const char *root, const char *path)
{
    size_t length = strlen(root);
    if (length == 1) return 1;
    return strncmp(root, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* ---- references ---- */

/* One reference on its way to a file; folders are absolute. */
typedef struct lookup {
    const rb_io_search *search;
    const char *reference;
    const rb_where *where;
    rb_error *err;
    char folder[RB_IO_PATH_MAX]; /* of the model                    */
    char base[RB_IO_PATH_MAX];   /* where relative paths start      */
    char given[RB_IO_PATH_MAX];  /* the same as the user spelled it */
} lookup;

static rb_status refuse(const lookup *look, rb_status status, const char *reason)
{
    return rb_io_error_set(look->err, status, look->where->file, look->where->line,
                           "file \"%.160s\": %s", look->reference, reason);
}

static rb_status refuse_length(const lookup *look)
{
    return refuse(look, RB_TOO_LARGE, "the path is longer than 4095 bytes");
}

/* DIR of the package entry: what follows '=' in "NAME=DIR", the whole entry otherwise. */
static const char *package_folder(const char *entry)
{
    const char *equals = strchr(entry, '=');
    return equals ? equals + 1 : entry;
}

static int is_below_a_root(const lookup *look, const char *path)
{
    if (is_below(look->folder, path) || is_below(look->base, path)) return 1;
    for (const char *const *entry = look->search->packages; entry && *entry; entry++) {
        char root[RB_IO_PATH_MAX];
        if (absolute(package_folder(*entry), root) == RB_OK && is_below(root, path)) return 1;
    }
    return 0;
}

/* Whether DIR/rest is a file; confined: `rest` may not leave DIR. */
static int found_in(int confined, const char *folder, const char *rest, char out[RB_IO_PATH_MAX])
{
    char root[RB_IO_PATH_MAX], path[RB_IO_PATH_MAX];
    if (absolute(folder, root) != RB_OK || rb_io_path_join(root, rest, path) != RB_OK) return 0;
    if ((confined && !is_below(root, path)) || !is_file(path)) return 0;
    strcpy(out, path);
    return 1;
}

/* The model's folder and those above it: NAME/rest where a name is given, then rest. */
static int found_above(const lookup *look, const char *name, const char *rest,
                       char out[RB_IO_PATH_MAX])
{
    char above[RB_IO_PATH_MAX], inside[RB_IO_PATH_MAX];
    int confined = look->search->confined;
    strcpy(above, look->folder);
    for (int level = 0; level <= LEVELS_ABOVE && strcmp(above, "/") != 0; level++) {
        int named = name && rb_io_path_join(above, name, inside) == RB_OK;
        if (named && is_below(above, inside) && found_in(confined, inside, rest, out)) return 1;
        if (found_in(confined, above, rest, out)) return 1;
        append(above, "..", 2);
    }
    return 0;
}

/* package://NAME/rest and model://NAME/rest. */
static rb_status resolve_package(const lookup *look, const char *address, char out[RB_IO_PATH_MAX])
{
    address += strspn(address, "/");
    size_t length = strcspn(address, "/");
    const char *rest = address + length + strspn(address + length, "/");
    char name[RB_IO_PATH_MAX], inside[RB_IO_PATH_MAX];
    int confined = look->search->confined;
    if (length >= sizeof name) return refuse_length(look);
    memcpy(name, address, length);
    name[length] = '\0';
    if (length == 0 || !*rest || strcmp(name, "..") == 0)
        return refuse(look, RB_BAD_INPUT, "expected package://NAME/path");

    for (const char *const *entry = look->search->packages; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals) {
            int same = (size_t)(equals - *entry) == length && !strncmp(*entry, name, length);
            if (same && found_in(confined, equals + 1, rest, out)) return RB_OK;
            continue;
        }

        /* the folder that holds the package, or the package's own */
        if (rb_io_path_join(*entry, name, inside) == RB_OK && found_in(confined, inside, rest, out))
            return RB_OK;
        if (!strcmp(rb_io_path_name(*entry), name) && found_in(confined, *entry, rest, out))
            return RB_OK;
    }
    if (found_above(look, name, rest, out)) return RB_OK;
    return refuse(look, RB_FILE,
                  "not found in the package folders given nor in the folders above the model; "
                  "give the package as NAME=FOLDER");
}

/* base/path as the system reads it: ".." after a link leaves the target folder of the link. */
static int found_by_system(const lookup *look, const char *path, char out[RB_IO_PATH_MAX])
{
    int written = snprintf(out, RB_IO_PATH_MAX, "%s/%s", look->base, path);
    return written < RB_IO_PATH_MAX && !look->search->confined && path[0] != '/' && is_file(out);
}

static rb_status resolve_plain(const lookup *look, const char *path, char out[RB_IO_PATH_MAX])
{
    char full[RB_IO_PATH_MAX], reason[sizeof look->err->text];
    if (rb_io_path_join(look->base, path, full) != RB_OK) return refuse_length(look);
    if (look->search->confined && !is_below_a_root(look, full))
        return refuse(look, RB_BAD_INPUT,
                      "outside of the model's folder; move it there or give its folder as a "
                      "package folder");

    /* the spelling of the user is kept in messages where it names the same file */
    if (is_file(full)) return rb_io_path_join(look->given, path, out);
    if (found_by_system(look, path, out)) return RB_OK;
    int climb = look->search->climb && path[0] != '/';
    if (climb && found_above(look, NULL, path, out)) return RB_OK;
    snprintf(reason, sizeof reason, "no such file; looked for %.240s%s", full,
             climb ? " and in the folders above the model" : "");
    return refuse(look, RB_FILE, reason);
}

static rb_status begin(lookup *look, const char *base)
{
    rb_status status = rb_io_path_folder(look->search->model, look->given);
    if (status == RB_OK) status = absolute(look->given, look->folder);
    if (status == RB_OK && base) status = rb_io_path_join(NULL, base, look->given);
    if (status == RB_OK) status = absolute(look->given, look->base);
    return status == RB_OK ? RB_OK : refuse_length(look);
}

/* Length of "scheme://", 0 where there is none. */
static size_t scheme_length(const char *reference)
{
    size_t n = 0;
    while (isalpha((unsigned char)reference[n])) n++;
    return n > 0 && strncmp(reference + n, "://", 3) == 0 ? n + 3 : 0;
}

rb_status rb_io_path_check(const rb_io_search *search, const char *path, const rb_where *where,
                           rb_error *err)
{
    if (!search->sandbox) return RB_OK;
    lookup look = { .search = search, .reference = path, .where = where, .err = err };
    char reason[sizeof err->text];
    char *root = realpath(search->sandbox, NULL), *real = realpath(path, NULL);
    int inside = root && real && is_below(root, real);
    snprintf(reason, sizeof reason,
             root ? "outside of the folder %.240s, to which files are kept"
                  : "files are kept to the folder %.240s, which does not exist",
             search->sandbox);
    free(root);
    free(real);
    return inside ? RB_OK : refuse(&look, RB_BAD_INPUT, reason);
}

static rb_status resolve(const rb_io_search *search, const char *base, const char *reference,
                         const rb_where *where, char out[RB_IO_PATH_MAX], rb_error *err)
{
    lookup look = { .search = search, .reference = reference, .where = where, .err = err };
    out[0] = '\0';
    if (!search->model)
        return refuse(&look, RB_BAD_INPUT, "a model in memory without a path opens no other files");
    if (reference[0] == '\0') return refuse(&look, RB_BAD_INPUT, "expected the name of a file");
    rb_status status = begin(&look, base);
    if (status != RB_OK) return status;

    /* files written on Windows separate folders by backslashes */
    char path[RB_IO_PATH_MAX];
    if (strlen(reference) >= sizeof path) return refuse_length(&look);
    strcpy(path, reference);
    for (char *c = path; *c; c++)
        if (*c == '\\') *c = '/';

    size_t scheme = scheme_length(path);
    if (scheme == 0) return resolve_plain(&look, path, out);
    if (!strncmp(path, "package:", 8) || !strncmp(path, "model:", 6))
        return resolve_package(&look, path + scheme, out);
    if (!strncmp(path, "file:", 5)) return resolve_plain(&look, path + scheme, out);
    return refuse(&look, RB_UNSUPPORTED, "expected a path, file://, package:// or model://");
}

rb_status rb_io_path_resolve(const rb_io_search *search, const char *base, const char *reference,
                             const rb_where *where, char out[RB_IO_PATH_MAX], rb_error *err)
{
    rb_status status = resolve(search, base, reference, where, out, err);
    if (status == RB_OK) status = rb_io_path_check(search, out, where, err);
    if (status != RB_OK) out[0] = '\0';
    if (status == RB_OK && search->found) search->found(search->found_ctx, out);
    return status;
}

/* ---- bytes ---- */

/* RB_OK and the size, or why this is not a file to be read. */
static rb_status measure(int fd, size_t limit, size_t *size, const char **reason)
{
    struct stat info;
    *reason = "cannot be read";
    if (fstat(fd, &info) != 0) return RB_FILE;
    *reason = "is not a regular file";
    if (!S_ISREG(info.st_mode)) return RB_FILE;
    *size = (size_t)info.st_size;
    *reason = "is larger than the limit";
    return info.st_size < 0 || *size > limit ? RB_TOO_LARGE : RB_OK;
}

/* Up to `size` bytes; the number that were there, or -1. A file that grows meanwhile is cut. */
static ptrdiff_t read_all(int fd, char *bytes, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(fd, bytes + used, size - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        used += (size_t)got;
    }
    bytes[used] = '\0';
    return (ptrdiff_t)used;
}

const char *rb_io_path_looked(const char *path, char out[RB_IO_PATH_MAX + 16])
{
    char full[RB_IO_PATH_MAX];
    int missing = errno == ENOENT && path[0] != '/' && absolute(path, full) == RB_OK;
    snprintf(out, RB_IO_PATH_MAX + 16, missing ? "; looked for %s" : "%s", missing ? full : "");
    return out;
}

rb_status rb_io_file_read(const char *path, size_t limit, const rb_where *where,
                          const rb_alloc *alloc, char **bytes, size_t *size, rb_error *err)
{
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    const char *file = where ? where->file : path;
    int line = where ? where->line : 0;
    *bytes = NULL;
    *size = 0;

    /* a pipe is opened without waiting for its other end */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        char place[RB_IO_PATH_MAX + 16];
        return rb_io_error_set(err, RB_FILE, file, line, "file \"%.200s\": %s%s", path,
                               strerror(errno), rb_io_path_looked(path, place));
    }
    const char *reason = NULL;
    rb_status status = measure(fd, limit, size, &reason);
    char *block = NULL;
    if (status == RB_OK) {
        block = memory.alloc(memory.ctx, *size + 1);
        ptrdiff_t got = block ? read_all(fd, block, *size) : -1;
        reason = block ? "cannot be read" : "out of memory";
        status = !block ? RB_NOMEM : got < 0 ? RB_FILE : RB_OK;
        if (got >= 0) *size = (size_t)got;
    }
    close(fd);
    if (status == RB_OK) {
        *bytes = block;
        return RB_OK;
    }
    if (block) memory.release(memory.ctx, block);
    *size = 0;
    return rb_io_error_set(err, status, file, line, "file \"%.200s\" %s", path, reason);
}
