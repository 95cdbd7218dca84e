/* <custom>: numbers and texts whose names begin with "rb." are for us. Those about materials go to
 * the geoms and pairs, those about motion to the bodies; all of them are kept in the spec, for what
 * runs later. Others belong to other programs. */
#include "io/mjcf.h"

#include <limits.h>
#include <string.h>

/* ---- what is known --------------------------------------------------------------------------- */

/* What an entry is about. */
typedef enum owner {
    MATERIAL, /* all geoms, NAME/GEOM for one, NAME/GEOM1/GEOM2 for a pair */
    GEOM,     /* NAME/GEOM                                                  */
    BODY      /* NAME/BODY, mocap                                           */
} owner;

typedef struct quantity {
    const char *name;
    owner owner;
    size_t offset; /* in rb_material, rb_geom_def or rb_body_def */
    int count;     /* numbers                                    */
    double lo, hi; /* allowed range, hi < lo: unbounded          */
} quantity;

#define COEFFICIENT(name, member, count, lo, hi)                                                   \
    {                                                                                              \
        name, MATERIAL, offsetof(rb_material, member), count, lo, hi                               \
    }

/* Vibration has two sizes and is written by set_vibration; a polygon is left where it is, and the
 * material points to it. */
enum { LINEAR_VIBRATION = 9, FULL_VIBRATION = 18, POLYGON = 0, WORD = -1, FLAG = -2 };

/* Words of rb.paradigm, in the order of rb_paradigm. */
static const char *const paradigms[] = { "shift", "impulse", "constraint", NULL };

static const quantity quantities[] = {
    COEFFICIENT("restitution", restitution, 1, 0.0, 1.0),
    COEFFICIENT("friction", friction, 1, 0.0, 1e30),
    COEFFICIENT("friction_static", friction_static, 1, 0.0, 1e30),
    COEFFICIENT("friction_torsion", friction_torsion, 1, 0.0, 1e30),
    COEFFICIENT("friction_roll", friction_roll, 1, 0.0, 1e30),
    COEFFICIENT("friction_across", friction_across, 1, 0.0, 1e30),
    COEFFICIENT("grain", grain, 3, 1.0, 0.0),
    COEFFICIENT("friction_viscous", friction_viscous, 1, 0.0, 1e30),
    COEFFICIENT("stribeck_speed", stribeck_speed, 1, 1e-30, 1e30),
    COEFFICIENT("relax_stiffness", relax_stiffness, 1, 0.0, 1e30),
    COEFFICIENT("relax_damping", relax_damping, 1, 0.0, 1e30),
    COEFFICIENT("bristle_stiffness", bristle_stiffness, 1, 0.0, 1e30),
    COEFFICIENT("bristle_damping", bristle_damping, 1, 0.0, 1e30),
    COEFFICIENT("paradigm", paradigm, WORD, 1.0, 0.0),
    { "friction_polygon", MATERIAL, offsetof(rb_material, polygon), POLYGON, 1.0, 0.0 },
    { "surface_velocity", GEOM, offsetof(rb_geom_def, surface_velocity), 3, 1.0, 0.0 },
    { "surface", GEOM, offsetof(rb_geom_def, surface), FLAG, 0.0, 1.0 },
    { "motion", BODY, offsetof(rb_body_def, motion.velocity), 6, 1.0, 0.0 },
    { "vibration", BODY, 0, LINEAR_VIBRATION, 1.0, 0.0 },
    { NULL, MATERIAL, 0, 0, 0.0, 0.0 }
};

/* Choices of a run, words or numbers; kept as they are. */
#define CHOICES                                                                                    \
    "formulation solver stepper scheme accuracy coordinates directions restitution_law "           \
    "energy_safe step time project keep_errors regularise stick_speed phantom_share "              \
    "phantom_directions lateral shell"

#define MATERIALS                                                                                  \
    "restitution friction friction_static friction_torsion friction_roll friction_across grain "   \
    "friction_viscous stribeck_speed friction_polygon relax_stiffness relax_damping "              \
    "bristle_stiffness bristle_damping paradigm"

static rb_status unknown(const rb_mjcf *r, const rb_xml_node *node)
{
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                         "is not known; names after \"rb.\": " MATERIALS " " CHOICES
                         "; coefficients also with /GEOM or /GEOM1/GEOM2; surface_velocity/GEOM, "
                         "surface/GEOM, motion/BODY, vibration/BODY");
}

