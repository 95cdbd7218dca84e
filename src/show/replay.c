/* A run as JSON: docs/design/viewer.md. */
#include "show/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/put.h"
#include "show/quantise.h"

enum { NAME = 4096 + 256 };

float rb_show_replay_plot(const rb_replay *r, long i, int k)
{
    return ((const float *)r->plot.at)[(size_t)i * (size_t)r->nplot + (size_t)k];
}

/* ---- the run ------------------------------------------------------------------------------------
 */

static void put_run(put *p, const rb_replay *r, const char *name)
{
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    rb_show_put_begin(p, "run", '{');
    rb_show_put_text(p, "model", name);
    rb_show_put_digits(p, "h", r->h);
    rb_show_put_int(p, "steps", r->steps);
    rb_show_put_int(p, "failures", r->failures);
    rb_show_put_text(p, "formulation", rb_formulation_name(r->used.formulation));
    rb_show_put_text(p, "solver", r->used.solver->name);
    rb_show_put_text(p, "stepper", rb_stepper_name(r->used.stepper));
    rb_show_put_text(p, "accuracy", rb_accuracy_name(r->used.accuracy));
    rb_show_put_number(p, "tolerance", rb_step_opts_tol(&r->used));
    rb_show_put_number(p, "residual_max", r->residual_max);
    rb_show_put_number(p, "penetration_max", r->penetration_max);
    rb_show_put_int(p, "below_accuracy", r->below);
    rb_show_put_text(p, "hash", hash);
    rb_show_put_text(p, "message", r->message);
    rb_show_put_end(p, '}');
}

/* ---- poses --------------------------------------------------------------------------------------
 */

static void put_all_bounds(put *p, const char *key, const double *bounds, int n)
{
    rb_show_put_begin(p, key, '[');
    for (int i = 0; i < n; i++) rb_show_put_bounds(p, NULL, bounds + 3 * i);
    rb_show_put_end(p, ']');
}

/* Positions of each body within its own bounds, six words for a pose. */
static void round_poses(const rb_replay *r, const double *lo, const double *hi, uint16_t *word,
                        rb_replay_info *info)
{
    const double *pose = r->pose.at;
    size_t n = r->time.n, count = (size_t)r->nmoving;
    for (size_t i = 0; i < n * count; i++, pose += 7, word += 6) {
        size_t b = i % count;
        double lost = rb_show_quantise_point(pose, lo + 3 * b, hi + 3 * b, word);
        double angle = rb_show_quantise_rotation(pose + 3, word + 3);
        info->lost_position = fmax(info->lost_position, lost);
        info->lost_angle = fmax(info->lost_angle, angle);
    }
}

static rb_status put_poses(put *p, const rb_replay *r, rb_replay_info *info)
{
    size_t count = (size_t)r->nmoving, words = 6 * count * r->time.n;
    double *lo = malloc((6 * count + 1) * sizeof *lo), *hi = lo + 3 * count;
    uint16_t *word = malloc((words + 1) * sizeof *word);
    rb_status status = lo && word ? RB_OK : RB_NOMEM;
    if (status == RB_OK) {
        for (size_t b = 0; b < count; b++)
            rb_show_quantise_bounds((const double *)r->pose.at + 7 * b, (long)r->time.n,
                                    7 * (long)count, lo + 3 * b, hi + 3 * b);
        round_poses(r, lo, hi, word, info);
        rb_show_put_begin(p, "moving", '[');
        for (int i = 0; i < r->nmoving; i++) rb_show_put_int(p, NULL, r->moving[i]);
        rb_show_put_end(p, ']');
        put_all_bounds(p, "lo", lo, r->nmoving);
        put_all_bounds(p, "hi", hi, r->nmoving);
        rb_show_put_u16(p, "pose_u16", word, words);
    }
    free(lo);
    free(word);
    return status;
}

/* ---- contacts -----------------------------------------------------------------------------------
 */

static void put_pairs(put *p, const rb_replay *r)
{
    const replay_pair *pair = r->pair.at;
    rb_show_put_begin(p, "pairs", '[');
    for (size_t i = 0; i < r->pair.n; i++) {
        rb_show_put_begin(p, NULL, '[');
        rb_show_put_int(p, NULL, pair[i].geom1);
        rb_show_put_int(p, NULL, pair[i].geom2);
        rb_show_put_number(p, NULL, pair[i].mu);
        rb_show_put_end(p, ']');
    }
    rb_show_put_end(p, ']');
}

