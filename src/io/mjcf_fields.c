/* Attributes into a struct, driven by a table: one row says name, type and place. */
#include "io/mjcf.h"

#include <stdio.h>
#include <string.h>

#define ELEMENT_SIZE 128 /* bytes of "element/attribute" in a warning */

/* rgba="" and the like: not there, as in MuJoCo. */
static int is_empty(const rb_xml_node *node, const char *attr)
{
    const char *value = rb_xml_get(node, attr);
    return value && value[strspn(value, " \t\r\n")] == '\0';
}

static rb_status read_field(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_field *field,
                            void *place)
{
    int counts = field->type == RB_MJCF_NUMBERS || field->type == RB_MJCF_INTS;
    if (counts && is_empty(node, field->attr)) return RB_OK;
    switch (field->type) {
    case RB_MJCF_NUMBERS:
        return rb_xml_numbers(node, field->attr, field->least, field->most, place, NULL, r->err);
    case RB_MJCF_INTS:
        return rb_xml_ints(node, field->attr, field->least, field->most, place, NULL, r->err);
    case RB_MJCF_WORD:
        return rb_xml_word(node, field->attr, field->words, place, r->err);
    case RB_MJCF_TEXT: {
        const char *value = rb_xml_get(node, field->attr);
        if (value) *(const char **)place = value;
        return RB_OK;
    }
    }
    return RB_OK;
}

rb_status rb_mjcf_fields(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_field *fields,
                         void *target)
{
    for (const rb_mjcf_field *field = fields; field->attr; field++)
        RB_TRY(read_field(r, node, field, (char *)target + field->offset));
    return RB_OK;
}

rb_status rb_mjcf_at_least_zero(rb_mjcf *r, const rb_xml_node *node, const char *attr, double *x,
                                int count)
{
    int below = 0;
    for (int i = 0; i < count; i++) {
        below |= x[i] < 0.0;
        if (x[i] < 0.0) x[i] = 0.0;
    }
    if (!below) return RB_OK;
    char element[ELEMENT_SIZE];
    snprintf(element, sizeof element, "%.60s/%.60s", node->name, attr);
    return rb_mjcf_warn(r, node, element, 0, "a negative number counts as 0, as in MuJoCo");
}

rb_status rb_mjcf_law_of(rb_mjcf *r, const rb_xml_node *node, const char *attr, double *linear,
                         double more[2])
{
    double poly[3] = { 0.0, 0.0, 0.0 };
    int count;
    RB_TRY(rb_xml_numbers(node, attr, 1, 3, poly, &count, r->err));
    if (count == 0) return RB_OK;
    *linear = poly[0];
    if (count > 1) more[0] = poly[1];
    if (count > 2) more[1] = poly[2];
    if (!(poly[0] < 0.0)) return RB_OK;
    char element[ELEMENT_SIZE];
    snprintf(element, sizeof element, "%.60s/%.60s", node->name, attr);
    return rb_mjcf_warn(r, node, element, 0,
                        "is negative: it drives what it should hold back, and energy grows");
}
