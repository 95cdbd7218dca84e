/* A run as binary glTF 2.0: one node for each body, below it one for each geom, and an animation
 * that moves the bodies. Meshes have no normals: viewers then make their faces flat. World z is up,
 * in glTF it is y: a root node rotates everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/put.h"
#include "show/replay.h"
#include "show/scene.h"
#include "show/shape.h"

/* Numbers of the standard. */
enum { FLOAT = 5126, UNSIGNED = 5125, ARRAY = 34962, ELEMENTS = 34963 };

typedef struct accessor {
    size_t offset, bytes, count;
    int component, target; /* target 0: none */
    const char *type;
    int bounds, width;
    double lo[3], hi[3];
} accessor;

typedef struct gltf {
    const rb_replay *r;
    scene s;
    list bytes;    /* of the binary part */
    list accessor; /* accessor           */
    int *mesh; /* of each geom: accessor of its points, indices after them; -1: it is shown by the
                  mesh of an earlier geom  (ngeom) */
    int nmesh, *mesh_index; /* glTF mesh of each geom                 (ngeom) */
} gltf;

/* ---- the binary part ----------------------------------------------------------------------------
 */

/* An accessor over `count` elements of `width` numbers that follow; where to write them. */
static void *add(gltf *g, size_t count, int width, int component, int target, const char *type)
{
    accessor *a = rb_show_list_add(&g->accessor, 1);
    size_t size = count * (size_t)width * 4;
    void *to = a ? rb_show_list_add(&g->bytes, size) : NULL;
    if (!to && size > 0) return NULL;
    *a = (accessor){ .offset = g->bytes.n - size,
                     .bytes = size,
                     .count = count,
                     .component = component,
                     .target = target,
                     .type = type,
                     .width = width };
    return to ? to : g->bytes.at;
}

static int last(const gltf *g)
{
    return (int)g->accessor.n - 1;
}

static accessor *at(const gltf *g, int k)
{
    return (accessor *)g->accessor.at + k;
}

static void find_bounds(accessor *a, const float *x)
{
    a->bounds = 1;
    for (int k = 0; k < 3; k++) {
        a->lo[k] = INFINITY;
        a->hi[k] = -INFINITY;
    }
    for (size_t i = 0; i < a->count * 3; i++) {
        a->lo[i % 3] = fmin(a->lo[i % 3], (double)x[i]);
        a->hi[i % 3] = fmax(a->hi[i % 3], (double)x[i]);
    }
}

static rb_status add_shape(gltf *g, int geom)
{
    shape s;
    rb_status status = rb_show_shape_make(&g->s, geom, fmax(5.0, 3.0 * g->r->m->extent), &s);
    if (status != RB_OK) return status;
    size_t points = s.point.n, corners = s.corner.n;
    const double *point = s.point.at;
    if (corners > 0) {
        g->mesh[geom] = (int)g->accessor.n;
        g->mesh_index[geom] = g->nmesh++;
        float *to = add(g, points, 3, FLOAT, ARRAY, "VEC3");
        for (size_t i = 0; to && i < 3 * points; i++) to[i] = (float)point[i];
        if (to) find_bounds(at(g, last(g)), to);
        void *index = to ? add(g, corners, 1, UNSIGNED, ELEMENTS, "SCALAR") : NULL;
        if (index) memcpy(index, s.corner.at, corners * sizeof(uint32_t));
        if (!index) status = RB_NOMEM;
    }
    rb_show_shape_free(&s);
    return status;
}

static int same_look(const gltf *g, int a, int b)
{
    const scene_geom *x = &g->s.geom[a], *y = &g->s.geom[b];
    const rb_model *m = x->m, *n = y->m;
    return m->geom_type[x->geom] == n->geom_type[y->geom] && x->asset == y->asset &&
           memcmp(m->geom_rgba + 4 * x->geom, n->geom_rgba + 4 * y->geom, 4 * sizeof(double)) ==
               0 &&
           (x->asset >= 0 || memcmp(m->geom_size + 3 * x->geom, n->geom_size + 3 * y->geom,
                                    3 * sizeof(double)) == 0);
}

