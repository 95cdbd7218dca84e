/* Typed access to elements and attributes, and the sentence for everything that can be wrong. */
#include "io/xml.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- messages ---------------------------------------------------------------------------------*/

rb_status rb_xml_refuse(const rb_xml_node *node, const char *attr, rb_error *err, rb_status status,
                        const char *format, ...)
{
    if (!err) return status;
    char sentence[448];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);

    const char *name = rb_xml_get(node, "name");
    const char *colon = attr ? ": " : "";
    if (!attr) attr = "";
    if (name)
        return rb_io_error_set(err, status, node->file, node->line,
                               "<%.40s name=\"%.60s\"> %.40s%s%s", node->name, name, attr, colon,
                               sentence);
    return rb_io_error_set(err, status, node->file, node->line, "<%.40s> %.40s%s%s", node->name,
                           attr, colon, sentence);
}

/* ---- elements ---------------------------------------------------------------------------------*/

int rb_xml_is(const rb_xml_node *node, const char *name)
{
    return strcmp(node->name, name) == 0;
}

const rb_xml_node *rb_xml_child(const rb_xml_node *node, const char *name)
{
    const rb_xml_node *child = node->child;
    while (child && !rb_xml_is(child, name)) child = child->next;
    return child;
}

const rb_xml_node *rb_xml_next(const rb_xml_node *node)
{
    const rb_xml_node *next = node->next;
    while (next && !rb_xml_is(next, node->name)) next = next->next;
    return next;
}

/* Index of `word` among the blank-separated words, -1: not there. */
static int index_of(const char *word, const char *words)
{
    size_t length = strlen(word);
    for (int index = 0; *words; index++) {
        size_t each = strcspn(words, " ");
        if (each == length && memcmp(words, word, length) == 0) return index;
        words += each;
        words += strspn(words, " ");
    }
    return -1;
}

int rb_xml_in(const char *word, const char *words)
{
    return index_of(word, words) >= 0;
}

rb_status rb_xml_check_attrs(const rb_xml_node *node, const char *known, rb_error *err)
{
    for (int k = 0; k < node->nattr; k++) {
        if (rb_xml_in(node->attr[k].name, known)) continue;
        return rb_xml_refuse(node, NULL, err, RB_BAD_INPUT,
                             "has no attribute \"%.40s\"; it knows: %s", node->attr[k].name, known);
    }
    return RB_OK;
}

/* ---- attributes -------------------------------------------------------------------------------*/

const char *rb_xml_get(const rb_xml_node *node, const char *attr)
{
    for (int k = 0; k < node->nattr; k++)
        if (strcmp(node->attr[k].name, attr) == 0) return node->attr[k].value;
    return NULL;
}

rb_status rb_xml_need(const rb_xml_node *node, const char *attr, const char **out, rb_error *err)
{
    *out = rb_xml_get(node, attr);
    if (*out && **out) return RB_OK;
    return rb_xml_refuse(node, attr, err, RB_BAD_INPUT, "the attribute is %s",
                         *out ? "empty" : "missing");
}

/* Text that is to be read as numbers, and how to speak of it. */
typedef struct source {
    const rb_xml_node *node;
    const char *attr; /* NULL: the text of the element */
    const char *at, *end;
} source;

static void skip_blanks(source *s)
{
    while (s->at < s->end && is_blank(*s->at)) s->at++;
}

static rb_status not_a_number(const source *s, const char *kind, rb_error *err)
{
    int length = 0;
    while (s->at + length < s->end && length < 40 && !is_blank(s->at[length])) length++;
    return rb_xml_refuse(s->node, s->attr, err, RB_BAD_INPUT, "\"%.*s\" is not a %s", length, s->at,
                         kind);
}

static rb_status next_number(source *s, double *out, rb_error *err)
{
    if (rb_xml_scan_number(&s->at, s->end, out)) return RB_OK;
    return not_a_number(s, "finite number", err);
}

static rb_status next_int(source *s, int *out, rb_error *err)
{
    double x;
    const char *begin = s->at;
    if (!rb_xml_scan_number(&s->at, s->end, &x)) return not_a_number(s, "whole number", err);
    if (x >= INT_MIN && x <= INT_MAX && x == (double)(int)x) {
        *out = (int)x;
        return RB_OK;
    }
    s->at = begin;
    return not_a_number(s, "whole number of 32 bits", err);
}

static rb_status wrong_count(const source *s, int least, int most, int found, rb_error *err)
{
    char expected[48];
    if (least == most)
        snprintf(expected, sizeof expected, "%d number%s", most, most == 1 ? "" : "s");
    else
        snprintf(expected, sizeof expected, "%d to %d numbers", least, most);
    if (found > most)
        return rb_xml_refuse(s->node, s->attr, err, RB_BAD_INPUT, "expected %s, there are more",
                             expected);
    return rb_xml_refuse(s->node, s->attr, err, RB_BAD_INPUT, "expected %s, found %d", expected,
                         found);
}