/* Starts of the frames, and the end of the last. */
static rb_status put_starts(put *p, const list *start, size_t end)
{
    uint32_t *all = malloc((start->n + 1) * sizeof *all);
    if (!all) return RB_NOMEM;
    if (start->n > 0) memcpy(all, start->at, start->n * sizeof *all);
    all[start->n] = (uint32_t)end;
    rb_show_put_u32(p, "start_u32", all, start->n + 1);
    free(all);
    return RB_OK;
}

/* The columns of all contacts, made one after the other in one block. */
static rb_status put_contact_columns(put *p, const rb_replay *r, rb_replay_info *info)
{
    const replay_contact *c = r->contact.at;
    size_t n = r->contact.n;
    double lo[3], hi[3];
    void *block = malloc((n + 1) * 4 * sizeof(uint32_t));
    if (!block) return RB_NOMEM;
    uint32_t *pair = block;
    for (size_t i = 0; i < n; i++) pair[i] = c[i].pair;
    rb_show_put_u32(p, "pair_u32", pair, n);
    uint8_t *mode = block;
    for (size_t i = 0; i < n; i++) mode[i] = c[i].mode;
    rb_show_put_u8(p, "mode_u8", mode, n);
    rb_show_quantise_bounds(n > 0 ? c->pos : NULL, (long)n, (long)(sizeof *c / sizeof(double)), lo,
                            hi);
    rb_show_put_bounds(p, "lo", lo);
    rb_show_put_bounds(p, "hi", hi);
    uint16_t *pos = block;
    for (size_t i = 0; i < n; i++)
        info->lost_contact =
            fmax(info->lost_contact, rb_show_quantise_point(c[i].pos, lo, hi, pos + 3 * i));
    rb_show_put_u16(p, "pos_u16", pos, 3 * n);
    int16_t *normal = block;
    for (size_t i = 0; i < n; i++)
        info->lost_normal =
            fmax(info->lost_normal, rb_show_quantise_direction(c[i].normal, normal + 2 * i));
    rb_show_put_u16(p, "normal_i16", (const uint16_t *)normal, 2 * n);
    float *force = block;
    for (size_t i = 0; i < n; i++) memcpy(force + 3 * i, c[i].force, sizeof c[i].force);
    rb_show_put_f32(p, "force_f32", force, 3 * n);
    free(block);
    return RB_OK;
}

static rb_status put_contacts(put *p, const rb_replay *r, rb_replay_info *info)
{
    rb_show_put_begin(p, "contacts", '{');
    put_pairs(p, r);
    rb_status status = put_starts(p, &r->start, r->contact.n);
    if (status == RB_OK) status = put_contact_columns(p, r, info);
    rb_show_put_int(p, "left_out", r->contacts_left_out);
    rb_show_put_end(p, '}');
    return status;
}

static rb_status put_tendons(put *p, const rb_replay *r)
{
    rb_show_put_begin(p, "tendons", '{');
    rb_status status = put_starts(p, &r->line_start, r->line.n);
    rb_show_put_u32(p, "owner_u32", r->line.at, 2 * r->line.n);
    rb_show_put_f32(p, "point_f32", r->point.at, 3 * r->point.n);
    rb_show_put_end(p, '}');
    return status;
}

/* ---- marks and plots ----------------------------------------------------------------------------
 */

static const char *mark_word(replay_kind kind)
{
    static const char *const words[] = { "impact",  "micro", "group", "shift", "located",
                                         "divided", "below", "jam",   "failed" };
    return words[kind];
}