/* Equal geoms share a mesh; this many earlier ones are compared. */
static rb_status add_shapes(gltf *g)
{
    enum { BACK = 2000 };
    for (int i = 0; i < g->s.ngeom; i++) {
        int same = i - 1;
        g->mesh[i] = g->mesh_index[i] = -1;
        while (same >= 0 && same > i - BACK && !same_look(g, i, same)) same--;
        if (same >= 0 && same > i - BACK) {
            g->mesh_index[i] = g->mesh_index[same];
            continue;
        }
        rb_status status = add_shape(g, i);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* Times, then position and rotation of each moving body. Neighbouring quaternions have one sign. */
static rb_status add_motion(gltf *g)
{
    const rb_replay *r = g->r;
    size_t n = r->time.n, count = (size_t)r->nmoving;
    const double *time = r->time.at, *pose = r->pose.at;
    float *t = add(g, n, 1, FLOAT, 0, "SCALAR");
    if (!t) return RB_NOMEM;
    for (size_t i = 0; i < n; i++) t[i] = (float)(time[i] - time[0]);
    accessor *a = at(g, last(g));
    a->bounds = 1;
    a->lo[0] = 0.0;
    a->hi[0] = (double)t[n - 1];
    for (size_t b = 0; b < count; b++) {
        float *p = add(g, n, 3, FLOAT, 0, "VEC3");
        for (size_t i = 0; p && i < n; i++)
            for (size_t k = 0; k < 3; k++) p[3 * i + k] = (float)pose[7 * (i * count + b) + k];
        float *q = p ? add(g, n, 4, FLOAT, 0, "VEC4") : NULL;
        if (!q) return RB_NOMEM;
        for (size_t i = 0; i < n; i++) {
            const double *w = pose + 7 * (i * count + b) + 3;
            float *to = q + 4 * i, dot = 0.0F;
            for (size_t k = 0; k < 4; k++) to[k] = (float)w[(k + 1) % 4]; /* x y z w */
            for (size_t k = 0; i > 0 && k < 4; k++) dot += to[k] * to[(ptrdiff_t)k - 4];
            for (size_t k = 0; dot < 0.0F && k < 4; k++) to[k] = -to[k];
        }
    }
    return RB_OK;
}

/* ---- the JSON part ------------------------------------------------------------------------------
 */

static void put_accessors(put *p, const gltf *g)
{
    rb_show_put_begin(p, "bufferViews", '[');
    for (int k = 0; k <= last(g); k++) {
        const accessor *a = at(g, k);
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_int(p, "buffer", 0);
        rb_show_put_int(p, "byteOffset", (long)a->offset);
        rb_show_put_int(p, "byteLength", (long)a->bytes);
        if (a->target) rb_show_put_int(p, "target", a->target);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_begin(p, "accessors", '[');
    for (int k = 0; k <= last(g); k++) {
        const accessor *a = at(g, k);
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_int(p, "bufferView", k);
        rb_show_put_int(p, "componentType", a->component);
        rb_show_put_int(p, "count", (long)a->count);
        rb_show_put_text(p, "type", a->type);
        if (a->bounds) {
            rb_show_put_begin(p, "min", '[');
            for (int i = 0; i < a->width; i++) rb_show_put_digits(p, NULL, a->lo[i]);
            rb_show_put_end(p, ']');
            rb_show_put_begin(p, "max", '[');
            for (int i = 0; i < a->width; i++) rb_show_put_digits(p, NULL, a->hi[i]);
            rb_show_put_end(p, ']');
        }
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_meshes(put *p, const gltf *g)
{
    rb_show_put_begin(p, "meshes", '[');
    for (int i = 0; i < g->s.ngeom; i++) {
        if (g->mesh[i] < 0) continue;
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_begin(p, "primitives", '[');
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_begin(p, "attributes", '{');
        rb_show_put_int(p, "POSITION", g->mesh[i]);
        rb_show_put_end(p, '}');
        rb_show_put_int(p, "indices", g->mesh[i] + 1);
        rb_show_put_int(p, "material", g->mesh_index[i]);
        rb_show_put_end(p, '}');
        rb_show_put_end(p, ']');
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_begin(p, "materials", '[');
    for (int i = 0; i < g->s.ngeom; i++) {
        const double *rgba = g->s.geom[i].m->geom_rgba + 4 * g->s.geom[i].geom;
        if (g->mesh[i] < 0) continue;
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_begin(p, "pbrMetallicRoughness", '{');
        rb_show_put_vector(p, "baseColorFactor", rgba, 4);
        rb_show_put_number(p, "metallicFactor", 0.0);
        rb_show_put_number(p, "roughnessFactor", 0.8);
        rb_show_put_end(p, '}');
        if (rgba[3] < 1.0) rb_show_put_text(p, "alphaMode", "BLEND");
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_pose(put *p, const double pos[3], const double quat[4])
{
    const double turned[4] = { quat[1], quat[2], quat[3], quat[0] };
    rb_show_put_vector(p, "translation", pos, 3);
    rb_show_put_vector(p, "rotation", turned, 4);
}

/* Shapes for collision are hidden where a body has visual ones. */
static int is_shown(const gltf *g, int geom)
{
    const scene *s = &g->s;
    const scene_geom *x = &s->geom[geom];
    if (g->mesh_index[geom] < 0 || x->m->geom_invisible[x->geom]) return 0;
    if (geom >= s->m->ngeom || !rb_show_scene_collides(x->m, x->geom)) return 1;
    for (int i = 0; i < s->ngeom; i++) {
        const scene_geom *y = &s->geom[i];
        int seen_only = i >= s->m->ngeom || !rb_show_scene_collides(y->m, y->geom);
        if (seen_only && y->m->geom_body[y->geom] == x->m->geom_body[x->geom]) return 0;
    }
    return 1;
}

static void put_children(put *p, const gltf *g, const int *node, int body)
{
    rb_show_put_begin(p, "children", '[');
    for (int i = 0; i < g->s.ngeom; i++)
        if (node[i] >= 0 && g->s.geom[i].m->geom_body[g->s.geom[i].geom] == body)
            rb_show_put_int(p, NULL, node[i]);
    rb_show_put_end(p, ']');
}

/* Node 0 rotates the world, nodes 1 .. nbody are bodies, geoms follow. */
static rb_status put_nodes(put *p, const gltf *g)
{
    static const double origin[3] = { 0 }, turn[4] = { 0.70710678118654757, -0.70710678118654757 };
    const rb_model *m = g->r->m;
    int *node = malloc(((size_t)g->s.ngeom + 1) * sizeof *node), next = 1 + m->nbody;
    int *shown = calloc((size_t)m->nbody + 1, sizeof *shown);
    char name[256];
    rb_status status = node && shown ? RB_OK : RB_NOMEM;
    for (int i = 0; status == RB_OK && i < g->s.ngeom; i++) {
        node[i] = is_shown(g, i) ? next++ : -1;
        if (node[i] >= 0) shown[g->s.geom[i].m->geom_body[g->s.geom[i].geom]]++;
    }
    rb_show_put_begin(p, "nodes", '[');
    rb_show_put_begin(p, NULL, '{');
    rb_show_put_text(p, "name", "world, z up");
    put_pose(p, origin, turn);
    rb_show_put_begin(p, "children", '[');
    for (int b = 0; b < m->nbody; b++) rb_show_put_int(p, NULL, 1 + b);
    rb_show_put_end(p, ']');
    rb_show_put_end(p, '}');
    for (int b = 0; status == RB_OK && b < m->nbody; b++) {
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_text(p, "name", rb_model_name(m, RB_KIND_BODY, b, name, sizeof name));
        put_pose(p, g->s.pose + 7 * b, g->s.pose + 7 * b + 3);
        if (shown[b]) put_children(p, g, node, b);
        rb_show_put_end(p, '}');
    }
    for (int i = 0; status == RB_OK && i < g->s.ngeom; i++) {
        const scene_geom *x = &g->s.geom[i];
        if (node[i] < 0) continue;
        rb_show_put_begin(p, NULL, '{');
        put_pose(p, x->m->geom_pos + 3 * x->geom, x->m->geom_quat + 4 * x->geom);
        rb_show_put_int(p, "mesh", g->mesh_index[i]);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    free(node);
    free(shown);
    return status;
}

static void put_animation(put *p, const gltf *g, int first)
{
    const rb_replay *r = g->r;
    if (r->nmoving == 0) return;
    rb_show_put_begin(p, "animations", '[');
    rb_show_put_begin(p, NULL, '{');
    rb_show_put_begin(p, "samplers", '[');
    for (int k = 0; k < 2 * r->nmoving; k++) {
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_int(p, "input", first);
        rb_show_put_int(p, "output", first + 1 + k);
        rb_show_put_text(p, "interpolation", "LINEAR");
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_begin(p, "channels", '[');
    for (int k = 0; k < 2 * r->nmoving; k++) {
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_int(p, "sampler", k);
        rb_show_put_begin(p, "target", '{');
        rb_show_put_int(p, "node", 1 + r->moving[k / 2]);
        rb_show_put_text(p, "path", k % 2 ? "rotation" : "translation");
        rb_show_put_end(p, '}');
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_end(p, '}');
    rb_show_put_end(p, ']');
}

static rb_status put_json(FILE *out, const gltf *g, int first, const char *name)
{
    put p = { .out = out };
    rb_show_put_begin(&p, NULL, '{');
    rb_show_put_begin(&p, "asset", '{');
    rb_show_put_text(&p, "version", "2.0");
    rb_show_put_text(&p, "generator", "rattleback " RB_VERSION);
    rb_show_put_end(&p, '}');
    rb_show_put_int(&p, "scene", 0);
    rb_show_put_begin(&p, "scenes", '[');
    rb_show_put_begin(&p, NULL, '{');
    rb_show_put_text(&p, "name", name);
    rb_show_put_begin(&p, "nodes", '[');
    rb_show_put_int(&p, NULL, 0);
    rb_show_put_end(&p, ']');
    rb_show_put_end(&p, '}');
    rb_show_put_end(&p, ']');
    rb_status status = put_nodes(&p, g);
    if (g->nmesh > 0) put_meshes(&p, g);
    put_animation(&p, g, first);
    put_accessors(&p, g);
    rb_show_put_begin(&p, "buffers", '[');
    rb_show_put_begin(&p, NULL, '{');
    rb_show_put_int(&p, "byteLength", (long)g->bytes.n);
    rb_show_put_end(&p, '}');
    rb_show_put_end(&p, ']');
    rb_show_put_end(&p, '}');
    return status;
}

/* ---- the file -----------------------------------------------------------------------------------
 */

static void put_u32_le(FILE *out, size_t x)
{
    for (int k = 0; k < 4; k++) putc((int)(x >> (8 * k) & 255U), out);
}

/* Header, JSON chunk padded by blanks, binary chunk padded by zeros: lengths first, so the JSON is
 * written into memory before. */
static rb_status put_file(FILE *out, const gltf *g, int first, const char *name)
{
    FILE *text = tmpfile();
    if (!text) return RB_FILE;
    rb_status status = put_json(text, g, first, name);
    long length = ftell(text);
    if (length < 0) status = RB_FILE;
    size_t json = ((size_t)length + 3) / 4 * 4, binary = (g->bytes.n + 3) / 4 * 4;
    if (status == RB_OK) {
        fputs("glTF", out);
        put_u32_le(out, 2);
        put_u32_le(out, 12 + 8 + json + 8 + binary);
        put_u32_le(out, json);
        fputs("JSON", out);
        rewind(text);
        for (long i = 0; i < length; i++) putc(getc(text), out);
        for (size_t i = (size_t)length; i < json; i++) putc(' ', out);
        put_u32_le(out, binary);
        fwrite("BIN", 1, 4, out);
        fwrite(g->bytes.at, 1, g->bytes.n, out);
        for (size_t i = g->bytes.n; i < binary; i++) putc(0, out);
    }
    fclose(text);
    return status == RB_OK && ferror(out) ? RB_FILE : status;
}

rb_status rb_replay_write_gltf(FILE *out, const rb_replay *r, const rb_model *shown,
                               const char *name)
{
    gltf g = { .r = r, .bytes.size = 1, .accessor.size = sizeof(accessor) };
    if (r->time.n == 0) return RB_BAD_INPUT;
    rb_status status = rb_show_scene_make(&g.s, r->m, shown);
    if (status != RB_OK) return status;
    g.mesh = malloc(((size_t)g.s.ngeom + 1) * sizeof *g.mesh);
    g.mesh_index = malloc(((size_t)g.s.ngeom + 1) * sizeof *g.mesh_index);
    status = g.mesh && g.mesh_index ? add_shapes(&g) : RB_NOMEM;
    int first = (int)g.accessor.n;
    if (status == RB_OK) status = add_motion(&g);
    if (status == RB_OK) status = put_file(out, &g, first, name);
    free(g.mesh);
    free(g.mesh_index);
    rb_show_list_free(&g.bytes);
    rb_show_list_free(&g.accessor);
    rb_show_scene_free(&g.s);
    return status;
}