static int open_attr(source *s, const rb_xml_node *node, const char *attr)
{
    const char *value = rb_xml_get(node, attr);
    if (!value) return 0;
    *s = (source){ node, attr, value, value + strlen(value) };
    return 1;
}

rb_status rb_xml_numbers(const rb_xml_node *node, const char *attr, int least, int most,
                         double *out, int *count, rb_error *err)
{
    source s;
    int found = 0;
    if (count) *count = 0;
    if (!open_attr(&s, node, attr)) return RB_OK;
    for (skip_blanks(&s); s.at < s.end; skip_blanks(&s)) {
        double x = 0.0;
        rb_status status = next_number(&s, &x, err);
        if (status != RB_OK) return status;
        if (found == most) return wrong_count(&s, least, most, found + 1, err);
        out[found++] = x;
    }
    if (found < least) return wrong_count(&s, least, most, found, err);
    if (count) *count = found;
    return RB_OK;
}

rb_status rb_xml_number(const rb_xml_node *node, const char *attr, double *out, rb_error *err)
{
    return rb_xml_numbers(node, attr, 1, 1, out, NULL, err);
}

rb_status rb_xml_ints(const rb_xml_node *node, const char *attr, int least, int most, int *out,
                      int *count, rb_error *err)
{
    source s;
    int found = 0;
    if (count) *count = 0;
    if (!open_attr(&s, node, attr)) return RB_OK;
    for (skip_blanks(&s); s.at < s.end; skip_blanks(&s)) {
        int x = 0;
        rb_status status = next_int(&s, &x, err);
        if (status != RB_OK) return status;
        if (found == most) return wrong_count(&s, least, most, found + 1, err);
        out[found++] = x;
    }
    if (found < least) return wrong_count(&s, least, most, found, err);
    if (count) *count = found;
    return RB_OK;
}

rb_status rb_xml_int(const rb_xml_node *node, const char *attr, int *out, rb_error *err)
{
    return rb_xml_ints(node, attr, 1, 1, out, NULL, err);
}

/* Words separated by blanks: how much memory a list needs. */
static size_t count_words(const source *s)
{
    size_t count = 0;
    int inside = 0;
    for (const char *c = s->at; c < s->end; c++) {
        if (!is_blank(*c) && !inside) count++;
        inside = !is_blank(*c);
    }
    return count;
}

static rb_status take_list(rb_xml_doc *doc, source *s, size_t size, void **out, size_t *count,
                           rb_error *err)
{
    *count = count_words(s);
    *out = rb_xml_take(doc, *count, size);
    if (*out) return RB_OK;
    return rb_xml_refuse(s->node, s->attr, err, RB_NOMEM, "out of memory for %zu numbers", *count);
}

static rb_status scan_list(rb_xml_doc *doc, source *s, double **out, size_t *count, rb_error *err)
{
    void *memory = NULL;
    rb_status status = take_list(doc, s, sizeof **out, &memory, count, err);
    *out = memory;
    for (size_t k = 0; k < *count && status == RB_OK; k++) {
        skip_blanks(s);
        status = next_number(s, *out + k, err);
    }
    return status;
}

static rb_status scan_int_list(rb_xml_doc *doc, source *s, int **out, size_t *count, rb_error *err)
{
    void *memory = NULL;
    rb_status status = take_list(doc, s, sizeof **out, &memory, count, err);
    *out = memory;
    for (size_t k = 0; k < *count && status == RB_OK; k++) {
        skip_blanks(s);
        status = next_int(s, *out + k, err);
    }
    return status;
}

rb_status rb_xml_list(rb_xml_doc *doc, const rb_xml_node *node, const char *attr, double **out,
                      size_t *count, rb_error *err)
{
    source s;
    *out = NULL;
    *count = 0;
    return open_attr(&s, node, attr) ? scan_list(doc, &s, out, count, err) : RB_OK;
}

rb_status rb_xml_int_list(rb_xml_doc *doc, const rb_xml_node *node, const char *attr, int **out,
                          size_t *count, rb_error *err)
{
    source s;
    *out = NULL;
    *count = 0;
    return open_attr(&s, node, attr) ? scan_int_list(doc, &s, out, count, err) : RB_OK;
}

rb_status rb_xml_word(const rb_xml_node *node, const char *attr, const char *words, int *out,
                      rb_error *err)
{
    const char *value = rb_xml_get(node, attr);
    if (!value) return RB_OK;
    int index = index_of(value, words);
    if (index < 0)
        return rb_xml_refuse(node, attr, err, RB_BAD_INPUT, "\"%.40s\" is not one of: %s", value,
                             words);
    *out = index;
    return RB_OK;
}

rb_status rb_xml_bool(const rb_xml_node *node, const char *attr, int *out, rb_error *err)
{
    return rb_xml_word(node, attr, "false true", out, err);
}
