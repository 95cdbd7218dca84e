/* Records what a replay shows during a run: poses of the bodies that move, contacts, tendons,
 * numbers to plot and marks of events. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/dynamics.h"
#include "show/quantise.h"
#include "show/replay.h"

/* Contacts of all frames together: more make a page that no browser likes [1]. */
enum { MOST_IN_ALL = 2000000, FEW_POINTS = 256 };

rb_replay_opts rb_replay_opts_default(void)
{
    return (rb_replay_opts){
        .fps = 60.0, .contacts = 1, .most_contacts = 200, .most_plots = 64, .most_marks = 5000
    };
}

/* ---- begin and end ------------------------------------------------------------------------------
 */

static int choose_bodies(rb_replay *r)
{
    r->moving = malloc(((size_t)r->m->nbody + 1) * sizeof *r->moving);
    if (!r->moving) return 0;
    for (int b = 1; b < r->m->nbody; b++)
        if (r->m->body_link[b] != 0) r->moving[r->nmoving++] = b;
    return 1;
}

static int choose_joints(rb_replay *r)
{
    r->joint = malloc(((size_t)r->m->njnt + 1) * sizeof *r->joint);
    if (!r->joint) return 0;
    for (int j = 0; j < r->m->njnt; j++) {
        int type = r->m->jnt_type[j];
        if (type != RB_JOINT_HINGE && type != RB_JOINT_SLIDE) continue;
        if (r->njoint < r->opts.most_plots)
            r->joint[r->njoint++] = j;
        else
            r->joints_left_out++;
    }
    r->nplot = PLOT_JOINTS + r->njoint;
    return 1;
}

rb_replay *rb_replay_new(const rb_model *m, const rb_replay_opts *opts)
{
    rb_replay *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->m = m;
    r->opts = opts ? *opts : rb_replay_opts_default();
    r->time.size = sizeof(double);
    r->pose.size = 7 * sizeof(double);
    r->plot.size = sizeof(float);
    r->start.size = r->line_start.size = sizeof(uint32_t);
    r->contact.size = sizeof(replay_contact);
    r->line.size = sizeof(replay_line);
    r->point.size = 3 * sizeof(float);
    r->pair.size = sizeof(replay_pair);
    r->mark.size = sizeof(replay_mark);
    r->pending.size = sizeof(rb_event);
    r->gap = INFINITY;
    if (choose_bodies(r) && choose_joints(r)) return r;
    rb_replay_free(r);
    return NULL;
}

void rb_replay_free(rb_replay *r)
{
    if (!r) return;
    list *lists[] = { &r->time, &r->pose,  &r->plot, &r->start, &r->contact, &r->line_start,
                      &r->line, &r->point, &r->pair, &r->mark,  &r->pending };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) rb_show_list_free(lists[k]);
    free(r->moving);
    free(r->joint);
    free(r->slot);
    free(r->force);
    free(r);
}

int rb_replay_frames(const rb_replay *r)
{
    return (int)r->time.n;
}

/* ---- contacts -----------------------------------------------------------------------------------
 */

static size_t slot_of(const rb_replay *r, int geom1, int geom2)
{
    uint64_t key = (uint64_t)(uint32_t)geom1 << 32 | (uint32_t)geom2;
    size_t at = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (r->nslot - 1);
    const replay_pair *pair = r->pair.at;
    while (r->slot[at]) {
        const replay_pair *p = &pair[r->slot[at] - 1];
        if (p->geom1 == geom1 && p->geom2 == geom2) break;
        at = (at + 1) & (r->nslot - 1);
    }
    return at;
}

static int grow_slots(rb_replay *r)
{
    if (2 * (r->pair.n + 1) < r->nslot) return 1;
    size_t n = r->nslot ? 2 * r->nslot : 256;
    uint32_t *slot = calloc(n, sizeof *slot);
    if (!slot) return 0;
    free(r->slot);
    r->slot = slot;
    r->nslot = n;
    const replay_pair *pair = r->pair.at;
    for (size_t i = 0; i < r->pair.n; i++)
        slot[slot_of(r, pair[i].geom1, pair[i].geom2)] = (uint32_t)i + 1;
    return 1;
}

