/* COLLADA geometry: every instance of every mesh in the scene, in one mesh in metres with z up.
 *
 *     vertex = unit * up * (product of the transforms from the scene down to the node) * position
 *
 * Read are triangles, polylist, polygons, tristrips and trifans; lines are skipped. Without a
 * scene every geometry is taken as written. A node can be instanced many times by a short file,
 * so the nodes visited and the characters read are counted. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/dae_index.h"
#include "io/mesh_build.h"
#include "io/xml.h"
#include "math/trig.h"
#include "rattleback/load.h"

/* Nodes of the scene, instances counted as often as they are used, and their nesting. */
enum { MOST_VISITS = 1 << 18, MOST_NESTING = 128 };

/* Corners of one polygon and numbers per corner. */
enum { MOST_CORNERS = 65536, MOST_INPUTS = 64 };

#define RADIANS_PER_DEGREE 0.017453292519943295

/* An affine map: rows of 4. */
typedef struct affine {
    double m[12];
} affine;

typedef struct reader {
    rb_io_soup *soup;
    rb_xml_doc *doc;
    rb_io_dae_index index;
    size_t visits;
    size_t characters; /* read so far, instances counted as often as they are used */
    size_t instances;
    int *corner; /* of one polygon (MOST_CORNERS) */
} reader;

/* ---- affine maps ---- */

static const affine identity = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };

static affine compose(const affine *a, const affine *b)
{
    affine c;
    for (int i = 0; i < 3; i++) {
        const double *row = a->m + 4 * i;
        for (int j = 0; j < 4; j++)
            c.m[4 * i + j] = row[0] * b->m[j] + row[1] * b->m[4 + j] + row[2] * b->m[8 + j] +
                             (j == 3 ? row[3] : 0.0);
    }
    return c;
}

static double determinant(const affine *a)
{
    const double *m = a->m;
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

/* x y z and an angle in degrees. */
static affine rotation(const double r[4])
{
    double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), s, c;
    if (!(length > 0.0)) return identity;
    double x = r[0] / length, y = r[1] / length, z = r[2] / length;
    rb_sincos(RADIANS_PER_DEGREE * r[3], &s, &c);
    double k = 1.0 - c;
    return (affine){ { c + k * x * x, k * x * y - s * z, k * x * z + s * y, 0.0, k * x * y + s * z,
                       c + k * y * y, k * y * z - s * x, 0.0, k * x * z - s * y, k * y * z + s * x,
                       c + k * z * z, 0.0 } };
}

/* ---- text ---- */

/* Numbers of a text, one after the other. */
typedef struct numbers {
    const rb_xml_node *node;
    const char *at, *end;
} numbers;

static numbers numbers_of(reader *r, const rb_xml_node *node)
{
    r->characters += node->text_length;
    return (numbers){ node, node->text, node->text + node->text_length };
}

static void skip_blanks(numbers *n)
{
    while (n->at < n->end && strchr(" \t\r\n", *n->at)) n->at++;
}

static int has_more(numbers *n)
{
    skip_blanks(n);
    return n->at < n->end;
}

static rb_status next_number(reader *r, numbers *n, double *out)
{
    skip_blanks(n);
    if (rb_xml_scan_number(&n->at, n->end, out)) return RB_OK;
    return rb_xml_refuse(n->node, NULL, r->soup->err, RB_BAD_INPUT,
                         n->at == n->end ? "too few numbers" : "expected finite numbers");
}

/* An index 0 .. count - 1. */
static rb_status next_index(reader *r, numbers *n, size_t count, int *out)
{
    double x = 0.0;
    rb_status status = next_number(r, n, &x);
    if (status != RB_OK) return status;
    if (x < 0.0 || x >= (double)count || x != floor(x))
        return rb_xml_refuse(n->node, NULL, r->soup->err, RB_BAD_INPUT,
                             "index %g, expected a whole number below %zu", x, count);
    *out = (int)x;
    return RB_OK;
}

static rb_status fixed_numbers(reader *r, const rb_xml_node *node, int count, double *out)
{
    numbers n = numbers_of(r, node);
    rb_status status = RB_OK;
    for (int i = 0; i < count && status == RB_OK; i++) status = next_number(r, &n, out + i);
    return status;
}

static rb_status check_budget(reader *r, const rb_xml_node *node)
{
    if (r->visits <= MOST_VISITS && r->characters <= RB_LOAD_MAX_MESH) return RB_OK;
    return rb_xml_refuse(node, NULL, r->soup->err, RB_TOO_LARGE,
                         "the scene uses more than %d nodes or reads more than %zu characters, "
                         "instances counted each time",
                         (int)MOST_VISITS, RB_LOAD_MAX_MESH);
}

