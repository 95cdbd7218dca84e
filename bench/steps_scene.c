/* One writer per family; all draw from one generator, so that a seed is a scene. */
#include "steps_scene.h"

#include "rattleback/base.h"
#include "rattleback/collide.h"
#include "rattleback/dynamics.h"
#include "rattleback/load.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    char *text;
    size_t size, used; /* used > size: no room */
    rb_rng rng;
    int joints, bodies; /* so far: for names */
} writer;

static const char *const names[STEPS_FAMILIES] = { "stack", "wedge",    "slope", "pile",
                                                   "chain", "creature", "loop",  "tangle" };

const char *steps_family_name(int family)
{
    return family >= 0 && family < STEPS_FAMILIES ? names[family] : "all";
}

int steps_family_find(const char *name)
{
    for (int f = 0; f < STEPS_FAMILIES; f++)
        if (strcmp(names[f], name) == 0) return f;
    return -1;
}

/* ---- text and chance ----------------------------------------------------------------------------
 */

static void put(writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = w->used < w->size ? w->size - w->used : 0;
    int n = vsnprintf(room ? w->text + w->used : NULL, room, format, list);
    va_end(list);
    w->used += n > 0 ? (size_t)n : 0;
}

static double draw(writer *w, double lo, double hi)
{
    return rb_rng_uniform(&w->rng, lo, hi);
}

static int pick(writer *w, int n)
{
    return (int)(rb_rng_next(&w->rng) % (uint32_t)n);
}

/* Even in the logarithm: lo 10^x, whole and half decades. */
static double draw_decades(writer *w, double lo, int halves)
{
    static const double half[2] = { 1.0, 3.1622776601683795 };
    int k = pick(w, halves + 1);
    double x = lo * half[k % 2];
    for (int i = 0; i < k / 2; i++) x *= 10.0;
    return x;
}

/* ---- bodies -------------------------------------------------------------------------------------
 */

static void put_shape(writer *w, int kind, double size, double mass, double mu)
{
    switch (kind) {
    case 0:
        put(w, "<geom type='box' size='%.6g %.6g %.6g'", size, size * draw(w, 0.4, 1.0),
            size * draw(w, 0.4, 1.0));
        break;
    case 1:
        put(w, "<geom type='capsule' size='%.6g %.6g'", 0.5 * size, 0.5 * size);
        break;
    default:
        put(w, "<geom type='sphere' size='%.6g'", size);
    }
    put(w, " mass='%.6g' friction='%.6g'/>", mass, mu);
}

static void put_turn(writer *w)
{
    put(w, " euler='%.6g %.6g %.6g'", draw(w, -180.0, 180.0), draw(w, -90.0, 90.0),
        draw(w, -180.0, 180.0));
}

static void put_body(writer *w, const double pos[3], int turned, double size, double mass,
                     double mu)
{
    put(w, "<body pos='%.6g %.6g %.6g'", pos[0], pos[1], pos[2]);
    if (turned) put_turn(w);
    put(w, "><freejoint/>");
    put_shape(w, pick(w, 3), size, mass, mu);
    put(w, "</body>\n");
}

static void put_floor(writer *w, double mu)
{
    put(w, "<geom name='floor' type='plane' size='9 9 1' friction='%.6g'/>\n", mu);
}

/* ---- families -----------------------------------------------------------------------------------
 */

static void write_stack(writer *w, double mu)
{
    int n = 2 + pick(w, 7);
    double top = 0.0;
    put_floor(w, mu);
    for (int i = 0; i < n; i++) {
        double a = draw(w, 0.05, 0.15), mass = draw_decades(w, 0.1, 8);
        double off = pick(w, 3) == 0 ? 0.03 : 0.0, gap = pick(w, 3) == 0 ? 0.01 : 0.0;
        put(w, "<body pos='%.6g %.6g %.17g' euler='0 0 %.6g'><freejoint/>", off * draw(w, -1, 1),
            off * draw(w, -1, 1), top + gap + a, draw(w, -45.0, 45.0));
        put(w, "<geom type='box' size='%.6g %.6g %.17g' mass='%.6g' friction='%.6g'/></body>\n",
            draw(w, 0.1, 0.2), draw(w, 0.1, 0.2), a, mass, mu);
        top += gap + 2.0 * a;
    }
}

static void write_wedge(writer *w, double mu)
{
    double lean = draw(w, 10.0, 75.0);
    put_floor(w, mu);
    for (int side = -1; side <= 1; side += 2)
        put(w,
            "<geom type='box' size='0.02 0.5 0.5' pos='%.6g 0 0.5' euler='0 %.6g 0' "
            "friction='%.6g'/>\n",
            0.45 * side, side * lean, mu);
    for (int i = 0, n = 1 + pick(w, 4); i < n; i++) {
        double pos[3] = { draw(w, -0.05, 0.05), draw(w, -0.3, 0.3), 0.8 + 0.35 * i };
        put_body(w, pos, 1, draw(w, 0.05, 0.15), draw_decades(w, 0.1, 6), mu);
    }
}