/* The index of a pair, which is new where it was not seen before. -1: out of memory. */
static long find_pair(rb_replay *r, int geom1, int geom2, const rb_step_opts *opts)
{
    if (!grow_slots(r)) return -1;
    size_t at = slot_of(r, geom1, geom2);
    if (r->slot[at]) return (long)r->slot[at] - 1;
    replay_pair *pair = rb_show_list_add(&r->pair, 1);
    if (!pair) return -1;
    *pair = (replay_pair){ geom1, geom2, rb_pair_friction(r->m, geom1, geom2, opts) };
    r->slot[at] = (uint32_t)r->pair.n;
    return (long)r->pair.n - 1;
}

static int contact_mode(int mode)
{
    if (mode == RB_MODE_STICK) return 1;
    return mode == RB_MODE_SLIDE || mode == RB_MODE_UPPER ? 2 : 0;
}

static rb_status add_contact(rb_replay *r, const rb_contact_force *c, const rb_step_opts *opts)
{
    long pair = find_pair(r, c->geom1, c->geom2, opts);
    replay_contact *to = pair >= 0 ? rb_show_list_add(&r->contact, 1) : NULL;
    if (!to) return RB_NOMEM;
    *to = (replay_contact){ .pair = (uint32_t)pair, .mode = (uint8_t)contact_mode(c->mode) };
    for (int k = 0; k < 3; k++) {
        to->pos[k] = c->pos[k];
        to->normal[k] = c->frame[k];
        to->force[k] = (float)(c->frame[k] * c->force[0] + c->frame[3 + k] * c->force[1] +
                               c->frame[6 + k] * c->force[2]);
    }
    return RB_OK;
}

/* All contacts of the last step into r->force; -1: out of memory. */
static int look(rb_replay *r, const rb_data *d)
{
    int n = rb_contact_forces(r->m, d, 0, NULL);
    if (n > r->force_room) {
        rb_contact_force *more = realloc(r->force, 2 * (size_t)n * sizeof *more);
        if (!more) return -1;
        r->force = more;
        r->force_room = 2 * n;
    }
    rb_contact_forces(r->m, d, n, r->force);
    return n;
}