static const quantity *find_quantity(const char *name, size_t length)
{
    for (const quantity *c = quantities; c->name; c++)
        if (strlen(c->name) == length && memcmp(c->name, name, length) == 0) return c;
    return NULL;
}

/* Place in `paradigms`, -1: none. */
static int find_word(const char *text)
{
    for (int i = 0; text && paradigms[i]; i++)
        if (strcmp(paradigms[i], text) == 0) return i;
    return -1;
}

static rb_status check_numbers(const rb_mjcf *r, const rb_xml_node *node, const quantity *c,
                               const rb_custom_def *def)
{
    int vibration = c->count == LINEAR_VIBRATION;
    if (c->count == WORD) {
        if (find_word(def->text) >= 0) return RB_OK;
        return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT,
                             "expected a <text> with impulse, constraint or shift");
    }
    if (c->count == FLAG) {
        if (!def->text && def->ndata == 1 && (def->data[0] == 0.0 || def->data[0] == 1.0))
            return RB_OK;
        return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT,
                             "expected 1: the triangles of the mesh collide, or 0: its hull");
    }
    if (c->count == POLYGON && !def->text) return RB_OK; /* the compiler checks it */
    if (vibration && !def->text && def->ndata == FULL_VIBRATION) return RB_OK;
    if (def->text || def->ndata != c->count)
        return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT, "expected %d number%s%s", c->count,
                             c->count == 1 ? "" : "s", vibration ? " or 18" : "");
    for (int k = 0; k < c->count && c->lo <= c->hi; k++)
        if (def->data[k] < c->lo || def->data[k] > c->hi)
            return rb_xml_refuse(node, "data", r->err, RB_BAD_INPUT, "%g is outside of %g to %g",
                                 def->data[k], c->lo, c->hi);
    return RB_OK;
}

static void put(void *to, const quantity *c, const double *data)
{
    memcpy((char *)to + c->offset, data, (size_t)c->count * sizeof *data);
}

static void put_material(rb_material *to, const quantity *c, const rb_custom_def *def, int entry)
{
    if (c->count == POLYGON)
        to->polygon = entry;
    else if (c->count == WORD)
        to->paradigm = find_word(def->text);
    else
        put(to, c, def->data);
}

/* ---- whose it is ----------------------------------------------------------------------------- */

/* Element of this kind, -1: none, -2: out of memory. */
static int find(const rb_mjcf *r, rb_kind kind, const char *name, size_t length)
{
    const char *copy = rb_xml_copy(r->doc, name, length);
    return copy ? rb_spec_find(r->spec, kind, copy) : -2;
}

/* GEOM, or GEOM1/GEOM2 where names may have slashes themselves: the first reading that has geoms
 * counts. */
static rb_status find_geoms(const rb_mjcf *r, const rb_xml_node *node, const char *names,
                            int geom[2])
{
    geom[0] = find(r, RB_KIND_GEOM, names, strlen(names));
    geom[1] = -1;
    for (const char *slash = strchr(names, '/'); slash && geom[0] == -1;
         slash = strchr(slash + 1, '/')) {
        int first = find(r, RB_KIND_GEOM, names, (size_t)(slash - names));
        int second = find(r, RB_KIND_GEOM, slash + 1, strlen(slash + 1));
        if (first == -2 || second == -2) return rb_mjcf_nomem(r, node);
        if (first >= 0 && second >= 0) geom[0] = first, geom[1] = second;
    }
    if (geom[0] == -2) return rb_mjcf_nomem(r, node);
    if (geom[0] >= 0) return RB_OK;
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                         "there is no geom called \"%.80s\", nor two with a slash between them",
                         names);
}

/* What two geoms are to each other and nothing else: neither condim nor filtering. */
static rb_status pair_of(rb_mjcf *r, const rb_xml_node *node, const int geom[2], rb_pair_def **out)
{
    int n = rb_spec_count(r->spec, RB_KIND_PAIR);
    for (int i = 0; i < n; i++) {
        rb_pair_def *pair = rb_spec_pair(r->spec, i);
        int same = pair->geom1 == geom[0] && pair->geom2 == geom[1];
        int swapped = pair->geom1 == geom[1] && pair->geom2 == geom[0];
        if (pair->only_material && (same || swapped)) {
            *out = pair;
            return RB_OK;
        }
    }
    rb_pair_def def = rb_pair_default();
    def.geom1 = geom[0];
    def.geom2 = geom[1];
    def.only_material = 1;
    def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_added(r, rb_spec_add_pair(r->spec, &def, r->err)));
    *out = rb_spec_pair(r->spec, n);
    return RB_OK;
}