/* The element a reference names; refused where there is none of that name. */
static rb_status follow(reader *r, const rb_xml_node *node, const char *attr, const char *name,
                        const rb_xml_node **out)
{
    const char *reference = NULL;
    rb_status status = rb_xml_need(node, attr, &reference, r->soup->err);
    if (status != RB_OK) return status;
    *out = rb_io_dae_find(&r->index, reference);
    if (*out && rb_xml_is(*out, name)) return RB_OK;
    return rb_xml_refuse(node, attr, r->soup->err, RB_BAD_INPUT, "there is no <%s> with this id",
                         name);
}

/* ---- geometry ---- */

/* The <source> with the positions of a <vertices> element, or of the input itself. */
static rb_status find_positions(reader *r, const rb_xml_node *input, const rb_xml_node **source)
{
    const char *reference = NULL;
    rb_status status = rb_xml_need(input, "source", &reference, r->soup->err);
    if (status != RB_OK) return status;
    const rb_xml_node *vertices = rb_io_dae_find(&r->index, reference);
    if (!vertices || !rb_xml_is(vertices, "vertices"))
        return rb_xml_refuse(input, "source", r->soup->err, RB_BAD_INPUT,
                             "there is no <vertices> with this id");
    for (input = rb_xml_child(vertices, "input"); input; input = rb_xml_next(input)) {
        const char *semantic = rb_xml_get(input, "semantic");
        if (semantic && !strcmp(semantic, "POSITION"))
            return follow(r, input, "source", "source", source);
    }
    return rb_xml_refuse(vertices, NULL, r->soup->err, RB_BAD_INPUT,
                         "expected an <input semantic=\"POSITION\">");
}

/* How a source is laid out. */
typedef struct layout {
    int stride, offset;
} layout;

static rb_status read_layout(reader *r, const rb_xml_node *source, layout *out)
{
    *out = (layout){ 3, 0 };
    const rb_xml_node *technique = rb_xml_child(source, "technique_common");
    const rb_xml_node *accessor = technique ? rb_xml_child(technique, "accessor") : NULL;
    if (!accessor) return RB_OK;
    out->stride = 1;
    rb_status status = rb_xml_int(accessor, "stride", &out->stride, r->soup->err);
    if (status == RB_OK) status = rb_xml_int(accessor, "offset", &out->offset, r->soup->err);
    if (status != RB_OK) return status;
    if (out->stride < 3 || out->stride > MOST_INPUTS || out->offset < 0)
        return rb_xml_refuse(accessor, NULL, r->soup->err, RB_BAD_INPUT,
                             "positions need a stride of 3 or a little more and an offset >= 0");
    return RB_OK;
}