static void write_slope(writer *w, double mu)
{
    put_floor(w, mu);
    for (int i = 0, n = 1 + pick(w, 5); i < n; i++) {
        double size = draw(w, 0.05, 0.15), pos[3] = { 0.5 * i, draw(w, -0.2, 0.2), 1.2 * size };
        put_body(w, pos, pick(w, 2), size, draw_decades(w, 0.1, 4), mu);
    }
}

static void write_pile(writer *w, double mu)
{
    put_floor(w, mu);
    for (int i = 0, n = 3 + pick(w, 12); i < n; i++) {
        double pos[3] = { draw(w, -0.2, 0.2), draw(w, -0.2, 0.2), 0.2 + 0.3 * i };
        put_body(w, pos, 1, draw(w, 0.05, 0.14), draw_decades(w, 0.1, 4), mu);
    }
}

static void put_joint(writer *w, int kind)
{
    static const char *const axes[3] = { "1 0 0", "0 1 0", "0 0 1" };
    int at = w->joints++;
    if (kind == 2) {
        put(w, "<joint name='j%d' type='ball'", at);
    } else if (kind == 1) {
        put(w, "<joint name='j%d' type='slide' axis='%s' range='-0.1 0.1' limited='true'", at,
            axes[pick(w, 3)]);
    } else {
        put(w, "<joint name='j%d' type='hinge' axis='%s'", at, axes[pick(w, 3)]);
        if (pick(w, 2)) put(w, " range='-60 60' limited='true'");
    }
    if (pick(w, 3) == 0) put(w, " damping='%.6g'", draw_decades(w, 1e-3, 4));
    if (kind != 2 && pick(w, 4) == 0) put(w, " stiffness='%.6g'", draw_decades(w, 0.1, 4));
    if (pick(w, 4) == 0) put(w, " frictionloss='%.6g'", draw_decades(w, 1e-3, 4));
    if (pick(w, 3) == 0) put(w, " armature='%.6g'", draw_decades(w, 1e-4, 4));
    put(w, "/>");
}

static void put_link(writer *w, double length, double mu)
{
    put(w,
        "<geom type='capsule' size='%.6g' fromto='0 0 0 %.6g 0 0' mass='%.6g' "
        "friction='%.6g'/>",
        0.2 * length, length, draw_decades(w, 0.1, 4), mu);
}

static void write_chain(writer *w, double mu)
{
    int n = 3 + pick(w, 10), free_base = pick(w, 2);
    double length = draw(w, 0.1, 0.2);
    put_floor(w, mu);
    for (int i = 0; i < n; i++) {
        put(w, "<body pos='%.6g 0 %.6g'>", i ? length : 0.0, i ? 0.0 : draw(w, 0.3, 1.0));
        if (i == 0 && free_base)
            put(w, "<freejoint/>");
        else
            put_joint(w, 0);
        put_link(w, length, mu);
    }
    for (int i = 0; i < n; i++) put(w, "</body>");
}

static void put_limb(writer *w, int depth, double mu)
{
    double length = draw(w, 0.1, 0.25);
    double x = draw(w, -0.15, 0.15), y = draw(w, -0.15, 0.15), z = draw(w, -0.1, 0.1);
    put(w, "<body name='b%d' pos='%.6g %.6g %.6g'", ++w->bodies, x, y, z);
    put_turn(w);
    put(w, ">");
    put_joint(w, pick(w, 3));
    put_link(w, length, mu);
    for (int i = 0, n = depth > 0 ? pick(w, 3) : 0; i < n; i++) put_limb(w, depth - 1, mu);
    put(w, "</body>\n");
}

static void write_creature(writer *w, double mu)
{
    put_floor(w, mu);
    put(w, "<body name='b0' pos='0 0 0.8'");
    put_turn(w);
    put(w, "><freejoint/>");
    put_shape(w, pick(w, 3), draw(w, 0.1, 0.2), draw_decades(w, 1.0, 2), mu);
    for (int i = 0, n = 1 + pick(w, 4); i < n; i++) put_limb(w, 2, mu);
    put(w, "</body>\n");
}

