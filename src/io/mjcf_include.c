/* Replaces every <include file="..."/> by the elements inside the root of that file.
 *
 * As in MuJoCo, a path is first tried from the folder of the main model, then from that of the file
 * that holds the element, and a file may be included once: that also ends every circle. */
#include "io/mjcf.h"

static rb_status find_file(rb_mjcf *r, const rb_xml_node *node, char path[RB_IO_PATH_MAX])
{
    const char *file;
    RB_TRY(rb_xml_need(node, "file", &file, r->err));
    rb_where where = rb_mjcf_where(node);
    rb_status status = rb_io_path_resolve(&r->search, NULL, file, &where, path, r->err);
    if (status == RB_OK || !node->file || !r->search.model) return status;

    char folder[RB_IO_PATH_MAX];
    rb_error first = *r->err;
    if (rb_io_path_folder(node->file, folder) != RB_OK) return status;
    if (rb_io_path_resolve(&r->search, folder, file, &where, path, r->err) == RB_OK) return RB_OK;
    *r->err = first;
    return status;
}

/* The file as a tree that lives as long as the reading. */
static rb_status parse_file(rb_mjcf *r, const rb_xml_node *node, const char *path, rb_xml_doc **doc)
{
    char *bytes = NULL;
    size_t size = 0;
    rb_where where = rb_mjcf_where(node);
    const rb_alloc *a = &r->doc->alloc;
    RB_TRY(rb_io_file_read(path, RB_LOAD_MAX_FILE, &where, a, &bytes, &size, r->err));

    r->top->nbyte += size;
    rb_status status = RB_OK;
    if (r->top->nbyte > RB_LOAD_MAX_FILE)
        status = rb_xml_refuse(node, "file", r->err, RB_TOO_LARGE,
                               "all files of the model have more than %zu bytes", RB_LOAD_MAX_FILE);
    else if (!(*doc = rb_xml_parse(bytes, size, path, a, r->err)))
        status = r->err->status;
    a->release(a->ctx, bytes);
    if (status != RB_OK) return status;
    r->top->included[r->top->nincluded++] = *doc;
    return rb_mjcf_count(r, node, (*doc)->nelement);
}

rb_status rb_mjcf_parse(rb_mjcf *r, const rb_xml_node *node, char path[RB_IO_PATH_MAX],
                        rb_xml_doc **doc)
{
    RB_TRY(find_file(r, node, path));
    if (r->top->nincluded == RB_LOAD_MAX_INCLUDES)
        return rb_xml_refuse(node, NULL, r->err, RB_TOO_LARGE, "more than %d files",
                             RB_LOAD_MAX_INCLUDES);
    return parse_file(r, node, path, doc);
}

/* The tree of the file that `node` names; it belongs to the reader. */
static rb_status open_include(rb_mjcf *r, const rb_xml_node *node, rb_xml_node **root)
{
    char path[RB_IO_PATH_MAX];
    RB_TRY(rb_xml_check_attrs(node, "file", r->err));
    if (node->child) return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "cannot have children");
    RB_TRY(find_file(r, node, path));
    if (rb_mjcf_map_get(r, RB_MJCF_FILES, path))
        return rb_xml_refuse(node, "file", r->err, RB_BAD_INPUT,
                             "\"%.200s\" is included already; a file can be included once", path);
    RB_TRY(rb_mjcf_map_put(r, RB_MJCF_FILES, path, r));

    rb_xml_doc *doc = NULL;
    RB_TRY(rb_mjcf_parse(r, node, path, &doc));
    *root = doc->root;
    return RB_OK;
}

/* Puts the children of `root` in the place of `node`, after `before` (NULL: first). */
static void splice(rb_xml_node *parent, rb_xml_node *before, rb_xml_node *node, rb_xml_node *root)
{
    for (rb_xml_node *child = root->child; child; child = child->next) child->parent = parent;
    rb_xml_node *first = root->child ? root->child : node->next;
    if (root->child) root->last_child->next = node->next;
    if (before)
        before->next = first;
    else
        parent->child = first;
    if (!node->next) parent->last_child = root->child ? root->last_child : before;
}

static rb_status expand(rb_mjcf *r, rb_xml_node *node, int depth)
{
    if (depth > RB_LOAD_MAX_DEPTH)
        return rb_xml_refuse(node, NULL, r->err, RB_TOO_LARGE, "is nested deeper than %d elements",
                             RB_LOAD_MAX_DEPTH);
    rb_xml_node *before = NULL;
    rb_xml_node *child = node->child;
    while (child) {
        if (rb_xml_is(child, "include")) {
            rb_xml_node *root = NULL;
            RB_TRY(open_include(r, child, &root));
            splice(node, before, child, root);
            child = before ? before->next : node->child;
        } else {
            RB_TRY(expand(r, child, depth + 1));
            before = child;
            child = child->next;
        }
    }
    return RB_OK;
}

rb_status rb_mjcf_include(rb_mjcf *r, rb_xml_node *root)
{
    char path[RB_IO_PATH_MAX];
    if (r->search.model && rb_io_path_join(NULL, r->search.model, path) == RB_OK)
        RB_TRY(rb_mjcf_map_put(r, RB_MJCF_FILES, path, r));
    return expand(r, root, 1);
}
