/* Bytes -> tree. Expat calls back for every tag and piece of text; the tree is built in chunks of
 * memory that belong to the document. The first budget that is exceeded stops the parser, so that
 * a hostile file costs no more than the budgets allow. */
#include "io/xml.h"

#include <expat.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/xml_loose.h"

/* ---- memory of a document ---------------------------------------------------------------------*/

enum { CHUNK_BYTES = 1 << 16, ALIGNMENT = 16 };

struct rb_xml_chunk {
    struct rb_xml_chunk *next;
    size_t used, room;
    max_align_t bytes[];
};

void *rb_xml_take(rb_xml_doc *doc, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2 - CHUNK_BYTES) / size) return NULL;
    size_t need = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    struct rb_xml_chunk *chunk = doc->chunks;
    if (!chunk || chunk->room - chunk->used < need) {
        size_t room = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        chunk = doc->alloc.alloc(doc->alloc.ctx, sizeof *chunk + room);
        if (!chunk) return NULL;
        *chunk = (struct rb_xml_chunk){ .next = doc->chunks, .room = room };
        doc->chunks = chunk;
    }
    void *piece = (char *)chunk->bytes + chunk->used;
    chunk->used += need;
    return piece;
}

char *rb_xml_copy(rb_xml_doc *doc, const char *text, size_t length)
{
    char *copy = rb_xml_take(doc, length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void rb_xml_free(rb_xml_doc *doc)
{
    if (!doc) return;
    rb_alloc alloc = doc->alloc;
    while (doc->chunks) {
        struct rb_xml_chunk *next = doc->chunks->next;
        alloc.release(alloc.ctx, doc->chunks);
        doc->chunks = next;
    }
    alloc.release(alloc.ctx, doc);
}

/* ---- Expat's memory ---------------------------------------------------------------------------*/

/* Expat's memory functions get no context, so the allocator of the parse that is under way on this
 * thread is kept here; nothing outlives rb_xml_parse. */
static _Thread_local const rb_alloc *expat_alloc;

static void *expat_take(size_t size)
{
    return expat_alloc->alloc(expat_alloc->ctx, size);
}

static void *expat_resize(void *block, size_t size)
{
    return expat_alloc->resize(expat_alloc->ctx, block, size);
}

static void expat_release(void *block)
{
    if (block) expat_alloc->release(expat_alloc->ctx, block);
}

/* ---- building the tree ------------------------------------------------------------------------*/

typedef struct builder {
    rb_xml_doc *doc;
    XML_Parser parser;
    const char *file;
    rb_error *err;
    rb_status status;
    int first_line; /* lines skipped before the bytes that Expat sees */
    int depth;
    size_t nattr;
    rb_xml_node *open; /* innermost open element */

    /* text of all open elements, innermost last; a closing element takes its part off the end */
    char *text;
    size_t length, room;
    size_t begin[RB_LOAD_MAX_DEPTH + 1];
} builder;

static int line_now(const builder *b)
{
    XML_Size line = XML_GetCurrentLineNumber(b->parser);
    return b->first_line + (line > (XML_Size)INT32_MAX / 2 ? INT32_MAX / 2 : (int)line);
}

__attribute__((format(printf, 3, 4))) static void stop(builder *b, rb_status status,
                                                       const char *format, ...)
{
    if (b->status != RB_OK) return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    b->status = rb_io_error_set(b->err, status, b->file, line_now(b), "%s", text);
    XML_StopParser(b->parser, XML_FALSE);
}

static void stop_nomem(builder *b)
{
    stop(b, RB_NOMEM, "out of memory while reading XML");
}

static int copy_attrs(builder *b, rb_xml_node *node, const XML_Char **attrs)
{
    size_t count = 0;
    while (attrs[2 * count]) count++;
    if (count > RB_XML_MAX_ATTRS_EACH || b->nattr + count > RB_XML_MAX_ATTRS) {
        stop(b, RB_TOO_LARGE, "<%.40s> has %zu attributes: more than this reader takes", node->name,
             count);
        return 0;
    }
    b->nattr += count;
    node->nattr = (int)count;
    if (count == 0) return 1;

    node->attr = rb_xml_take(b->doc, count, sizeof *node->attr);
    if (!node->attr) return 0;
    for (size_t k = 0; k < count; k++) {
        node->attr[k].name = rb_xml_copy(b->doc, attrs[2 * k], strlen(attrs[2 * k]));
        node->attr[k].value = rb_xml_copy(b->doc, attrs[2 * k + 1], strlen(attrs[2 * k + 1]));
        if (!node->attr[k].name || !node->attr[k].value) return 0;
    }
    return 1;
}

static void link_node(builder *b, rb_xml_node *node)
{
    node->parent = b->open;
    if (!b->open)
        b->doc->root = node;
    else if (!b->open->child)
        b->open->child = node;
    else
        b->open->last_child->next = node;
    if (b->open) b->open->last_child = node;
}

static void XMLCALL on_start(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    builder *b = ctx;
    if (b->status != RB_OK) return;
    if (b->depth >= RB_LOAD_MAX_DEPTH) {
        stop(b, RB_TOO_LARGE, "<%.40s> is nested deeper than %d elements", name, RB_LOAD_MAX_DEPTH);
        return;
    }
    if (b->doc->nelement >= RB_LOAD_MAX_ELEMENTS) {
        stop(b, RB_TOO_LARGE, "more than %zu elements", RB_LOAD_MAX_ELEMENTS);
        return;
    }

    rb_xml_node *node = rb_xml_take(b->doc, 1, sizeof *node);
    if (!node) {
        stop_nomem(b);
        return;
    }
    *node = (rb_xml_node){ .file = b->file, .line = line_now(b), .text = "" };
    node->name = rb_xml_copy(b->doc, name, strlen(name));
    if (!node->name || !copy_attrs(b, node, attrs)) {
        stop_nomem(b);
        return;
    }
    link_node(b, node);
    b->open = node;
    b->doc->nelement++;
    b->begin[++b->depth] = b->length;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
    (void)name;
    builder *b = ctx;
    if (b->status != RB_OK) return;

    /* blanks around the text say nothing */
    size_t begin = b->begin[b->depth], end = b->length;
    while (begin < end && is_blank(b->text[begin])) begin++;
    while (begin < end && is_blank(b->text[end - 1])) end--;
    if (begin < end) {
        b->open->text_length = end - begin;
        b->open->text = rb_xml_copy(b->doc, b->text + begin, end - begin);
        if (!b->open->text) {
            b->open->text = "";
            stop_nomem(b);
            return;
        }
    }
    b->length = b->begin[b->depth--];
    b->open = b->open->parent;
}

static void XMLCALL on_text(void *ctx, const XML_Char *text, int length)
{
    builder *b = ctx;
    if (b->status != RB_OK || length <= 0) return;

    /* blanks between elements are most of the text of a model file: not kept */
    int blank = b->length == b->begin[b->depth];
    for (int k = 0; k < length && blank; k++) blank = is_blank(text[k]);
    if (blank) return;

    size_t need = b->length + (size_t)length;
    if (need > b->room) {
        size_t room = need < CHUNK_BYTES ? CHUNK_BYTES : 2 * need;
        char *grown = b->doc->alloc.resize(b->doc->alloc.ctx, b->text, room);
        if (!grown) {
            stop_nomem(b);
            return;
        }
        b->text = grown;
        b->room = room;
    }
    memcpy(b->text + b->length, text, (size_t)length);
    b->length = need;
}

static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_internal_subset)
{
    (void)name, (void)system_id, (void)public_id, (void)has_internal_subset;
    stop(ctx, RB_BAD_INPUT,
         "a document type declaration (<!DOCTYPE>) and its entities are not read; remove it");
}

/* ---- the parse --------------------------------------------------------------------------------*/

/* Position after the first `mark` in the bytes from `at` on; `size` where there is none. */
static size_t behind(const char *bytes, size_t size, size_t at, const char *mark)
{
    size_t length = strlen(mark);
    for (; at + length <= size; at++) {
        const char *hit = memchr(bytes + at, mark[0], size - at);
        if (!hit) return size;
        at = (size_t)(hit - bytes);
        if (at + length <= size && memcmp(hit, mark, length) == 0) return at + length;
    }
    return size;
}

/* Overwrites comments by blanks, lines kept. A comment without an end is left for the message of
 * Expat. */
static void blank_comments(char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size) {
        const char *hit = memchr(bytes + at, '<', size - at);
        if (!hit) return;
        at = (size_t)(hit - bytes);
        if (size - at >= 9 && memcmp(hit, "<![CDATA[", 9) == 0) {
            at = behind(bytes, size, at, "]]>");
        } else if (size - at >= 4 && memcmp(hit, "<!--", 4) == 0) {
            size_t end = behind(bytes, size, at + 4, "-->");
            if (end - at < 7 || memcmp(bytes + end - 3, "-->", 3) != 0) return;
            for (; at < end; at++)
                if (bytes[at] != '\n' && bytes[at] != '\r') bytes[at] = ' ';
        } else {
            at++;
        }
    }
}