/* Left leg, top and right leg as a chain, and a sole that closes it. */
static void write_loop(writer *w, double mu)
{
    double wide = draw(w, 0.3, 0.7), high = draw(w, 0.3, 0.6), off = 0.02 + draw(w, 0.0, 0.1);
    put_floor(w, mu);
    put(w,
        "<body name='left' pos='0 0 %.6g'><freejoint/>"
        "<geom type='capsule' size='0.02' fromto='0 -0.1 0 0 0.1 0' mass='0.3' friction='%.6g'/>"
        "<geom type='capsule' size='0.02' fromto='0 0 0.05 0 0 %.6g' mass='%.6g'/>",
        off, mu, high - 0.05, draw_decades(w, 0.1, 2));
    put(w,
        "<body pos='0 0 %.6g'><joint name='a' axis='0 1 0'/>"
        "<geom type='capsule' size='0.02' fromto='0.05 0 0 %.6g 0 0' mass='%.6g'/>",
        high, wide - 0.05, draw_decades(w, 0.1, 2));
    put(w,
        "<body name='right' pos='%.6g 0 0'><joint name='b' axis='0 1 0'/>"
        "<geom type='capsule' size='0.02' fromto='0 0 -0.05 0 0 %.6g' mass='%.6g'/>"
        "<geom type='capsule' size='0.02' fromto='0 -0.1 %.6g 0 0.1 %.6g' mass='0.3' "
        "friction='%.6g'/></body></body></body>\n",
        wide, 0.05 - high, draw_decades(w, 0.1, 2), -high, -high, mu);
    put(w,
        "<body name='sole' pos='0 0 %.6g'><freejoint/><geom type='capsule' size='0.015' "
        "fromto='0.04 0 0 %.6g 0 0' mass='0.5' contype='0' conaffinity='0'/></body>\n",
        off, wide - 0.04);
    put(w,
        "</worldbody><equality><connect body1='left' body2='sole' anchor='0 0 0'/>"
        "<connect body1='right' body2='sole' anchor='0 0 %.6g'/></equality>\n"
        "<actuator><motor joint='a' gear='%.6g'/></actuator>\n"
        "<keyframe><key name='pulled' ctrl='1'/></keyframe><worldbody>\n",
        -high, draw(w, -8.0, 8.0));
}

static void exclude(writer *w, const rb_model *m, const rb_contact *c)
{
    char name1[32], name2[32];
    put(w, "<contact><exclude body1='%s' body2='%s'/></contact>\n",
        rb_model_name(m, RB_KIND_BODY, m->geom_body[c->geom1], name1, sizeof name1),
        rb_model_name(m, RB_KIND_BODY, m->geom_body[c->geom2], name2, sizeof name2));
}

/* Limbs that overlap in the scene so far do not collide, as those of robots. */
static void untangle(writer *w)
{
    enum { ROOM = 4096 };
    rb_error err;
    rb_load_opts load = rb_load_opts_default();
    size_t end = w->used;
    put(w, "</mujoco>");
    if (w->used >= w->size) return;
    rb_spec *spec = rb_spec_read_memory(w->text, w->used, "scene.xml", &load, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_data *d = m ? rb_data_new(m, NULL) : NULL;
    rb_contact *found = malloc(ROOM * sizeof *found);
    int n = 0;
    w->used = end;
    if (d && found) {
        rb_kinematics(m, d);
        rb_velocity(m, d);
        rb_frames(m, d);
        if (rb_collide(m, d, 0.0, 0.0, ROOM, found, &n, NULL) != RB_OK) n = 0;
    }
    for (int i = 0; i < n; i++) {
        int again =
            i > 0 && found[i].geom1 == found[i - 1].geom1 && found[i].geom2 == found[i - 1].geom2;
        if (!again) exclude(w, m, &found[i]);
    }
    w->text[w->used < w->size ? w->used : end] = '\0';
    free(found);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- a scene ------------------------------------------------------------------------------------
 */

/* Slopes lean by gravity, at the friction angle or anywhere. */
static void put_head(writer *w, int family, double mu)
{
    double lean = family == STEPS_SLOPE ? (pick(w, 2) ? mu : draw(w, 0.0, 1.5)) : 0.0;
    double scale = 9.81 / sqrt(1.0 + lean * lean);
    double h = draw_decades(w, 0.001, 1) * (pick(w, 3) == 0 ? 3.0 : 1.0);
    put(w,
        "<mujoco model='%s'><option timestep='%.6g' gravity='%.17g 0 %.17g'/>"
        "<compiler angle='degree' autolimits='true'/>\n<worldbody>\n",
        names[family], h, lean * scale, -scale);
}

int steps_scene_write(uint64_t seed, int family, char *text, size_t size)
{
    static void (*const write[STEPS_FAMILIES])(writer *, double) = { write_stack, write_wedge,
                                                                     write_slope, write_pile,
                                                                     write_chain, write_creature,
                                                                     write_loop,  write_creature };
    writer w = { .text = text, .size = size, .rng = rb_rng_make(seed) };
    if (family < 0) family = pick(&w, STEPS_DRAWN);
    double mu = pick(&w, 6) == 0 ? 0.0 : draw(&w, 0.05, 1.2);
    double e = pick(&w, 2) ? 0.0 : draw(&w, 0.0, 1.0);
    put_head(&w, family, mu);
    write[family](&w, mu);
    put(&w, "</worldbody>\n<custom><numeric name='rb.restitution' data='%.6g'/></custom>\n", e);
    if (family == STEPS_CREATURE) untangle(&w);
    put(&w, "</mujoco>\n");
    return w.used < size ? family : -1;
}
