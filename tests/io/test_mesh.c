/* Meshes from STL, OBJ and COLLADA: what comes out, every sentence of refusal with its line, counts
 * that lie, memory failures. */
#include "test.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/mesh.h"
#include "rattleback/load.h"

/* ---- helpers ---- */

static rb_status parse(rb_io_mesh_format format, const char *bytes, size_t size, rb_io_mesh *mesh,
                       rb_error *err)
{
    *err = (rb_error){ 0 };
    return rb_io_mesh_parse(format, bytes, size, "m", NULL, mesh, err);
}

static rb_io_mesh parse_text(rb_io_mesh_format format, const char *text)
{
    rb_io_mesh mesh;
    rb_error err;
    if (parse(format, text, strlen(text), &mesh, &err) != RB_OK)
        test_fail(__FILE__, __LINE__, "refused: line %d: %s", err.line, err.text);
    return mesh;
}

/* Signed volume from the origin. */
static double volume(const rb_io_mesh *m)
{
    double sum = 0.0;
    for (int f = 0; f < m->nface; f++) {
        const double *a = m->vert + 3 * m->face[3 * f], *b = m->vert + 3 * m->face[3 * f + 1],
                     *c = m->vert + 3 * m->face[3 * f + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6.0;
}

static double surface(const rb_io_mesh *m)
{
    double sum = 0.0;
    for (int f = 0; f < m->nface; f++) {
        const double *a = m->vert + 3 * m->face[3 * f], *b = m->vert + 3 * m->face[3 * f + 1],
                     *c = m->vert + 3 * m->face[3 * f + 2];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2],
               z = u[0] * v[1] - u[1] * v[0];
        sum += 0.5 * sqrt(x * x + y * y + z * z);
    }
    return sum;
}

typedef struct refusal {
    const char *text;
    int line;
    rb_status status;
    const char *says;
} refusal;

static void check_refusals(rb_io_mesh_format format, const refusal *cases, int count)
{
    for (int i = 0; i < count; i++) {
        rb_io_mesh mesh;
        rb_error err;
        rb_status status = parse(format, cases[i].text, strlen(cases[i].text), &mesh, &err);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK_INT(status, cases[i].status);
        CHECK_INT(err.status, cases[i].status);
        CHECK_INT(err.line, cases[i].line);
        CHECK_STR(err.file, "m");
        CHECK(mesh.vert == NULL && mesh.face == NULL && mesh.nvert == 0 && mesh.nface == 0);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- STL ---- */

/* The tetrahedron of the unit axes, outside out: volume 1/6. */
static const float corners[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const int sides[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 0, 3, 2 } };

enum { STL_TETRA = 84 + 4 * 50 };

static void put_u32(char *at, uint32_t x)
{
    for (int i = 0; i < 4; i++) at[i] = (char)(x >> 8 * i & 0xFF);
}

static void put_float(char *at, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_u32(at, bits);
}

static void make_stl(char bytes[STL_TETRA], const char *header, uint32_t claimed)
{
    memset(bytes, 0, STL_TETRA);
    memcpy(bytes, header, strlen(header));
    put_u32(bytes + 80, claimed);
    for (int f = 0; f < 4; f++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                put_float(bytes + 84 + 50 * f + 12 + 12 * i + 4 * k, corners[sides[f][i]][k]);
}

TEST(stl_binary_has_its_vertices_joined)
{
    const char *headers[] = { "", "solid but binary", "solid\nfacet normal" };
    for (int i = 0; i < 3; i++) {
        char bytes[STL_TETRA + 49] = { 0 };
        rb_io_mesh mesh;
        rb_error err;
        make_stl(bytes, headers[i], 4);

        /* up to 49 bytes of padding are no triangle */
        CHECK_INT(parse(RB_IO_MESH_STL, bytes, STL_TETRA + (i == 1 ? 49 : 0), &mesh, &err), RB_OK);
        CHECK_INT(mesh.nvert, 4);
        CHECK_INT(mesh.nface, 4);
        CHECK_NEAR(volume(&mesh), 1.0 / 6.0, 1e-15);
        rb_io_mesh_free(&mesh);
    }
}

/* No memory is taken for triangles that the file does not hold. */
TEST(stl_header_may_lie)
{
    const uint32_t claims[] = { 0, 3, 5, 10000000, 0xFFFFFFFF };
    for (int i = 0; i < 5; i++) {
        char bytes[STL_TETRA];
        rb_io_mesh mesh;
        rb_error err = { 0 };
        test_memory memory = { 0 };
        rb_alloc alloc = test_alloc(&memory);
        make_stl(bytes, "", claims[i]);
        rb_status status =
            rb_io_mesh_parse(RB_IO_MESH_STL, bytes, sizeof bytes, "m", &alloc, &mesh, &err);
        CHECK_INT(status, claims[i] > RB_LOAD_MAX_FACES ? RB_TOO_LARGE : RB_BAD_INPUT);
        CHECK_CONTAINS(err.text, "the header says");
        CHECK_INT(memory.requests, 0);
    }
}

TEST(stl_cut_anywhere_is_refused)
{
    char bytes[STL_TETRA];
    make_stl(bytes, "", 4);
    for (size_t size = 0; size < STL_TETRA; size++) {
        rb_io_mesh mesh;
        rb_error err;
        CHECK(parse(RB_IO_MESH_STL, bytes, size, &mesh, &err) != RB_OK);
        CHECK(err.text[0] != '\0');
    }
}

TEST(stl_coordinates_are_finite)
{
    const float bad[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 3; i++) {
        char bytes[STL_TETRA];
        rb_io_mesh mesh;
        rb_error err;
        make_stl(bytes, "", 4);
        put_float(bytes + 84 + 50 * 2 + 12 + 8, bad[i]);
        CHECK_INT(parse(RB_IO_MESH_STL, bytes, sizeof bytes, &mesh, &err), RB_BAD_INPUT);
        CHECK_CONTAINS(err.text, "triangle 3");
    }

    /* normals are not used */
    char bytes[STL_TETRA];
    rb_io_mesh mesh;
    rb_error err;
    make_stl(bytes, "", 4);
    put_float(bytes + 84, NAN);
    CHECK_INT(parse(RB_IO_MESH_STL, bytes, sizeof bytes, &mesh, &err), RB_OK);
    rb_io_mesh_free(&mesh);
}

#define FACET(a, b, c)                                                                             \
    "facet normal nan 0 1\n outer loop\n  vertex " a "\n  vertex " b "\n  VERTEX " c               \
    "\n endloop\nendfacet\n"
#define TETRA_TEXT                                                                                 \
    FACET("0 0 0", "0 1 0", "1 0 0")                                                               \
    FACET("-0 0 0", "1 0 0", "0 0 1.0e0")                                                          \
    FACET("1 0 0", "0 1 0", "0 0 1") FACET("0 0 0", "0 0 1", "0 1 0")

TEST(stl_text)
{
    rb_io_mesh mesh = parse_text(RB_IO_MESH_STL, "solid one two\n" TETRA_TEXT "endsolid one\n");
    CHECK_INT(mesh.nvert, 4);
    CHECK_INT(mesh.nface, 4);
    CHECK_NEAR(volume(&mesh), 1.0 / 6.0, 1e-15);
    rb_io_mesh_free(&mesh);

    mesh = parse_text(RB_IO_MESH_STL, "SOLID one\n" TETRA_TEXT "ENDSOLID one\n");
    CHECK_INT(mesh.nface, 4);
    rb_io_mesh_free(&mesh);

    /* several solids are one mesh */
    mesh =
        parse_text(RB_IO_MESH_STL, "solid a\n" FACET("0 0 0", "0 1 0",
                                                     "1 0 0") "endsolid\n"
                                                              "solid\n" FACET("0 0 1", "0 1 0",
                                                                              "1 0 0") "endsolid");
    CHECK_INT(mesh.nface, 2);
    CHECK_INT(mesh.nvert, 4);
    rb_io_mesh_free(&mesh);
}

TEST(stl_text_refusals)
{
    const refusal cases[] = {
        { "solid a\nendsolid a\n", 0, RB_BAD_INPUT, "no triangle" },
        { "solid a\n", 2, RB_BAD_INPUT, "without endsolid" },
        { "solid a\nfacets\n", 2, RB_BAD_INPUT, "expected \"facet\"" },
        { "solid a\nendsolid\nfacet", 3, RB_BAD_INPUT, "expected \"solid\"" },
        { "solid a\nfacet normal 0 0 1\nouter\nlop\n", 4, RB_BAD_INPUT, "expected \"loop\"" },
        { "solid a\n" FACET("0 0 0", "0 1 x", "0 0 1") "endsolid", 5, RB_BAD_INPUT,
          "\"x\", expected a finite coordinate" },
        { "solid a\n" FACET("0 0 0", "0 1 nan", "0 0 1") "endsolid", 5, RB_BAD_INPUT, "finite" },
        { "solid a\n" FACET("0 0 0", "0 1 1e999", "0 0 1") "endsolid", 5, RB_BAD_INPUT, "finite" },
        { "solid a\n" FACET("0 0 0", "0 0 0", "0 0 0") "endsolid", 0, RB_BAD_INPUT, "no triangle" },
        { "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop", 6,
          RB_BAD_INPUT, "expected \"vertex\"" },
        { "nothing", 0, RB_BAD_INPUT, "less than the header" },
    };
    check_refusals(RB_IO_MESH_STL, cases, sizeof cases / sizeof *cases);
}

/* ---- OBJ ---- */

#define BOX_VERTICES "v 0 0 0\nv 0 0 1\nv 0 1 0\nv 0 1 1\nv 1 0 0\nv 1 0 1\nv 1 1 0\nv 1 1 1 1.0\n"

TEST(obj_polygons_and_indices)
{
    const char *boxes[] = {
        BOX_VERTICES "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n",
        "# c\nmtllib a b\no box\ng x\n" BOX_VERTICES "vt 0 0\nvn 0 0 1\nusemtl m\ns off\n"
        "f 1/1 2/1 4/1 3/1\nf 5//1 7//1 8//1 6//1\nf 1/1/1 5/1/1 6/1/1 2/1/1\nf 3 4 8 7 # c\n"
        "f 1 \\\n 3 7 \\\r\n 5\r\n\tf  2  6  8  4",
        BOX_VERTICES "f -8 -7 -5 -6\nf -4 -2 -1 -3\nf -8 -4 -3 -7\nf -6 -5 -1 -2\nf -8 -6 -2 -4\n"
                     "f -7 -3 -1 -5\nl 1 2\np 1\nv 9 9 9\nvp 1 2\nf 1 1 2\n",
    };
    for (int i = 0; i < 3; i++) {
        rb_io_mesh mesh = parse_text(RB_IO_MESH_OBJ, boxes[i]);
        CHECK_INT(mesh.nvert, 8);
        CHECK_INT(mesh.nface, 12);
        CHECK_NEAR(volume(&mesh), 1.0, 1e-15);
        CHECK_NEAR(surface(&mesh), 6.0, 1e-14);
        rb_io_mesh_free(&mesh);
    }
}

/* A concave polygon keeps its area: a fan from its first corner would cover more. */
TEST(obj_concave_polygons)
{
    rb_io_mesh mesh =
        parse_text(RB_IO_MESH_OBJ, "v 0 0 5\nv 4 0 5\nv 4 4 5\nv 2 1 5\nv 0 4 5\nf 1 2 3 4 5\n");
    CHECK_INT(mesh.nface, 3);
    CHECK_NEAR(surface(&mesh), 16.0 - 6.0, 1e-14);
    rb_io_mesh_free(&mesh);

    /* the same seen from the other side, and standing upright */
    mesh = parse_text(RB_IO_MESH_OBJ, "v 5 0 0\nv 5 4 0\nv 5 4 4\nv 5 2 1\nv 5 0 4\nf 5 4 3 2 1\n");
    CHECK_NEAR(surface(&mesh), 16.0 - 6.0, 1e-14);
    CHECK_INT(mesh.nface, 3);
    rb_io_mesh_free(&mesh);

    /* a comb: 2 k + 2 corners around a zigzag */
    char text[4096] = "";
    size_t used = 0;
    int corners_of_comb = 0;
    for (int i = 0; i <= 20; i++, corners_of_comb++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %d %d 0\n", i, i % 2);
    used += (size_t)snprintf(text + used, sizeof text - used, "v 20 3 0\nv 0 3 0\nf");
    corners_of_comb += 2;
    for (int i = 1; i <= corners_of_comb; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %d", i);
    mesh = parse_text(RB_IO_MESH_OBJ, text);
    CHECK_INT(mesh.nface, corners_of_comb - 2);
    CHECK_NEAR(surface(&mesh), 20.0 * 3.0 - 10.0, 1e-12);
    rb_io_mesh_free(&mesh);
}

/* A prism of six sides whose upper face is not flat: its volume depends on the diagonals. Those of
 * MuJoCo 4.0.0 depend on where the prism stands; the masses are what it says for density 1. */
TEST(obj_polygons_that_are_not_flat_weigh_as_in_mujoco)
{
    static const double top[6][3] = { { 2, 0, 0.3 },   { 1, 1.7, -0.2 },  { -1, 1.7, 0.25 },
                                      { -2, 0, -0.1 }, { -1, -1.7, 0.4 }, { 1, -1.7, 0 } };
    static const double cases[][3] = { { 0, 0, 22.185000372330343 },
                                       { -6, 4, 20.768332384427392 },
                                       { -4, -6, 22.26999737302464 },
                                       { 0, -8, 20.768330820798894 },
                                       { 9, -3, 22.184998790820448 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[2048] = "";
        size_t used = 0;
        for (int i = 0; i < 12; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n",
                                     top[i % 6][0] + cases[c][0], top[i % 6][1] + cases[c][1],
                                     i < 6 ? top[i][2] + 1.0 : -1.0);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "f 1 2 3 4 5 6\nf 12 11 10 9 8 7\n");
        for (int i = 0; i < 6; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d %d\n", i + 1,
                                     i + 7, (i + 1) % 6 + 7, (i + 1) % 6 + 1);
        rb_io_mesh mesh = parse_text(RB_IO_MESH_OBJ, text);
        CHECK_INT(mesh.nface, 20);
        CHECK_NEAR(volume(&mesh), cases[c][2], 1e-5); /* vertices are floats in MuJoCo */
        rb_io_mesh_free(&mesh);
    }
}

/* A polygon that crosses itself everywhere. */
TEST(obj_polygons_do_not_take_for_ever)
{
    enum { CORNERS = 20000, BYTES = 64 * CORNERS };
    char *text = malloc(BYTES);
    CHECK(text != NULL);
    size_t used = 0;
    for (int i = 0; i < CORNERS; i++)
        used += (size_t)snprintf(text + used, BYTES - used, "v %d %d 0\n", i * 7919 % CORNERS,
                                 i * 104729 % CORNERS);
    used += (size_t)snprintf(text + used, BYTES - used, "f");
    for (int i = 1; i <= CORNERS; i++)
        used += (size_t)snprintf(text + used, BYTES - used, " %d", i);
    rb_io_mesh mesh;
    rb_error err;
    double begin = seconds();
    CHECK_INT(parse(RB_IO_MESH_OBJ, text, used, &mesh, &err), RB_OK);
    CHECK(seconds() - begin < 20.0); /* a second; sanitizers and valgrind take longer */
    CHECK_INT(mesh.nface, CORNERS - 2);
    rb_io_mesh_free(&mesh);
    free(text);
}

/* As in MuJoCo: vertices that no face joins stand for their hull. */
TEST(points_without_faces_are_their_hull)
{
    rb_io_mesh mesh = parse_text(RB_IO_MESH_OBJ, BOX_VERTICES "v 0.5 0.5 0.25\n");
    CHECK_INT(mesh.nvert, 8);
    CHECK_INT(mesh.nface, 12);
    CHECK_NEAR(volume(&mesh), 1.0, 1e-15);
    rb_io_mesh_free(&mesh);
}

/* ---- MSH ---- */

/* Counts, then floats, then faces: a tetrahedron with what else the file may hold. */
static size_t msh_bytes(const int32_t count[4], const int32_t face[12], char *out)
{
    static const float vert[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    size_t size = 16;
    memcpy(out, count, 16);
    memcpy(out + size, vert, 12 * (size_t)count[0]);
    size += 12 * (size_t)count[0];
    memset(out + size, 0x7f, 12 * (size_t)count[1] + 8 * (size_t)count[2]);
    size += 12 * (size_t)count[1] + 8 * (size_t)count[2];
    memcpy(out + size, face, 12 * (size_t)count[3]);
    return size + 12 * (size_t)count[3];
}

TEST(msh_of_mujoco)
{
    static const int32_t counts[][4] = { { 4, 0, 0, 4 }, { 4, 4, 4, 4 }, { 4, 0, 4, 0 } };
    static const int32_t face[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    static const int32_t wrong[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4 };
    char bytes[512];
    rb_io_mesh mesh;
    rb_error err;
    for (int i = 0; i < 3; i++) {
        size_t size = msh_bytes(counts[i], face, bytes);
        CHECK_INT(parse(RB_IO_MESH_MSH, bytes, size, &mesh, &err), RB_OK);
        CHECK_INT(mesh.nface, 4);
        CHECK_NEAR(volume(&mesh), 1.0 / 6.0, 1e-15);
        rb_io_mesh_free(&mesh);
        for (size_t cut = 0; cut < size; cut++) {
            CHECK_INT(parse(RB_IO_MESH_MSH, bytes, cut, &mesh, &err), RB_BAD_INPUT);
            CHECK_CONTAINS(err.text, "MSH: expected four counts");
        }
        CHECK_INT(parse(RB_IO_MESH_MSH, bytes, size + 1, &mesh, &err), RB_BAD_INPUT);
    }
    size_t size = msh_bytes(counts[0], wrong, bytes);
    CHECK_INT(parse(RB_IO_MESH_MSH, bytes, size, &mesh, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "face 3 names vertex 4: expected 0 to 3");
    memset(bytes + 16, 0xff, 4);
    CHECK_INT(parse(RB_IO_MESH_MSH, bytes, size, &mesh, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "vertex 0 has a coordinate that is not finite");
    memset(bytes, 0xff, 4);
    CHECK_INT(parse(RB_IO_MESH_MSH, bytes, size, &mesh, &err), RB_BAD_INPUT);
}

TEST(obj_polygon_with_many_corners_is_a_fan)
{
    static char text[65536];
    size_t used = 0;
    enum { CORNERS = 300 };
    for (int i = 0; i < CORNERS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %.17g %.17g 0\n",
                                 cos(2.0 * i * acos(-1.0) / CORNERS),
                                 sin(2.0 * i * acos(-1.0) / CORNERS));
    used += (size_t)snprintf(text + used, sizeof text - used, "f");
    for (int i = 1; i <= CORNERS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %d", i);
    rb_io_mesh mesh = parse_text(RB_IO_MESH_OBJ, text);
    CHECK_INT(mesh.nface, CORNERS - 2);
    CHECK_NEAR(surface(&mesh), 0.5 * CORNERS * sin(2.0 * acos(-1.0) / CORNERS), 1e-12);
    rb_io_mesh_free(&mesh);
}

TEST(equal_vertices_become_one_and_keep_their_order)
{
    rb_io_mesh mesh = parse_text(RB_IO_MESH_OBJ, "v 7 7 7\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv -0 0 -0\n"
                                                 "v 1 0 0\nv 0 0 1\nf 2 3 4\nf 5 6 7\nf 2 5 3\n");
    const double expected[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    CHECK_INT(mesh.nvert, 4);
    CHECK_INT(mesh.nface, 2);
    CHECK(memcmp(mesh.vert, expected, sizeof expected) == 0);
    CHECK(memcmp(mesh.face, (int[]){ 0, 1, 2, 0, 1, 3 }, 6 * sizeof(int)) == 0);
    rb_io_mesh_free(&mesh);
}

TEST(obj_refusals)
{
    const refusal cases[] = {
        { "", 0, RB_BAD_INPUT, "no triangle" },
        { "v 1 2 3\nv 1 2\n", 2, RB_BAD_INPUT, "expected a finite coordinate" },
        { "v 1 2 3\n\nv 1 nan 3\n", 3, RB_BAD_INPUT, "\"nan\", expected a finite coordinate" },
        { "v 1 2 inf\n", 1, RB_BAD_INPUT, "finite" },
        { "v 1 2 1e400\n", 1, RB_BAD_INPUT, "finite" },
        { "v 0 0 0\nv 1 0 0\nf 1 2\n", 3, RB_BAD_INPUT, "a face of 2 corners" },
        { "v 0 0 0\nv 1 0 0\nf 1 2 3\n", 3, RB_BAD_INPUT, "one of the 2 vertices above" },
        { "v 0 0 0\nv 1 0 0\nf 1 2 -3\n", 3, RB_BAD_INPUT, "corner \"-3\"" },
        { "v 0 0 0\nf 1 1 0\n", 2, RB_BAD_INPUT, "corner \"0\"" },
        { "v 0 0 0\nf 1 1 99999999999999999999999\n", 2, RB_BAD_INPUT, "corner \"99999" },
        { "v 0 0 0\nf 1 1 1x\n", 2, RB_BAD_INPUT, "corner \"1x\"" },
        { "v 0 0 0\nf 1 1 /1\n", 2, RB_BAD_INPUT, "corner \"/1\"" },
        { "v 0 0 0\nf 1 1 1\n", 0, RB_BAD_INPUT, "no triangle" },
    };
    check_refusals(RB_IO_MESH_OBJ, cases, sizeof cases / sizeof *cases);
}

/* ---- COLLADA ---- */

#define DAE_HEAD(asset) "<?xml version=\"1.0\"?>\n<COLLADA>\n" asset "\n"
#define DAE_MESH(primitives)                                                                       \
    "<library_geometries><geometry id=\"g\"><mesh><source id=\"p\"><float_array>0 0 0  1 0 0  "    \
    "0 2 0\n0 0 3</float_array><technique_common><accessor stride=\"3\"/></technique_common>"      \
    "</source><vertices id=\"v\"><input semantic=\"POSITION\" "                                    \
    "source=\"#p\"/></vertices>\n" primitives "\n</mesh></geometry></library_geometries>\n"
#define DAE_INPUT     "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>"
#define DAE_TRIANGLES "<triangles>" DAE_INPUT "<p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>"
#define DAE_SCENE(nodes)                                                                           \
    "<library_visual_scenes><visual_scene id=\"s\">" nodes "</visual_scene>"                       \
    "</library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene>\n"
#define DAE_INSTANCE "<instance_geometry url=\"#g\"/>"
#define Z_UP         "<asset><up_axis>Z_UP</up_axis></asset>"

/* Every vertex (x, y, z) of the tetrahedron 1, 2, 3 has its image in the mesh. */
static void check_images(const rb_io_mesh *mesh, const double expected[4][3])
{
    for (int i = 0; i < 4; i++) {
        double best = INFINITY;
        for (int j = 0; j < mesh->nvert; j++) {
            double d = 0.0;
            for (int k = 0; k < 3; k++) d = fmax(d, fabs(mesh->vert[3 * j + k] - expected[i][k]));
            best = fmin(best, d);
        }
        CHECK_NEAR(best, 0.0, 1e-15);
    }
}

TEST(dae_primitives)
{
    const char *files[] = {
        DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
            DAE_SCENE("<node>" DAE_INSTANCE "</node>") "</COLLADA>",
        DAE_HEAD(Z_UP)
            DAE_MESH("<polylist>" DAE_INPUT "<input semantic=\"NORMAL\" source=\"#n\" "
                     "offset=\"1\"/><vcount>3 3 2 3 3</vcount><p>0 9 2 9 1 9 0 9 1 9 3 9 0 9 1 9 "
                     "1 9 2 9 3 9 0 9 3 9 2 9</p></polylist>") "</COLLADA>",
        DAE_HEAD(Z_UP) DAE_MESH("<polygons>" DAE_INPUT "<p>0 2 1</p><p>0 1 3</p><p>1 2 3</p>"
                                "<p>0 3 2</p></polygons><lines><p>0 1</p></lines>") "</COLLADA>",
        DAE_HEAD(Z_UP)
            DAE_MESH("<tristrips>" DAE_INPUT "<p>0 2 1 3 0 2</p></tristrips>") "</COLLADA>",
        DAE_HEAD(Z_UP)
            DAE_MESH("<trifans>" DAE_INPUT "<p>0 2 1 3 2</p></trifans><triangles>" DAE_INPUT
                     "<p>1 2 3</p></triangles>") "</COLLADA>",
    };
    const double expected[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } };
    for (int i = 0; i < 5; i++) {
        rb_io_mesh mesh = parse_text(RB_IO_MESH_DAE, files[i]);
        CHECK_INT(mesh.nvert, 4);
        CHECK_INT(mesh.nface, 4);
        CHECK_NEAR(volume(&mesh), 1.0, 1e-15);
        check_images(&mesh, expected);
        rb_io_mesh_free(&mesh);
    }
}

/* Lengths 1, 2, 3 along right, up and towards the viewer, by the table of the standard. */
TEST(dae_unit_and_up_axis)
{
    const char *y_up =
        DAE_HEAD("<asset><unit meter=\"0.5\"/></asset>") DAE_MESH(DAE_TRIANGLES) "</COLLADA>";
    const double from_y[4][3] = { { 0, 0, 0 }, { 0.5, 0, 0 }, { 0, 0, 1 }, { 0, -1.5, 0 } };
    rb_io_mesh mesh = parse_text(RB_IO_MESH_DAE, y_up);
    check_images(&mesh, from_y);
    CHECK_NEAR(volume(&mesh), 0.125, 1e-15);
    rb_io_mesh_free(&mesh);

    const char *x_up =
        DAE_HEAD("<asset><up_axis> X_UP </up_axis></asset>") DAE_MESH(DAE_TRIANGLES) "</COLLADA>";
    const double from_x[4][3] = { { 0, 0, 0 }, { 0, 0, 1 }, { -2, 0, 0 }, { 0, -3, 0 } };
    mesh = parse_text(RB_IO_MESH_DAE, x_up);
    check_images(&mesh, from_x);
    CHECK_NEAR(volume(&mesh), 1.0, 1e-15);
    CHECK_INT(mesh.turned, 1);
    rb_io_mesh_free(&mesh);

    /* MeshLab writes Y_UP whatever is up */
    const char *meshlab = DAE_HEAD("<asset><contributor><authoring_tool>VCGLib | MeshLab"
                                   "</authoring_tool></contributor><up_axis>Y_UP</up_axis></asset>")
        DAE_MESH(DAE_TRIANGLES) "</COLLADA>";
    const double as_it_is[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } };
    mesh = parse_text(RB_IO_MESH_DAE, meshlab);
    check_images(&mesh, as_it_is);
    CHECK_INT(mesh.turned, 0);
    rb_io_mesh_free(&mesh);
}

/* Transforms apply in file order, the last one first to the vertices; a mirror turns faces over. */
TEST(dae_transforms)
{
    const char *file = DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES) DAE_SCENE(
        "<node><translate>10 0 0</translate><node><rotate>0 0 1 90</rotate><scale>1 1 -2</scale>"
        "<matrix>1 0 0 0  0 1 0 0  0 0 1 5  0 0 0 1</matrix>" DAE_INSTANCE
        "</node></node>") "</COLLADA>";
    const double expected[4][3] = { { 10, 0, -10 }, { 10, 1, -10 }, { 8, 0, -10 }, { 10, 0, -16 } };
    rb_io_mesh mesh = parse_text(RB_IO_MESH_DAE, file);
    check_images(&mesh, expected);
    CHECK_NEAR(volume(&mesh), 2.0, 1e-13);
    rb_io_mesh_free(&mesh);
}

TEST(dae_instances)
{
    const char *file = DAE_HEAD(Z_UP) DAE_MESH(
        DAE_TRIANGLES) "<library_nodes><node id=\"n\"><translate>4 0 0</translate>" DAE_INSTANCE
                       "</node></library_nodes>" DAE_SCENE(
                           "<node><instance_node url=\"#n\"/><node>"
                           "<translate>4 0 0</translate><instance_node "
                           "url=\"#n\"/></node></node><node>" DAE_INSTANCE "</node>") "</COLLADA>";
    rb_io_mesh mesh = parse_text(RB_IO_MESH_DAE, file);
    CHECK_INT(mesh.nvert, 12);
    CHECK_INT(mesh.nface, 12);
    CHECK_NEAR(volume(&mesh), 3.0, 1e-13);
    rb_io_mesh_free(&mesh);
}

TEST(dae_refusals)
{
    const refusal cases[] = {
        { "<robot/>", 1, RB_BAD_INPUT, "expected <COLLADA>" },
        { "<COLLADA>", 1, RB_BAD_INPUT, "" },
        { "<COLLADA></COLLADA>", 0, RB_BAD_INPUT, "no triangle" },
        { DAE_HEAD("<asset><unit meter=\"0\"/></asset>") "</COLLADA>", 3, RB_BAD_INPUT,
          "expected a positive number" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles>" DAE_INPUT "<p>0 1 4</p></triangles>") "</COLLADA>",
          6, RB_BAD_INPUT, "index 4, expected a whole number below 4" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles>" DAE_INPUT "<p>0 1 -1</p></triangles>") "</COLLADA>",
          6, RB_BAD_INPUT, "index -1" },
        { DAE_HEAD(Z_UP)
              DAE_MESH("<triangles>" DAE_INPUT "<p>0 1 1.5</p></triangles>") "</COLLADA>",
          6, RB_BAD_INPUT, "index 1.5" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles>" DAE_INPUT "<p>0 1</p></triangles>") "</COLLADA>", 6,
          RB_BAD_INPUT, "too few numbers" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles>" DAE_INPUT "<p>0 1 x</p></triangles>") "</COLLADA>",
          6, RB_BAD_INPUT, "expected finite numbers" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles><p>0 1 2</p></triangles>") "</COLLADA>", 6,
          RB_BAD_INPUT, "semantic=\"VERTEX\"" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles><input semantic=\"VERTEX\" source=\"#x\"/>"
                                  "<p>0 1 2</p></triangles>") "</COLLADA>",
          6, RB_BAD_INPUT, "there is no <vertices>" },
        { DAE_HEAD(Z_UP) DAE_MESH("<triangles><input semantic=\"VERTEX\" source=\"#v\" "
                                  "offset=\"64\"/></triangles>") "</COLLADA>",
          6, RB_BAD_INPUT, "expected 0 .. 63" },
        { DAE_HEAD(Z_UP)
              DAE_MESH("<polygons>" DAE_INPUT "<ph><p>0 1 2</p></ph></polygons>") "</COLLADA>",
          6, RB_UNSUPPORTED, "holes" },
        { DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
              DAE_SCENE("<node><lookat>1 2 3</lookat></node>") "</COLLADA>",
          8, RB_UNSUPPORTED, "transform" },
        { DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
              DAE_SCENE("<node><rotate>1 2 3</rotate></node>") "</COLLADA>",
          8, RB_BAD_INPUT, "too few numbers" },
        { DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
              DAE_SCENE("<node><instance_controller url=\"#c\"/></node>") "</COLLADA>",
          8, RB_UNSUPPORTED, "skinned" },
        { DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
              DAE_SCENE("<node><instance_geometry url=\"#x\"/></node>") "</COLLADA>",
          8, RB_BAD_INPUT, "there is no <geometry>" },
        { DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
              DAE_SCENE("<node id=\"n\"><instance_node url=\"#n\"/></node>") "</COLLADA>",
          8, RB_BAD_INPUT, "instances itself" },
        { DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
              DAE_SCENE("<node><scale>1e200 1 1</scale><scale>1e200 1 1</scale>" DAE_INSTANCE
                        "</node>") "</COLLADA>",
          4, RB_BAD_INPUT, "not finite" },
    };
    check_refusals(RB_IO_MESH_DAE, cases, sizeof cases / sizeof *cases);
}

/* 2^60 instances in a few lines: refused within a second. */
TEST(dae_instances_are_counted)
{
    static char text[16384];
    size_t used = (size_t)snprintf(text, sizeof text, "%s%s<library_nodes>\n", DAE_HEAD(Z_UP),
                                   DAE_MESH(DAE_TRIANGLES));
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<node id=\"n%d\"><instance_node url=\"#n%d\"/><instance_node "
                                 "url=\"#n%d\"/></node>\n",
                                 i, i + 1, i + 1);
    snprintf(text + used, sizeof text - used, "<node id=\"n60\"/></library_nodes>%s</COLLADA>",
             DAE_SCENE("<node><instance_node url=\"#n0\"/></node>"));
    rb_io_mesh mesh;
    rb_error err;
    double start = seconds();
    CHECK_INT(parse(RB_IO_MESH_DAE, text, strlen(text), &mesh, &err), RB_TOO_LARGE);
    CHECK_CONTAINS(err.text, "instances counted each time");
    CHECK(seconds() - start < 5.0);
}

/* ---- files ---- */

static char folder[] = "/tmp/rattleback-mesh-XXXXXX";

static const char *file_in_folder(const char *name)
{
    static char path[256];
    if (strstr(folder, "XXXXXX")) CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const char *bytes, size_t size)
{
    const char *path = file_in_folder(name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    return path;
}

/* Two tetrahedra, 1/6 and 8/6 in volume; a group without faces before them. */
TEST(obj_files_with_several_objects)
{
    static const char text[] = "g none\no small\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                               "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
                               "o large\nv 5 0 0\nv 7 0 0\nv 5 2 0\nv 5 0 2\n"
                               "f 5 7 6\nf 5 6 8\nusemtl other\nf 5 8 7\nf 6 7 8\n";
    const char *path = write_file("two.obj", text, sizeof text - 1);
    rb_where where = { "m.xml", 1 };
    rb_io_mesh mesh;
    rb_error err = { 0 };
    CHECK_INT(rb_io_mesh_read(path, &where, NULL, &mesh, &err), RB_OK);
    CHECK_INT(mesh.nvert, 8);
    CHECK_INT(mesh.nobject, 2);
    CHECK_NEAR(volume(&mesh), 9.0 / 6.0, 1e-14);
    rb_io_mesh_free(&mesh);

    /* as MuJoCo: the mass is that of the first one, the hull that of all vertices */
    CHECK_INT(rb_io_mesh_read_mujoco(path, &where, NULL, &mesh, &err), RB_OK);
    CHECK_INT(mesh.nvert, 8);
    CHECK_INT(mesh.nface, 4);
    CHECK_INT(mesh.nobject, 2);
    CHECK_NEAR(volume(&mesh), 1.0 / 6.0, 1e-15);
    rb_io_mesh_free(&mesh);
    remove(path);
}

TEST(files_are_told_apart_by_extension_then_by_content)
{
    const char *text = "solid a\n" TETRA_TEXT "endsolid\n";
    const char *dae = " <COLLADA>" DAE_MESH(DAE_TRIANGLES) "</COLLADA>";
    const struct {
        const char *name, *bytes;
        rb_status status;
    } cases[] = {
        { "a.stl", text, RB_OK },         { "a.STL", text, RB_OK },
        { "noextension", text, RB_OK },   { "a.dae", dae, RB_OK },
        { "a.bin", dae, RB_OK },          { "a.obj", text, RB_BAD_INPUT },
        { "b.bin", "x", RB_UNSUPPORTED }, { "a.gltf", text, RB_UNSUPPORTED },
        { "a.msh", text, RB_BAD_INPUT },  { "empty.stl", "", RB_BAD_INPUT },
    };
    rb_where where = { "robot.urdf", 17 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_file(cases[i].name, cases[i].bytes, strlen(cases[i].bytes));
        rb_io_mesh mesh;
        rb_error err = { 0 };
        CHECK_INT(rb_io_mesh_read(path, &where, NULL, &mesh, &err), cases[i].status);
        if (cases[i].status == RB_UNSUPPORTED) {
            CHECK_STR(err.file, "robot.urdf");
            CHECK_INT(err.line, 17);
            CHECK_CONTAINS(err.text, "convert it to STL");
        } else if (cases[i].status != RB_OK) {
            CHECK_STR(err.file, path);
            CHECK_CONTAINS(err.text, "robot.urdf:17");
        }
        rb_io_mesh_free(&mesh);
        remove(path);
    }
}

/* A pipe would wait for its other end for ever; a hole of 300 MB would fill the memory. */
TEST(what_is_no_mesh_file_is_refused_at_once)
{
    rb_io_mesh mesh;
    rb_error err = { 0 };
    rb_where where = { "robot.urdf", 17 };
    const char *path = file_in_folder("pipe.stl");
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK_INT(rb_io_mesh_read(path, &where, NULL, &mesh, &err), RB_FILE);
    CHECK_CONTAINS(err.text, "is not a regular file");
    CHECK_INT(err.line, 17);
    remove(path);

    path = file_in_folder("missing.stl");
    CHECK_INT(rb_io_mesh_read(path, &where, NULL, &mesh, &err), RB_FILE);
    CHECK_INT(rb_io_mesh_read(folder, &where, NULL, &mesh, &err), RB_FILE);

    path = write_file("huge.stl", "x", 1);
    CHECK_INT(truncate(path, 300 << 20), 0);
    test_memory memory = { 0 };
    rb_alloc alloc = test_alloc(&memory);
    CHECK_INT(rb_io_mesh_read(path, &where, &alloc, &mesh, &err), RB_TOO_LARGE);
    CHECK_INT(memory.requests, 0);
    remove(path);
    remove(folder);
}

/* ---- scale and memory ---- */

TEST(mirrored_meshes_stay_outside_out)
{
    const double scales[][3] = { { 2, 3, 4 }, { -2, 3, 4 }, { -2, -3, 4 }, { -2, -3, -4 } };
    for (int i = 0; i < 4; i++) {
        rb_io_mesh mesh = parse_text(RB_IO_MESH_STL, "solid a\n" TETRA_TEXT "endsolid\n");
        rb_io_mesh_scale(&mesh, scales[i]);
        CHECK_NEAR(volume(&mesh), 4.0, 1e-14);
        rb_io_mesh_free(&mesh);
    }
}

TEST(every_allocation_may_fail)
{
    const struct {
        rb_io_mesh_format format;
        const char *text;
    } cases[] = {
        { RB_IO_MESH_STL, "solid a\n" TETRA_TEXT "endsolid\n" },
        { RB_IO_MESH_OBJ, BOX_VERTICES "f 1 2 4 3\nf 5 7 8 6 1\n" },
        { RB_IO_MESH_OBJ, BOX_VERTICES },
        { RB_IO_MESH_DAE, DAE_HEAD(Z_UP) DAE_MESH(DAE_TRIANGLES)
                              DAE_SCENE("<node>" DAE_INSTANCE "</node>") "</COLLADA>" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (long k = 1;; k++) {
            test_memory memory = { .fail_at = k };
            rb_alloc alloc = test_alloc(&memory);
            rb_io_mesh mesh;
            rb_error err = { 0 };
            rb_status status = rb_io_mesh_parse(cases[i].format, cases[i].text,
                                                strlen(cases[i].text), "m", &alloc, &mesh, &err);
            rb_io_mesh_free(&mesh);
            CHECK_INT(memory.live, 0);
            if (memory.requests < k) {
                CHECK_INT(status, RB_OK);
                CHECK(k > 2);
                break;
            }
            CHECK_INT(status, RB_NOMEM);
            CHECK_INT(err.status, RB_NOMEM);
        }
    }
}

TEST_MAIN(RUN(stl_binary_has_its_vertices_joined), RUN(stl_header_may_lie),
          RUN(stl_cut_anywhere_is_refused), RUN(stl_coordinates_are_finite), RUN(stl_text),
          RUN(stl_text_refusals), RUN(obj_polygons_and_indices), RUN(obj_concave_polygons),
          RUN(obj_polygons_that_are_not_flat_weigh_as_in_mujoco),
          RUN(obj_polygons_do_not_take_for_ever), RUN(points_without_faces_are_their_hull),
          RUN(msh_of_mujoco), RUN(obj_polygon_with_many_corners_is_a_fan),
          RUN(equal_vertices_become_one_and_keep_their_order), RUN(obj_files_with_several_objects),
          RUN(obj_refusals), RUN(dae_primitives), RUN(dae_unit_and_up_axis), RUN(dae_transforms),
          RUN(dae_instances), RUN(dae_refusals), RUN(dae_instances_are_counted),
          RUN(files_are_told_apart_by_extension_then_by_content),
          RUN(what_is_no_mesh_file_is_refused_at_once), RUN(mirrored_meshes_stay_outside_out),
          RUN(every_allocation_may_fail))