static int bytes_are_utf16(const char *bytes, size_t size)
{
    return size >= 2 && (((unsigned char)bytes[0] == 0xFE && (unsigned char)bytes[1] == 0xFF) ||
                         ((unsigned char)bytes[0] == 0xFF && (unsigned char)bytes[1] == 0xFE));
}

static rb_status say_syntax(builder *b)
{
    if (b->status != RB_OK) return b->status;
    enum XML_Error code = XML_GetErrorCode(b->parser);
    if (code == XML_ERROR_NO_MEMORY)
        return rb_io_error_set(b->err, RB_NOMEM, b->file, line_now(b), "out of memory");
    return rb_io_error_set(b->err, RB_BAD_INPUT, b->file, line_now(b), "not valid XML: %s",
                           XML_ErrorString(code));
}

/* The error of the parser after the root is a further closing tag. */
static int closes_again(const char *bytes, size_t size, XML_Index at)
{
    size_t i = at > 0 ? (size_t)at : 0;
    if (i > 0 && i < size && bytes[i] == '/') i--;
    return i + 1 < size && bytes[i] == '<' && bytes[i + 1] == '/';
}

static rb_status feed(builder *b, char *bytes, size_t size)
{
    /* a comment or empty line before <?xml ...?> and a 0 byte at the end (a C string written with
     * its terminator) are common, though XML forbids them */
    size_t skip = 0;
    if (!bytes_are_utf16(bytes, size)) {
        while (size > 0 && bytes[size - 1] == '\0') size--;
        blank_comments(bytes, size);
        size_t bom = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        for (skip = bom; skip < size && is_blank(bytes[skip]); skip++)
            b->first_line += bytes[skip] == '\n';
    }
    if (skip == size) return rb_io_error_set(b->err, RB_BAD_INPUT, b->file, 1, "the file is empty");

    XML_SetUserData(b->parser, b);
    XML_SetElementHandler(b->parser, on_start, on_end);
    XML_SetCharacterDataHandler(b->parser, on_text);
    XML_SetStartDoctypeDeclHandler(b->parser, on_doctype);
    enum XML_Status ok = XML_Parse(b->parser, bytes + skip, (int)(size - skip), 1);
    if (ok == XML_STATUS_OK) return b->status;
    XML_Index at = XML_GetCurrentByteIndex(b->parser);
    if (b->status != RB_OK || !b->doc->root || b->depth > 0 ||
        !closes_again(bytes + skip, size - skip, at))
        return say_syntax(b);
    b->doc->rest_line = line_now(b);
    return RB_OK;
}

