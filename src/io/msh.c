/* MSH, the binary format of older MuJoCo versions, little endian:
 *
 *     int32 nvertex, nnormal, ntexcoord, nface
 *     float vertex[3 nvertex], normal[3 nnormal], texcoord[2 ntexcoord]; int32 face[3 nface]
 *
 * Normals and texture coordinates are not used. */
#include <stdint.h>
#include <string.h>

#include "io/mesh_build.h"
#include "rattleback/load.h"

enum { HEADER = 16 };

static int32_t read_i32(const unsigned char *at)
{
    uint32_t bits =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double read_float(const unsigned char *at)
{
    int32_t bits = read_i32(at);
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static rb_status read_vertices(rb_io_soup *soup, const unsigned char *at, size_t count)
{
    for (size_t i = 0; i < count; i++, at += 12) {
        double v[3] = { read_float(at), read_float(at + 4), read_float(at + 8) };
        if (v[0] - v[0] != 0.0 || v[1] - v[1] != 0.0 || v[2] - v[2] != 0.0)
            return rb_io_soup_refuse(soup, RB_BAD_INPUT, 0,
                                     "MSH: vertex %zu has a coordinate that is not finite", i);
        rb_status status = rb_io_soup_vertex(soup, 0, v);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

static rb_status read_faces(rb_io_soup *soup, const unsigned char *at, size_t count)
{
    for (size_t f = 0; f < count; f++, at += 12) {
        int32_t corner[3] = { read_i32(at), read_i32(at + 4), read_i32(at + 8) };
        for (int k = 0; k < 3; k++)
            if (corner[k] < 0 || (size_t)corner[k] >= soup->nvert)
                return rb_io_soup_refuse(soup, RB_BAD_INPUT, 0,
                                         "MSH: face %zu names vertex %d: expected 0 to %zu", f,
                                         (int)corner[k], soup->nvert - 1);
        rb_status status = rb_io_soup_triangle(soup, 0, corner[0], corner[1], corner[2]);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

rb_status rb_io_msh_parse(rb_io_soup *soup, const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t count[4] = { 0 }, needed = HEADER;
    static const uint64_t width[4] = { 12, 12, 8, 12 };
    for (size_t k = 0; k < 4 && size >= HEADER; k++) {
        int32_t n = read_i32(at + 4 * k);
        count[k] = n > 0 ? (uint64_t)n : 0;
        needed += n >= 0 ? count[k] * width[k] : size;
    }
    if (size < HEADER || needed != size || count[0] == 0)
        return rb_io_soup_refuse(
            soup, RB_BAD_INPUT, 0,
            "MSH: expected four counts, vertices, normals, texture coordinates "
            "and faces, and nothing else");
    rb_status status = read_vertices(soup, at + HEADER, (size_t)count[0]);
    if (status != RB_OK) return status;
    return read_faces(soup, at + (size - (size_t)count[3] * width[3]), (size_t)count[3]);
}
