/* XML into a tree of bounded size, by Expat, and typed access to attributes.
 *
 * Files are not trusted. A document type declaration, and with it every entity, is refused; depth,
 * elements and attributes are counted while parsing. Names, values and nodes live in the document
 * and are freed with it. Nodes carry the file and line they were written in. */
#ifndef RATTLEBACK_SRC_IO_XML_H
#define RATTLEBACK_SRC_IO_XML_H

#include "io/context.h"
#include "rattleback/load.h"

/* Attributes of one element and of one document. MJCF's richest element knows about 40. */
#define RB_XML_MAX_ATTRS_EACH 128
#define RB_XML_MAX_ATTRS      ((size_t)4 << 20)

typedef struct rb_xml_attr {
    const char *name, *value;
} rb_xml_attr;

typedef struct rb_xml_node {
    const char *name;
    const char *file; /* as given to rb_xml_parse                                             */
    int line;         /* 1-based, of the opening bracket                                      */
    int nattr;
    rb_xml_attr *attr;  /* in file order                                                      */
    const char *text;   /* characters directly inside, children cut out; "" where only blanks */
    size_t text_length; /* bytes                                                              */
    struct rb_xml_node *parent, *child, *last_child, *next;
} rb_xml_node;

typedef struct rb_xml_doc {
    rb_xml_node *root;
    size_t nelement;
    int loose_line; /* first one with what XML forbids and other readers pass over, 0: none */
    int rest_line;  /* of what follows the end of the root and is passed over, 0: nothing */
    rb_alloc alloc;
    struct rb_xml_chunk *chunks;
} rb_xml_doc;

/* Parses; NULL: see err. `file` names the bytes in messages and may be NULL. Comments may hold
 * anything, also what XML forbids in them, and from a second closing tag of the root on all is
 * passed over, attributes may touch each other, and values hold & and <: published robots have
 * such ones. */
rb_xml_doc *rb_xml_parse(const char *bytes, size_t size, const char *file, const rb_alloc *alloc,
                         rb_error *err);
void rb_xml_free(rb_xml_doc *doc); /* NULL is fine */

/* Memory that lives as long as the document, not cleared; NULL when out of memory. */
void *rb_xml_take(rb_xml_doc *doc, size_t count, size_t size);
char *rb_xml_copy(rb_xml_doc *doc, const char *text, size_t length); /* with a NUL after it */

/* ---- messages ---- */

/* Fills err with file, line and `<geom name="foot"> size: sentence`; attr may be NULL. Returns
 * status. */
rb_status rb_xml_refuse(const rb_xml_node *node, const char *attr, rb_error *err, rb_status status,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- elements ---- */

int rb_xml_is(const rb_xml_node *node, const char *name);

/* First child of that name, or the next sibling of the same name; NULL: none. */
const rb_xml_node *rb_xml_child(const rb_xml_node *node, const char *name);
const rb_xml_node *rb_xml_next(const rb_xml_node *node);

/* Whether `word` is one of the blank-separated `words`. */
int rb_xml_in(const char *word, const char *words);

/* Refuses the first attribute that is not in the blank-separated list, naming the list. */
rb_status rb_xml_check_attrs(const rb_xml_node *node, const char *known, rb_error *err);

/* ---- attributes ---- */

/* The value, NULL where the attribute is not there. */
const char *rb_xml_get(const rb_xml_node *node, const char *attr);

/* The value; refused where it is missing or empty. */
rb_status rb_xml_need(const rb_xml_node *node, const char *attr, const char **out, rb_error *err);

/* Finite numbers separated by blanks, at least `least` and at most `most` of them, decimal point
 * in any locale. *count = 0 and `out` untouched where the attribute is missing; entries after
 * *count are unchanged. count may be NULL. */
rb_status rb_xml_numbers(const rb_xml_node *node, const char *attr, int least, int most,
                         double *out, int *count, rb_error *err);
rb_status rb_xml_number(const rb_xml_node *node, const char *attr, double *out, rb_error *err);
rb_status rb_xml_ints(const rb_xml_node *node, const char *attr, int least, int most, int *out,
                      int *count, rb_error *err);
rb_status rb_xml_int(const rb_xml_node *node, const char *attr, int *out, rb_error *err);

/* Any number of numbers, in memory of the document. Missing: *out = NULL, *count = 0. */
rb_status rb_xml_list(rb_xml_doc *doc, const rb_xml_node *node, const char *attr, double **out,
                      size_t *count, rb_error *err);
rb_status rb_xml_int_list(rb_xml_doc *doc, const rb_xml_node *node, const char *attr, int **out,
                          size_t *count, rb_error *err);

/* One word of a blank-separated list: *out is its index. Refused with the list where it is none of
 * them; untouched where the attribute is missing. */
rb_status rb_xml_word(const rb_xml_node *node, const char *attr, const char *words, int *out,
                      rb_error *err);

/* "false" or "true" as 0 or 1. */
rb_status rb_xml_bool(const rb_xml_node *node, const char *attr, int *out, rb_error *err);

/* ---- numbers in text (xml_number.c) ---- */

/* The number at *text, which is advanced past it; 0 where there is none, it does not end at a blank
 * or at `end`, or is not finite. */
int rb_xml_scan_number(const char **text, const char *end, double *out);

#endif
