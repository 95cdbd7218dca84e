/* STL, binary or text.
 *
 *     binary: 80 bytes of anything, uint32 count, count x (normal, 3 corners: 12 floats; 2 bytes),
 *             little endian
 *     text:   solid NAME  { facet normal x y z  outer loop  3 x vertex x y z  endloop endfacet }
 *             endsolid NAME, blanks and line ends alike
 *
 * A binary file may begin with "solid", so the size decides: a file that is as long as its count
 * says is binary. Normals are not used; the order of corners defines the outside. */
#include <stdint.h>
#include <string.h>

#include "io/mesh_build.h"
#include "io/xml.h"
#include "rattleback/load.h"

enum { HEADER = 84, TRIANGLE = 50 };

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static double read_float(const unsigned char *at)
{
    uint32_t bits = read_u32(at);
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static rb_status parse_binary(rb_io_soup *soup, const unsigned char *bytes, size_t count)
{
    for (size_t f = 0; f < count; f++) {
        const unsigned char *corner = bytes + HEADER + f * TRIANGLE + 12;
        for (int i = 0; i < 3; i++, corner += 12) {
            double v[3] = { read_float(corner), read_float(corner + 4), read_float(corner + 8) };
            if (v[0] - v[0] != 0.0 || v[1] - v[1] != 0.0 || v[2] - v[2] != 0.0)
                return rb_io_soup_refuse(soup, RB_BAD_INPUT, 0,
                                         "STL: triangle %zu has a coordinate that is not finite",
                                         f + 1);
            rb_status status = rb_io_soup_vertex(soup, 0, v);
            if (status != RB_OK) return status;
        }
        int first = (int)(3 * f);
        rb_status status = rb_io_soup_triangle(soup, 0, first, first + 1, first + 2);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* ---- text ---- */

/* Words of the text, one after the other. */
typedef struct words {
    const char *at, *end;
    int line;
    const char *word;
    size_t length;
} words;

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* The next word; 0 at the end. */
static int next_word(words *w)
{
    while (w->at < w->end && is_blank(*w->at)) w->line += *w->at++ == '\n';
    w->word = w->at;
    while (w->at < w->end && !is_blank(*w->at)) w->at++;
    w->length = (size_t)(w->at - w->word);
    return w->length > 0;
}

static void skip_line(words *w)
{
    while (w->at < w->end && *w->at != '\n') w->at++;
}

static int word_is(const words *w, const char *text)
{
    if (strlen(text) != w->length) return 0;
    for (size_t i = 0; i < w->length; i++) {
        char c = w->word[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != text[i]) return 0;
    }
    return 1;
}

static rb_status expect(rb_io_soup *soup, words *w, const char *text)
{
    if (next_word(w) && word_is(w, text)) return RB_OK;
    return rb_io_soup_refuse(soup, RB_BAD_INPUT, w->line, "STL text: \"%.*s\", expected \"%s\"",
                             w->length < 40 ? (int)w->length : 40, w->word, text);
}

static rb_status vertex(rb_io_soup *soup, words *w)
{
    rb_status status = expect(soup, w, "vertex");
    if (status != RB_OK) return status;
    double v[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        next_word(w);
        const char *at = w->word;
        if (!rb_xml_scan_number(&at, w->word + w->length, v + i))
            return rb_io_soup_refuse(soup, RB_BAD_INPUT, w->line,
                                     "STL text: \"%.*s\", expected a finite coordinate",
                                     w->length < 40 ? (int)w->length : 40, w->word);
    }
    return rb_io_soup_vertex(soup, w->line, v);
}

/* What follows the word "facet". */
static rb_status facet(rb_io_soup *soup, words *w)
{
    rb_status status = expect(soup, w, "normal");
    for (int i = 0; i < 3 && status == RB_OK; i++) next_word(w);
    if (status == RB_OK) status = expect(soup, w, "outer");
    if (status == RB_OK) status = expect(soup, w, "loop");
    for (int i = 0; i < 3 && status == RB_OK; i++) status = vertex(soup, w);
    if (status == RB_OK) status = expect(soup, w, "endloop");
    if (status == RB_OK) status = expect(soup, w, "endfacet");
    if (status != RB_OK) return status;
    int behind = (int)soup->nvert;
    return rb_io_soup_triangle(soup, w->line, behind - 3, behind - 2, behind - 1);
}

static rb_status parse_text(rb_io_soup *soup, const char *bytes, size_t size)
{
    words w = { .at = bytes, .end = bytes + size, .line = 1 };
    int inside = 0;
    while (next_word(&w)) {
        rb_status status = RB_OK;
        if (word_is(&w, "solid") || word_is(&w, "endsolid")) {
            inside = word_is(&w, "solid");
            skip_line(&w);
        } else if (inside && word_is(&w, "facet")) {
            status = facet(soup, &w);
        } else {
            return rb_io_soup_refuse(soup, RB_BAD_INPUT, w.line,
                                     "STL text: \"%.*s\", expected \"%s\"",
                                     w.length < 40 ? (int)w.length : 40, w.word,
                                     inside ? "facet" : "solid");
        }
        if (status != RB_OK) return status;
    }
    if (inside)
        return rb_io_soup_refuse(soup, RB_BAD_INPUT, w.line,
                                 "STL text: the file ends without endsolid");
    return RB_OK;
}

/* A binary file may have less than one triangle of padding after it. */
rb_status rb_io_stl_parse(rb_io_soup *soup, const char *bytes, size_t size)
{
    const unsigned char *raw = (const unsigned char *)bytes;
    words first = { .word = bytes, .length = 5 };
    int says_solid = size >= 5 && word_is(&first, "solid");
    size_t count = size >= HEADER ? read_u32(raw + 80) : 0;
    size_t present = size >= HEADER ? (size - HEADER) / TRIANGLE : 0;
    if (says_solid && (size < HEADER || count != present)) return parse_text(soup, bytes, size);

    if (size < HEADER)
        return rb_io_soup_refuse(soup, RB_BAD_INPUT, 0,
                                 "STL: %zu bytes, less than the header of a binary file", size);
    if (count > RB_LOAD_MAX_FACES)
        return rb_io_soup_refuse(soup, RB_TOO_LARGE, 0,
                                 "STL: the header says %zu triangles, at most %zu are read", count,
                                 RB_LOAD_MAX_FACES);
    if (count != present)
        return rb_io_soup_refuse(soup, RB_BAD_INPUT, 0,
                                 "STL: the header says %zu triangles, the file holds %zu", count,
                                 present);
    return parse_binary(soup, raw, count);
}