static void put_mark_list(put *p, const char *key, const rb_replay *r)
{
    const replay_mark *mark = r->mark.at;
    rb_show_put_begin(p, key, '[');
    for (size_t i = 0; i < r->mark.n; i++, mark++) {
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_number(p, "t", mark->time);
        rb_show_put_text(p, "kind", mark_word(mark->kind));
        if (mark->geom1 >= 0) {
            rb_show_put_int(p, "geom1", mark->geom1);
            rb_show_put_int(p, "geom2", mark->geom2);
            rb_show_put_vector(p, "pos", mark->pos, 3);
            rb_show_put_vector(p, "impulse", mark->impulse, 3);
        }
        if (mark->text[0]) rb_show_put_text(p, "text", mark->text);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

rb_status rb_show_replay_take_marks(FILE *out, rb_replay *r)
{
    put p = { .out = out };
    put_mark_list(&p, NULL, r);
    r->mark.n = 0;
    return ferror(out) ? RB_FILE : RB_OK;
}

typedef struct plot_words {
    const char *name, *unit, *group;
} plot_words;

static plot_words words_of(const rb_replay *r, int k, char *buffer, size_t size)
{
    static const plot_words usual[PLOT_JOINTS] = {
        [PLOT_ENERGY] = { "energy", "J", "energy" },
        [PLOT_KINETIC] = { "kinetic", "J", "energy" },
        [PLOT_POTENTIAL] = { "potential", "J", "energy" },
        [PLOT_RESIDUAL] = { "residual", "1", "residual" },
        [PLOT_PENETRATION] = { "overlap", "m", "gaps" },
        [PLOT_GAP] = { "least gap", "m", "gaps" },
        [PLOT_FORCE] = { "normal force", "N", "forces" },
        [PLOT_CONTACTS] = { "contacts", "1", "contacts" },
    };
    if (k < PLOT_JOINTS) return usual[k];
    int joint = r->joint[k - PLOT_JOINTS], hinge = r->m->jnt_type[joint] == RB_JOINT_HINGE;
    return (plot_words){ rb_model_name(r->m, RB_KIND_JOINT, joint, buffer, size),
                         hinge ? "rad" : "m", hinge ? "angles" : "slides" };
}

static rb_status put_plots(put *p, const rb_replay *r)
{
    char buffer[NAME];
    float *y = malloc((r->time.n + 1) * sizeof *y);
    if (!y) return RB_NOMEM;
    rb_show_put_begin(p, "plots", '[');
    for (int k = 0; k < r->nplot; k++) {
        plot_words words = words_of(r, k, buffer, sizeof buffer);
        for (size_t i = 0; i < r->time.n; i++) y[i] = rb_show_replay_plot(r, (long)i, k);
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_text(p, "name", words.name);
        rb_show_put_text(p, "unit", words.unit);
        rb_show_put_text(p, "group", words.group);
        rb_show_put_f32(p, "y_f32", y, r->time.n);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_int(p, "plots_left_out", r->joints_left_out);
    free(y);
    return RB_OK;
}

/* ---- a jam --------------------------------------------------------------------------------------
 */

static void put_jam(put *p, const rb_replay *r)
{
    const rb_step_info *info = &r->jam;
    if (info->njam == 0) return;
    rb_show_put_begin(p, "jam", '{');
    rb_show_put_number(p, "speed", info->jam_speed);
    rb_show_put_begin(p, "parts", '[');
    for (int i = 0; i < info->njam && i < RB_JAM_MAX; i++) {
        const rb_jam_part *part = &info->jam[i];
        double force[3];
        if (part->id.kind != 0) continue;
        for (int k = 0; k < 3; k++)
            force[k] = part->frame[k] * part->p[0] + part->frame[3 + k] * part->p[1] +
                       part->frame[6 + k] * part->p[2];
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_int(p, "geom1", part->id.a);
        rb_show_put_int(p, "geom2", part->id.b);
        rb_show_put_vector(p, "pos", part->pos, 3);
        rb_show_put_vector(p, "force", force, 3);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_end(p, '}');
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

static void put_lost(put *p, const rb_replay_info *info)
{
    rb_show_put_begin(p, "lost", '{');
    rb_show_put_number(p, "position", info->lost_position);
    rb_show_put_number(p, "angle", info->lost_angle);
    rb_show_put_number(p, "contact", info->lost_contact);
    rb_show_put_number(p, "normal", info->lost_normal);
    rb_show_put_end(p, '}');
}

rb_status rb_replay_write(FILE *out, const rb_replay *r, const rb_model *shown, const char *name,
                          rb_replay_info *info)
{
    rb_replay_info told = { .frames = (int)r->time.n };
    put p = { .out = out };
    long begin = ftell(out);
    rb_show_put_begin(&p, NULL, '{');
    rb_show_put_text(&p, "format", "rattleback replay 1");
    put_run(&p, r, name);
    rb_show_put_int(&p, "n", (long)r->time.n);
    rb_show_put_f64(&p, "time_f64", r->time.at, r->time.n);
    rb_status status = put_poses(&p, r, &told);
    if (status == RB_OK) status = put_contacts(&p, r, &told);
    if (status == RB_OK) status = put_tendons(&p, r);
    put_lost(&p, &told);
    put_mark_list(&p, "marks", r);
    rb_show_put_int(&p, "marks_left_out", r->marks_left_out);
    if (status == RB_OK) status = put_plots(&p, r);
    put_jam(&p, r);
    rb_show_put_key(&p, "scene");
    if (status == RB_OK) status = rb_scene_write(out, r->m, shown, name, &told.scene);
    rb_show_put_end(&p, '}');
    long end = ftell(out);
    told.bytes = begin >= 0 && end >= begin ? (size_t)(end - begin) : 0;
    if (info) *info = told;
    return status == RB_OK && ferror(out) ? RB_FILE : status;
}
