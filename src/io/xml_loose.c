/* A document rewritten as XML has it, byte by byte. */
#include "io/xml_loose.h"

#include <string.h>

typedef struct writer {
    char *out; /* NULL: counts only */
    size_t length;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    if (w->out) memcpy(w->out + w->length, text, length);
    w->length += length;
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '#';
}

/* Whether the ampersand at `at` begins an entity, known or not. */
static int is_entity(const char *bytes, size_t size, size_t at)
{
    size_t end = at + 1;
    while (end < size && is_name(bytes[end])) end++;
    return end > at + 1 && end < size && bytes[end] == ';';
}

static int separates(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '/' || c == '>' || c == '?';
}

/* From a quotation mark to the one that closes it. Returns the place after that. */
static size_t copy_value(writer *w, const char *bytes, size_t size, size_t at)
{
    char quote = bytes[at];
    put(w, bytes + at++, 1);
    for (; at < size && bytes[at] != quote; at++) {
        if (bytes[at] == '<')
            put(w, "&lt;", 4);
        else if (bytes[at] == '&' && !is_entity(bytes, size, at))
            put(w, "&amp;", 5);
        else
            put(w, bytes + at, 1);
    }
    if (at == size) return at;
    put(w, bytes + at++, 1);
    if (at < size && !separates(bytes[at])) put(w, " ", 1);
    return at;
}

/* From an opening bracket to the closing one. */
static size_t copy_tag(writer *w, const char *bytes, size_t size, size_t at)
{
    while (at < size && bytes[at] != '>') {
        if (bytes[at] == '"' || bytes[at] == '\'')
            at = copy_value(w, bytes, size, at);
        else
            put(w, bytes + at++, 1);
    }
    return at;
}

/* To the end of a section of characters, which is copied unchanged. */
static size_t copy_section(writer *w, const char *bytes, size_t size, size_t at)
{
    size_t from = at;
    while (at < size && !(size - at >= 3 && memcmp(bytes + at, "]]>", 3) == 0)) at++;
    put(w, bytes + from, at - from);
    return at;
}

size_t rb_xml_loosen(const char *bytes, size_t size, char *out)
{
    writer w = { .out = out };
    size_t at = 0;
    for (; at < size && bytes[at] != '<'; at++) put(&w, bytes[at] == '\n' ? "\n" : " ", 1);
    while (at < size) {
        if (size - at >= 9 && memcmp(bytes + at, "<![CDATA[", 9) == 0) {
            at = copy_section(&w, bytes, size, at);
        } else if (bytes[at] == '<') {
            at = copy_tag(&w, bytes, size, at);
        } else {
            int bare = bytes[at] == '&' && !is_entity(bytes, size, at);
            put(&w, bare ? "&amp;" : bytes + at, bare ? 5 : 1);
            at++;
        }
    }
    return w.length;
}