static rb_status add_contacts(rb_replay *r, int n, const rb_step_opts *opts)
{
    int open = 0;
    uint32_t *start = rb_show_list_add(&r->start, 1);
    if (!start) return RB_NOMEM;
    *start = (uint32_t)r->contact.n;
    for (int i = 0; i < n && r->opts.contacts; i++) {
        int is_open = contact_mode(r->force[i].mode) == 0;
        open += is_open;
        if ((is_open && open > r->opts.most_contacts) || r->contact.n >= MOST_IN_ALL) {
            r->contacts_left_out++;
            continue;
        }
        rb_status status = add_contact(r, &r->force[i], opts);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* ---- frames -------------------------------------------------------------------------------------
 */

static rb_status add_poses(rb_replay *r, const rb_data *d)
{
    double *pose = rb_show_list_add(&r->pose, (size_t)r->nmoving),
           *time = rb_show_list_add(&r->time, 1);
    if ((!pose && r->nmoving > 0) || !time) return RB_NOMEM;
    *time = d->time;
    for (int i = 0; i < r->nmoving; i++) {
        int b = r->moving[i];
        memcpy(pose + 7 * i, d->body_p + 3 * b, 3 * sizeof *pose);
        rb_show_quantise_quat(d->body_R + 9 * b, pose + 7 * i + 3);
    }
    return RB_OK;
}

static rb_status add_line(rb_replay *r, int tendon, const double *point, int n)
{
    replay_line *line = rb_show_list_add(&r->line, 1);
    float *to = rb_show_list_add(&r->point, (size_t)n);
    if (!line || !to) return RB_NOMEM;
    *line = (replay_line){ (uint32_t)tendon, (uint32_t)n };
    for (int i = 0; i < 3 * n; i++) to[i] = (float)point[i];
    return RB_OK;
}

/* Each branch is a line. Points beyond the room are not shown. */
static rb_status add_tendons(rb_replay *r, const rb_data *d)
{
    double point[3 * FEW_POINTS];
    int branch[FEW_POINTS];
    uint32_t *start = rb_show_list_add(&r->line_start, 1);
    if (!start) return RB_NOMEM;
    *start = (uint32_t)r->line.n;
    for (int t = 0; t < r->m->ntendon; t++) {
        int n = rb_tendon_path(r->m, d, t, FEW_POINTS, point, branch), first = 0;
        if (n > FEW_POINTS) n = FEW_POINTS;
        for (int i = 1; i <= n; i++) {
            if (i < n && branch[i] == branch[first]) continue;
            rb_status status = add_line(r, t, point + 3 * first, i - first);
            if (status != RB_OK) return status;
            first = i;
        }
    }
    return RB_OK;
}

static rb_status add_plots(rb_replay *r, rb_data *d, int n)
{
    float *to = rb_show_list_add(&r->plot, (size_t)r->nplot);
    if (!to) return RB_NOMEM;
    double kinetic = rb_energy_kinetic(r->m, d), potential = rb_energy_potential(r->m, d);
    double force = 0.0;
    int active = 0;
    for (int i = 0; i < n; i++) {
        force += r->force[i].force[0];
        active += contact_mode(r->force[i].mode) != 0;
    }
    to[PLOT_ENERGY] = (float)(kinetic + potential);
    to[PLOT_KINETIC] = (float)kinetic;
    to[PLOT_POTENTIAL] = (float)potential;
    to[PLOT_RESIDUAL] = (float)r->residual;
    to[PLOT_PENETRATION] = (float)r->penetration;
    to[PLOT_GAP] = (float)r->gap;
    to[PLOT_FORCE] = (float)force;
    to[PLOT_CONTACTS] = (float)active;
    for (int i = 0; i < r->njoint; i++)
        to[PLOT_JOINTS + i] = (float)d->q[r->m->jnt_qadr[r->joint[i]]];
    r->residual = r->penetration = 0.0;
    r->gap = INFINITY;
    return RB_OK;
}

static rb_status add_frame(rb_replay *r, rb_data *d, const rb_step_opts *opts)
{
    rb_kinematics(r->m, d);
    rb_velocity(r->m, d);
    rb_frames(r->m, d);
    int n = look(r, d);
    rb_status status = n < 0 ? RB_NOMEM : add_poses(r, d);
    if (status == RB_OK) status = add_contacts(r, n, opts);
    if (status == RB_OK) status = add_tendons(r, d);
    if (status == RB_OK) status = add_plots(r, d, n);
    r->hash = rb_data_hash(d);
    return status;
}

/* ---- marks --------------------------------------------------------------------------------------
 */

static void take_event(void *ctx, const rb_event *event)
{
    rb_replay *r = ctx;
    rb_event *to = rb_show_list_add(&r->pending, 1);
    if (to)
        *to = *event;
    else
        r->lost = 1;
}

rb_event_sink rb_replay_events(rb_replay *r)
{
    return (rb_event_sink){ take_event, r };
}

/* Micro-collisions are many: they take half of the room at most. */
static replay_mark *add_mark(rb_replay *r, replay_kind kind, double time)
{
    size_t most = (size_t)r->opts.most_marks / (kind == MARK_MICRO || kind == MARK_GROUP ? 2 : 1);
    replay_mark *mark = r->mark.n < most ? rb_show_list_add(&r->mark, 1) : NULL;
    if (mark)
        *mark = (replay_mark){ .kind = kind, .time = time, .geom1 = -1, .geom2 = -1 };
    else
        r->marks_left_out++;
    return mark;
}

static void add_events(rb_replay *r)
{
    const rb_event *e = r->pending.at;
    for (size_t i = 0; i < r->pending.n; i++, e++) {
        replay_mark *mark = add_mark(r, (replay_kind)e->kind, e->time);
        if (!mark) continue;
        mark->geom1 = e->geom1;
        mark->geom2 = e->geom2;
        memcpy(mark->pos, e->pos, sizeof mark->pos);
        memcpy(mark->impulse, e->impulse, sizeof mark->impulse);
        if (e->text) snprintf(mark->text, sizeof mark->text, "%s", e->text);
    }
    r->pending.n = 0;
}

static void add_marks(rb_replay *r, double time, const rb_step_info *info)
{
    if (info->impacts > 0 && info->events == 0) add_mark(r, MARK_LOCATED, time);
    if (info->parts > 1 && info->impacts == 0) {
        replay_mark *mark = add_mark(r, MARK_DIVIDED, time);
        if (mark) snprintf(mark->text, sizeof mark->text, "in %d parts", info->parts);
    }
    if (info->below_accuracy > 0) {
        replay_mark *mark = add_mark(r, MARK_BELOW, time);
        if (mark) snprintf(mark->text, sizeof mark->text, "residual %.1e", info->residual);
    }
}

static void note_failure(rb_replay *r, double time, rb_status status, const rb_step_info *info,
                         const rb_error *err)
{
    replay_mark *mark = add_mark(r, status == RB_JAMMED ? MARK_JAM : MARK_FAILED, time);
    const char *text = err && err->text[0] ? err->text : "";
    snprintf(r->message, sizeof r->message, "%s%s%s", rb_status_text(status), text[0] ? ": " : "",
             text);
    if (mark)
        snprintf(mark->text, sizeof mark->text, "%.*s", (int)sizeof mark->text - 1, r->message);
    if (status == RB_JAMMED) r->jam = *info;
    r->failures++;
}

/* ---- the calls ----------------------------------------------------------------------------------
 */

static void keep_options(rb_replay *r, const rb_step_opts *opts)
{
    r->used = opts ? *opts : rb_step_opts_default();
    r->h = r->used.h > 0.0 ? r->used.h : r->m->option.timestep;
}

rb_status rb_replay_start(rb_replay *r, rb_data *d, const rb_step_opts *opts)
{
    keep_options(r, opts);
    r->begin = d->time;
    r->due = 1;
    r->pending.n = 0;
    return add_frame(r, d, opts);
}

/* The least gap of the contacts of the step. */
static void note_gap(rb_replay *r, const rb_data *d)
{
    for (int i = 0; i < d->ntouch && d->touch[i].id.kind == 0; i++)
        r->gap = fmin(r->gap, d->touch[i].gap);
}

rb_status rb_replay_step(rb_replay *r, rb_data *d, const rb_step_opts *opts,
                         const rb_step_info *info, rb_status status, const rb_error *err)
{
    if (status != RB_OK) {
        r->pending.n = 0;
        if (status != RB_FULL && status != RB_CANCELLED)
            note_failure(r, d->time, status, info, err);
        return RB_OK;
    }
    keep_options(r, opts);
    r->steps++;
    r->below += info->below_accuracy > 0;
    r->residual = fmax(r->residual, info->residual);
    r->penetration = fmax(r->penetration, info->penetration_made);
    r->residual_max = fmax(r->residual_max, info->residual);
    r->penetration_max = fmax(r->penetration_max, info->penetration_made);
    note_gap(r, d);
    add_events(r);
    add_marks(r, d->time, info);
    double elapsed = d->time - r->begin + 0.5 * r->h;
    if (r->opts.fps > 0.0 && elapsed * r->opts.fps < (double)r->due) return RB_OK;
    if (r->opts.fps > 0.0) r->due = (long)floor(elapsed * r->opts.fps) + 1;
    return add_frame(r, d, opts);
}

rb_status rb_replay_end(rb_replay *r, rb_data *d, const rb_step_opts *opts)
{
    const double *time = r->time.at;
    if (r->lost) return RB_NOMEM;
    if (r->time.n > 0 && time[r->time.n - 1] == d->time) return RB_OK;
    return add_frame(r, d, opts);
}