/* Appends the positions of a source, transformed; *count is how many there were. */
static rb_status add_positions(reader *r, const rb_xml_node *source, const affine *X, size_t *count)
{
    layout form;
    const rb_xml_node *array = rb_xml_child(source, "float_array");
    rb_status status = read_layout(r, source, &form);
    if (status != RB_OK) return status;
    if (!array)
        return rb_xml_refuse(source, NULL, r->soup->err, RB_BAD_INPUT, "expected a <float_array>");

    numbers n = numbers_of(r, array);
    double skipped, p[3], v[3];
    for (int i = 0; i < form.offset && status == RB_OK; i++) status = next_number(r, &n, &skipped);
    for (*count = 0; status == RB_OK && has_more(&n); ++*count) {
        for (int i = 0; i < form.stride && status == RB_OK; i++)
            status = next_number(r, &n, i < 3 ? p + i : &skipped);
        if (status != RB_OK) break;
        for (int i = 0; i < 3; i++) {
            const double *row = X->m + 4 * i;
            v[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
            if (v[i] - v[i] != 0.0)
                return rb_xml_refuse(array, NULL, r->soup->err, RB_BAD_INPUT,
                                     "a position is not finite after the transforms of its node");
        }
        status = rb_io_soup_vertex(r->soup, array->line, v);
    }
    return status;
}

/* The corners of one kind of primitive of a mesh. */
typedef struct primitive {
    const rb_xml_node *node;
    int inputs;   /* numbers per corner                                */
    int offset;   /* which of them is the vertex                       */
    size_t first; /* vertex 0 of its positions among those of the soup */
    size_t count; /* of its positions                                  */
    int turned;   /* the transform mirrors                             */
} primitive;

static rb_status read_inputs(reader *r, primitive *p, const rb_xml_node **vertex)
{
    *vertex = NULL;
    p->inputs = 1;
    for (const rb_xml_node *i = rb_xml_child(p->node, "input"); i; i = rb_xml_next(i)) {
        int offset = 0;
        rb_status status = rb_xml_int(i, "offset", &offset, r->soup->err);
        if (status != RB_OK) return status;
        if (offset < 0 || offset >= MOST_INPUTS)
            return rb_xml_refuse(i, "offset", r->soup->err, RB_BAD_INPUT, "%d, expected 0 .. %d",
                                 offset, MOST_INPUTS - 1);
        if (offset >= p->inputs) p->inputs = offset + 1;
        const char *semantic = rb_xml_get(i, "semantic");
        if (semantic && !strcmp(semantic, "VERTEX")) {
            *vertex = i;
            p->offset = offset;
        }
    }
    if (*vertex) return RB_OK;
    return rb_xml_refuse(p->node, NULL, r->soup->err, RB_BAD_INPUT,
                         "expected an <input semantic=\"VERTEX\">");
}

/* One corner: its vertex among those of the soup. */
static rb_status next_corner(reader *r, const primitive *p, numbers *n, int *out)
{
    for (int i = 0; i < p->inputs; i++) {
        int index = 0;
        rb_status status = next_index(r, n, i == p->offset ? p->count : INT_MAX, &index);
        if (status != RB_OK) return status;
        if (i == p->offset) *out = (int)p->first + index;
    }
    return RB_OK;
}

/* A polygon of the corners collected; degenerate ones of two corners occur and are left out. */
static rb_status add_polygon(reader *r, const primitive *p, int count)
{
    if (count < 3) return RB_OK;
    for (int i = 0; p->turned && i < count / 2; i++) {
        int other = r->corner[i];
        r->corner[i] = r->corner[count - 1 - i];
        r->corner[count - 1 - i] = other;
    }
    return rb_io_soup_polygon(r->soup, p->node->line, count, r->corner);
}

static rb_status read_corners(reader *r, const primitive *p, numbers *n, int count)
{
    rb_status status = RB_OK;
    for (int i = 0; i < count && status == RB_OK; i++) status = next_corner(r, p, n, r->corner + i);
    return status == RB_OK ? add_polygon(r, p, count) : status;
}

static rb_status add_triangles(reader *r, const primitive *p)
{
    rb_status status = RB_OK;
    for (const rb_xml_node *list = rb_xml_child(p->node, "p"); list; list = rb_xml_next(list)) {
        numbers n = numbers_of(r, list);
        while (status == RB_OK && has_more(&n)) status = read_corners(r, p, &n, 3);
    }
    return status;
}

static rb_status add_polylist(reader *r, const primitive *p)
{
    const rb_xml_node *counts = rb_xml_child(p->node, "vcount");
    const rb_xml_node *list = rb_xml_child(p->node, "p");
    if (!counts || !list) return RB_OK;
    numbers c = numbers_of(r, counts), n = numbers_of(r, list);
    rb_status status = RB_OK;
    while (status == RB_OK && has_more(&c)) {
        int count = 0;
        status = next_index(r, &c, MOST_CORNERS, &count);
        if (status == RB_OK) status = read_corners(r, p, &n, count);
    }
    return status;
}

/* One polygon per <p>; strips and fans have one <p> each, too. */
static rb_status add_list(reader *r, const primitive *p, const rb_xml_node *list)
{
    int is_strip = rb_xml_is(p->node, "tristrips"), is_fan = rb_xml_is(p->node, "trifans");
    numbers n = numbers_of(r, list);
    int count = 0;
    rb_status status = RB_OK;
    for (; status == RB_OK && has_more(&n); count++) {
        if (count == MOST_CORNERS)
            return rb_xml_refuse(list, NULL, r->soup->err, RB_TOO_LARGE, "more than %d corners",
                                 (int)MOST_CORNERS);
        status = next_corner(r, p, &n, r->corner + count);
    }
    if (status != RB_OK) return status;
    if (!is_strip && !is_fan) return add_polygon(r, p, count);
    for (int i = 0; i + 2 < count && status == RB_OK; i++) {
        int odd = is_strip && i % 2;
        int a = r->corner[is_fan ? 0 : i];
        int b = r->corner[i + 1], c = r->corner[i + 2];
        status = odd != p->turned ? rb_io_soup_triangle(r->soup, list->line, a, c, b)
                                  : rb_io_soup_triangle(r->soup, list->line, a, b, c);
    }
    return status;
}

static rb_status add_lists(reader *r, const primitive *p)
{
    if (rb_xml_child(p->node, "ph"))
        return rb_xml_refuse(p->node, NULL, r->soup->err, RB_UNSUPPORTED,
                             "polygons with holes are not read; triangulate the mesh");
    rb_status status = RB_OK;
    const rb_xml_node *list = rb_xml_child(p->node, "p");
    for (; list && status == RB_OK; list = rb_xml_next(list)) status = add_list(r, p, list);
    return status;
}

static rb_status add_primitive(reader *r, const rb_xml_node *node, const affine *X)
{
    primitive p = { .node = node, .first = r->soup->nvert, .turned = determinant(X) < 0.0 };
    const rb_xml_node *vertex = NULL, *source = NULL;
    rb_status status = read_inputs(r, &p, &vertex);
    if (status == RB_OK) status = find_positions(r, vertex, &source);
    if (status == RB_OK) status = add_positions(r, source, X, &p.count);
    if (status != RB_OK) return status;
    if (rb_xml_is(node, "triangles")) return add_triangles(r, &p);
    if (rb_xml_is(node, "polylist")) return add_polylist(r, &p);
    return add_lists(r, &p);
}

static rb_status add_geometry(reader *r, const rb_xml_node *geometry, const affine *X)
{
    r->instances++;
    const rb_xml_node *mesh = rb_xml_child(geometry, "mesh");
    for (const rb_xml_node *part = mesh ? mesh->child : NULL; part; part = part->next) {
        if (!rb_xml_in(part->name, "triangles polylist polygons tristrips trifans")) continue;
        rb_status status = check_budget(r, part);
        if (status == RB_OK) status = add_primitive(r, part, X);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* ---- scene ---- */

/* X becomes X times the transform of this element, where it is one. */
static rb_status apply_transform(reader *r, const rb_xml_node *node, affine *X)
{
    double t[16];
    affine step = identity;
    rb_status status = RB_OK;
    if (rb_xml_is(node, "matrix")) {
        status = fixed_numbers(r, node, 16, t);
        if (status == RB_OK) memcpy(step.m, t, sizeof step.m);
    } else if (rb_xml_is(node, "translate")) {
        status = fixed_numbers(r, node, 3, t);
        for (int i = 0; i < 3 && status == RB_OK; i++) step.m[4 * i + 3] = t[i];
    } else if (rb_xml_is(node, "scale")) {
        status = fixed_numbers(r, node, 3, t);
        for (int i = 0; i < 3 && status == RB_OK; i++) step.m[5 * i] = t[i];
    } else if (rb_xml_is(node, "rotate")) {
        status = fixed_numbers(r, node, 4, t);
        if (status == RB_OK) step = rotation(t);
    } else if (rb_xml_is(node, "skew") || rb_xml_is(node, "lookat")) {
        return rb_xml_refuse(node, NULL, r->soup->err, RB_UNSUPPORTED,
                             "this transform is not read; apply it when exporting the mesh");
    } else {
        return RB_OK;
    }
    *X = compose(X, &step);
    return status;
}

static rb_status add_nodes(reader *r, const rb_xml_node *node, affine X, int depth);

/* What a node holds besides transforms. */
static rb_status add_content(reader *r, const rb_xml_node *item, const affine *X, int depth)
{
    const rb_xml_node *target = NULL;
    rb_status status = RB_OK;
    if (rb_xml_is(item, "node")) {
        status = add_nodes(r, item, *X, depth + 1);
    } else if (rb_xml_is(item, "instance_node")) {
        status = follow(r, item, "url", "node", &target);
        if (status == RB_OK) status = add_nodes(r, target, *X, depth + 1);
    } else if (rb_xml_is(item, "instance_geometry")) {
        status = follow(r, item, "url", "geometry", &target);
        if (status == RB_OK) status = add_geometry(r, target, X);
    } else if (rb_xml_is(item, "instance_controller")) {
        status = rb_xml_refuse(item, NULL, r->soup->err, RB_UNSUPPORTED,
                               "skinned meshes are not read; apply the skin when exporting");
    }
    return status;
}

/* Recursion is bounded by MOST_NESTING: a node that instances itself ends there. */
static rb_status add_nodes(reader *r, const rb_xml_node *node, affine X, int depth)
{
    if (depth > MOST_NESTING)
        return rb_xml_refuse(node, NULL, r->soup->err, RB_BAD_INPUT,
                             "nodes are nested more than %d deep, or one instances itself",
                             (int)MOST_NESTING);
    rb_status status = RB_OK;
    for (const rb_xml_node *item = node->child; item && status == RB_OK; item = item->next) {
        r->visits++;
        status = check_budget(r, item);
        if (status == RB_OK) status = apply_transform(r, item, &X);
        if (status == RB_OK) status = add_content(r, item, &X, depth);
    }
    return status;
}

/* MeshLab always writes Y_UP: its files have the axes of the robot unchanged. */
static int is_from_meshlab(const rb_xml_node *asset)
{
    const rb_xml_node *contributor = asset ? rb_xml_child(asset, "contributor") : NULL;
    const rb_xml_node *tool = contributor ? rb_xml_child(contributor, "authoring_tool") : NULL;
    return tool && strstr(tool->text, "VCGLib") != NULL;
}

/* Unit and up axis of the document: to metres with z up. Y is up where nothing is said. */
static rb_status read_asset(reader *r, affine *X)
{
    static const affine from_x = { { 0, -1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0 } };
    static const affine from_y = { { 1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0 } };
    const rb_xml_node *asset = rb_xml_child(r->doc->root, "asset");
    const rb_xml_node *unit = asset ? rb_xml_child(asset, "unit") : NULL;
    const rb_xml_node *up = asset ? rb_xml_child(asset, "up_axis") : NULL;
    double metre = 1.0;
    rb_status status = unit ? rb_xml_number(unit, "meter", &metre, r->soup->err) : RB_OK;
    if (status != RB_OK) return status;
    if (!(metre > 0.0))
        return rb_xml_refuse(unit, "meter", r->soup->err, RB_BAD_INPUT,
                             "%g, expected a positive number", metre);
    *X = from_y;
    r->soup->turned = !(up && strstr(up->text, "Z_UP")) && !is_from_meshlab(asset);
    if (!r->soup->turned) *X = identity;
    if (r->soup->turned && up && strstr(up->text, "X_UP")) *X = from_x;
    for (int i = 0; i < 12; i++) X->m[i] *= metre;
    return RB_OK;
}

/* The scene the document shows, else the first one; NULL: none. */
static rb_status find_scene(reader *r, const rb_xml_node **out)
{
    const rb_xml_node *scene = rb_xml_child(r->doc->root, "scene");
    const rb_xml_node *shown = scene ? rb_xml_child(scene, "instance_visual_scene") : NULL;
    if (shown) return follow(r, shown, "url", "visual_scene", out);
    const rb_xml_node *library = rb_xml_child(r->doc->root, "library_visual_scenes");
    *out = library ? rb_xml_child(library, "visual_scene") : NULL;
    return RB_OK;
}

static rb_status read_document(reader *r)
{
    affine X = identity;
    const rb_xml_node *scene = NULL, *root = r->doc->root;
    if (!rb_xml_is(root, "COLLADA"))
        return rb_xml_refuse(root, NULL, r->soup->err, RB_BAD_INPUT,
                             "expected <COLLADA> as the root of a .dae file");
    rb_status status = read_asset(r, &X);
    if (status == RB_OK) status = find_scene(r, &scene);
    if (status == RB_OK && scene) status = add_nodes(r, scene, X, 0);
    if (status != RB_OK || r->instances > 0) return status;

    const rb_xml_node *library = rb_xml_child(root, "library_geometries");
    for (; library && status == RB_OK; library = rb_xml_next(library)) {
        const rb_xml_node *geometry = rb_xml_child(library, "geometry");
        for (; geometry && status == RB_OK; geometry = rb_xml_next(geometry))
            status = add_geometry(r, geometry, &X);
    }
    return status;
}

rb_status rb_io_dae_parse(rb_io_soup *soup, const char *bytes, size_t size)
{
    reader r = { .soup = soup };
    r.doc = rb_xml_parse(bytes, size, soup->path, &soup->alloc, soup->err);
    if (!r.doc) return soup->err->status;
    r.corner = rb_xml_take(r.doc, MOST_CORNERS, sizeof *r.corner);
    rb_status status = r.corner ? rb_io_dae_index_build(r.doc, &r.index) : RB_NOMEM;
    if (status == RB_NOMEM)
        rb_io_soup_refuse(soup, RB_NOMEM, 0, "out of memory for the document");
    else
        status = read_document(&r);
    rb_xml_free(r.doc);
    return status;
}