/* `level` 0 sets all geoms, 1 single ones: an entry for one geom outweighs an entry for all, in
 * any order. */
static rb_status set_material(rb_mjcf *r, const rb_xml_node *node, const quantity *c,
                              const rb_custom_def *def, const char *names, int level)
{
    int geom[2], ngeom = rb_spec_count(r->spec, RB_KIND_GEOM);

    /* entries are kept in their order at level 0, each after its own pass */
    int entry = level == 0 ? rb_spec_count(r->spec, RB_KIND_CUSTOM)
                           : rb_spec_find(r->spec, RB_KIND_CUSTOM, def->name);
    if (!names) {
        for (int g = 0; g < ngeom && level == 0; g++)
            put_material(&rb_spec_geom(r->spec, g)->material, c, def, entry);
        return RB_OK;
    }
    RB_TRY(find_geoms(r, node, names, geom));
    if (level == 0) return RB_OK;
    if (geom[1] < 0) {
        put_material(&rb_spec_geom(r->spec, geom[0])->material, c, def, entry);
        return RB_OK;
    }
    rb_pair_def *pair;
    RB_TRY(pair_of(r, node, geom, &pair));
    put_material(&pair->material, c, def, entry);

    /* directions are in the frame of the geom that their entry names first */
    if (c->count == POLYGON || c->offset == offsetof(rb_material, grain)) {
        pair->geom1 = geom[0];
        pair->geom2 = geom[1];
    }
    return RB_OK;
}

/* Amplitudes, frequencies, phases of the three translations, then of the three rotations. */
static void set_vibration(rb_led_motion *motion, const double *data, int ndata)
{
    for (int k = 0; k < ndata; k++) {
        int i = k % 3 + (k < LINEAR_VIBRATION ? 0 : 3), what = k % LINEAR_VIBRATION / 3;
        double *to = what == 0 ? motion->amplitude : what == 1 ? motion->frequency : motion->phase;
        to[i] = data[k];
    }
}

static rb_status set_motion(rb_mjcf *r, const rb_xml_node *node, const quantity *c,
                            const rb_custom_def *def, const char *name)
{
    int body = find(r, RB_KIND_BODY, name, strlen(name));
    if (body == -2) return rb_mjcf_nomem(r, node);
    if (body < 0 || !rb_spec_body(r->spec, body)->mocap)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                             "there is no body called \"%.80s\" with mocap=\"true\"", name);
    rb_body_def *to = rb_spec_body(r->spec, body);
    if (c->count == LINEAR_VIBRATION)
        set_vibration(&to->motion, def->data, def->ndata);
    else
        put(to, c, def->data);
    return RB_OK;
}

static rb_status set_surface(rb_mjcf *r, const rb_xml_node *node, const quantity *c,
                             const rb_custom_def *def, const char *names)
{
    int geom[2];
    RB_TRY(find_geoms(r, node, names, geom));
    if (geom[1] >= 0)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "belongs to one geom, not to two");
    rb_geom_def *to = rb_spec_geom(r->spec, geom[0]);
    if (c->count == FLAG)
        to->surface = def->data[0] != 0.0;
    else
        put(to, c, def->data);
    return RB_OK;
}

static rb_status apply(rb_mjcf *r, const rb_xml_node *node, const rb_custom_def *def, int level)
{
    const char *name = def->name + 3;
    size_t length = strcspn(name, "/");
    const quantity *c = find_quantity(name, length);
    if (!c) return rb_xml_in(name, CHOICES) ? RB_OK : unknown(r, node);
    RB_TRY(check_numbers(r, node, c, def));
    const char *whose = name[length] ? name + length + 1 : NULL;
    if (c->owner == MATERIAL) return set_material(r, node, c, def, whose, level);
    if (!whose)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "expected rb.%s/%s", c->name,
                             c->owner == BODY ? "BODY" : "GEOM");
    return c->owner == BODY ? set_motion(r, node, c, def, whose)
                            : set_surface(r, node, c, def, whose);
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
        RB_TRY(apply(r, node, &def, level));
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
