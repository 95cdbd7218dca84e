/* <custom>: numbers and texts whose names begin with "rb." are for us. Those about materials go to
 * the geoms; all of them are kept in the spec, for what runs later. Others belong to other
 * programs. */
#include "io/mjcf.h"

#include <limits.h>
#include <string.h>

/* ---- what is known --------------------------------------------------------------------------- */

/* A coefficient of a material: for all geoms, NAME/GEOM for one, NAME/GEOM1/GEOM2 for a pair. */
typedef struct coefficient {
    const char *name;
    size_t offset; /* in rb_material                     */
    int count;
    double lo, hi; /* allowed range, hi < lo: unbounded  */
} coefficient;

#define COEFFICIENT(name, member, count, lo, hi)                                                   \
    {                                                                                              \
        name, offsetof(rb_material, member), count, lo, hi                                         \
    }

static const coefficient coefficients[] = {
    COEFFICIENT("restitution", restitution, 1, 0.0, 1.0),
    COEFFICIENT("friction", friction, 1, 0.0, 1e30),
    COEFFICIENT("friction_static", friction_static, 1, 0.0, 1e30),
    COEFFICIENT("friction_torsion", friction_torsion, 1, 0.0, 1e30),
    COEFFICIENT("friction_roll", friction_roll, 1, 0.0, 1e30),
    COEFFICIENT("friction_across", friction_across, 1, 0.0, 1e30),
    COEFFICIENT("grain", grain, 3, 1.0, 0.0),
    COEFFICIENT("relax_stiffness", relax_stiffness, 1, 0.0, 1e30),
    COEFFICIENT("relax_damping", relax_damping, 1, 0.0, 1e30),
    COEFFICIENT("bristle_stiffness", bristle_stiffness, 1, 0.0, 1e30),
    COEFFICIENT("bristle_damping", bristle_damping, 1, 0.0, 1e30),
    { NULL, 0, 0, 0.0, 0.0 }
};

/* Choices of a run, words or numbers; kept as they are. */
#define CHOICES                                                                                    \
    "formulation solver stepper coordinates directions restitution_law energy_safe step time"

#define MATERIALS                                                                                  \
    "restitution friction friction_static friction_torsion friction_roll friction_across grain "   \
    "relax_stiffness relax_damping bristle_stiffness bristle_damping"

static rb_status unknown(const rb_mjcf *r, const rb_xml_node *node)
{
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                         "is not known; behind \"rb.\" stand: " MATERIALS " " CHOICES
                         "; coefficients also with /GEOM or /GEOM1/GEOM2");
}

static const coefficient *find_coefficient(const char *name, size_t length)
{
    for (const coefficient *c = coefficients; c->name; c++)
        if (strlen(c->name) == length && memcmp(c->name, name, length) == 0) return c;
    return NULL;
}

/* ---- to the geoms ---------------------------------------------------------------------------- */

static rb_status check_numbers(const rb_mjcf *r, const rb_xml_node *node, const coefficient *c,
                               const rb_custom_def *def)
{
    if (def->text || def->ndata != c->count)
        return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT, "expected %d number%s", c->count,
                             c->count == 1 ? "" : "s");
    for (int k = 0; k < c->count && c->lo <= c->hi; k++)
        if (def->data[k] < c->lo || def->data[k] > c->hi)
            return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT, "%g is outside of %g to %g",
                                 def->data[k], c->lo, c->hi);
    return RB_OK;
}

static void set_coefficient(rb_mjcf *r, int geom, const coefficient *c, const double *data)
{
    rb_material *material = &rb_spec_geom(r->spec, geom)->material;
    memcpy((char *)material + c->offset, data, (size_t)c->count * sizeof *data);
}

static rb_status find_geom(rb_mjcf *r, const rb_xml_node *node, const char *name, size_t length,
                           int *geom)
{
    const char *copy = rb_xml_copy(r->doc, name, length);
    if (!copy) return rb_mjcf_nomem(r, node);
    *geom = rb_spec_find(r->spec, RB_KIND_GEOM, copy);
    if (*geom >= 0) return RB_OK;
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "there is no geom called \"%.80s\"",
                         copy);
}

/* `level` 0 sets all geoms, 1 single ones: what is said of one geom outweighs what is said of all,
 * wherever it stands. */
static rb_status apply_coefficient(rb_mjcf *r, const rb_xml_node *node, const rb_custom_def *def,
                                   int level)
{
    const char *name = def->name + 3;
    size_t length = strcspn(name, "/");
    const coefficient *c = find_coefficient(name, length);
    if (!c) return rb_xml_in(name, CHOICES) ? RB_OK : unknown(r, node);
    RB_TRY(check_numbers(r, node, c, def));

    const char *first = name + length;
    if (!*first) {
        int ngeom = rb_spec_count(r->spec, RB_KIND_GEOM);
        for (int g = 0; g < ngeom && level == 0; g++) set_coefficient(r, g, c, def->data);
        return RB_OK;
    }
    int geom = -1;
    first++;
    size_t first_length = strcspn(first, "/");
    RB_TRY(find_geom(r, node, first, first_length, &geom));
    if (first[first_length])
        return find_geom(r, node, first + first_length + 1, strlen(first + first_length + 1),
                         &geom);
    if (level == 1) set_coefficient(r, geom, c, def->data);
    return RB_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static rb_status read_numeric(rb_mjcf *r, const rb_xml_node *node, rb_custom_def *def)
{
    double *data;
    size_t count;
    int size = -1;
    RB_TRY(rb_xml_list(r->doc, node, "data", &data, &count, r->err));
    RB_TRY(rb_xml_int(node, "size", &size, r->err));
    if (count > INT_MAX || (size >= 0 && (size_t)size < count))
        return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT, "more numbers than size says");
    def->data = data;
    def->ndata = (int)count;
    return RB_OK;
}

static rb_status read_custom(rb_mjcf *r, const rb_xml_node *node, rb_custom_def *def)
{
    *def = rb_custom_default();
    def->where = rb_mjcf_where(node);
    def->name = rb_xml_get(node, "name");
    if (rb_xml_is(node, "numeric")) return read_numeric(r, node, def);
    return rb_xml_need(node, "data", &def->text, r->err);
}

static rb_status read_all(rb_mjcf *r, const rb_xml_node *section, int level)
{
    for (const rb_xml_node *node = section->child; node; node = node->next) {
        const char *name = rb_xml_get(node, "name");
        if (!name || strncmp(name, "rb.", 3) != 0) continue;
        if (rb_xml_is(node, "tuple")) return unknown(r, node);
        rb_custom_def def;
        RB_TRY(read_custom(r, node, &def));
        RB_TRY(apply_coefficient(r, node, &def, level));
        if (level == 0) RB_TRY(rb_mjcf_added(r, rb_spec_add_custom(r->spec, &def, r->err)));
    }
    return RB_OK;
}

rb_status rb_mjcf_customs(rb_mjcf *r, const rb_xml_node *root)
{
    for (int level = 0; level < 2; level++)
        for (const rb_xml_node *n = rb_xml_child(root, "custom"); n; n = rb_xml_next(n))
            RB_TRY(read_all(r, n, level));
    return RB_OK;
}