static int may_be_loose(const builder *b)
{
    return b->status == RB_OK && XML_GetErrorCode(b->parser) == XML_ERROR_INVALID_TOKEN;
}

/* Another try, as other readers take the file. bytes: comments are blank already. What fails here
 * too is reported as it was. */
static rb_status feed_loose(builder *b, const char *bytes, size_t size, rb_status status)
{
    const rb_alloc *a = &b->doc->alloc;
    size_t need = rb_xml_loosen(bytes, size, NULL);
    int line = line_now(b);
    rb_error first = { 0 };
    if (b->err) first = *b->err;
    char *text = need >= size && need <= RB_LOAD_MAX_MESH ? a->alloc(a->ctx, need + 1) : NULL;
    if (!text) return status;
    rb_xml_loosen(bytes, size, text);
    XML_ParserReset(b->parser, NULL);
    *b->doc = (rb_xml_doc){ .alloc = *a, .chunks = b->doc->chunks };
    builder again = { .doc = b->doc,
                      .parser = b->parser,
                      .file = b->file,
                      .err = b->err,
                      .text = b->text,
                      .room = b->room };
    rb_status now = feed(&again, text, need);
    a->release(a->ctx, text);
    *b = again;
    if (now == RB_OK) b->doc->loose_line = line;
    if (now != RB_OK && b->err) *b->err = first;
    return now == RB_OK ? now : status;
}

static rb_status parse(rb_xml_doc *doc, const char *bytes, size_t size, const char *file,
                       rb_error *err)
{
    if (size > RB_LOAD_MAX_MESH)
        return rb_io_error_set(err, RB_TOO_LARGE, file, 0, "%zu bytes of XML, at most %zu are read",
                               size, RB_LOAD_MAX_MESH);
    const rb_alloc *a = &doc->alloc;
    const XML_Memory_Handling_Suite memory = { expat_take, expat_resize, expat_release };
    builder b = { .doc = doc, .err = err };
    rb_status status = RB_NOMEM;
    const rb_alloc *outer = expat_alloc;
    expat_alloc = a;

    char *copy = a->alloc(a->ctx, size + 1);
    b.file = file ? rb_xml_copy(doc, file, strlen(file)) : NULL;
    b.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (copy && (b.file || !file) && b.parser) {
        memcpy(copy, bytes, size);
        status = feed(&b, copy, size);
        if (status == RB_BAD_INPUT && may_be_loose(&b) && !bytes_are_utf16(copy, size))
            status = feed_loose(&b, copy, size, status);
    } else {
        rb_io_error_set(err, RB_NOMEM, file, 0, "out of memory for %zu bytes of XML", size);
    }

    if (b.parser) XML_ParserFree(b.parser);
    if (b.text) a->release(a->ctx, b.text);
    if (copy) a->release(a->ctx, copy);
    expat_alloc = outer;
    return status;
}

rb_xml_doc *rb_xml_parse(const char *bytes, size_t size, const char *file, const rb_alloc *alloc,
                         rb_error *err)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    rb_xml_doc *doc = a.alloc(a.ctx, sizeof *doc);
    if (!doc) {
        rb_io_error_set(err, RB_NOMEM, file, 0, "out of memory");
        return NULL;
    }
    *doc = (rb_xml_doc){ .alloc = a };
    if (parse(doc, bytes, size, file, err) != RB_OK) {
        rb_xml_free(doc);
        return NULL;
    }
    return doc;
}
