#include "run/record_columns.h"

#include <math.h>
#include <string.h>

#include "contact_json.h"
#include "rattleback/io.h"
#include "rattleback/sensor.h"
#include "sensor_json.h"

/* ---- names and numbers -------------------------------------------------------------------------
 */

/* ",PREFIX:NAME", or ",PREFIX:NAME:SUFFIX"; names with commas or quotes are quoted. */
static void put_name(FILE *out, const char *prefix, const char *name, const char *suffix)
{
    int quote = strpbrk(name, ",\"\n") != NULL;
    putc(',', out);
    if (quote) putc('"', out);
    fprintf(out, "%s:", prefix);
    for (const char *c = name; *c; c++) {
        if (*c == '"') putc('"', out);
        putc(*c, out);
    }
    if (suffix) fprintf(out, ":%s", suffix);
    if (quote) putc('"', out);
}

static void put_numbers(FILE *out, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        putc(',', out);
        rb_json_put_number(out, x[i]);
    }
}

/* ---- q, v --------------------------------------------------------------------------------------
 */

static int coordinates(int type)
{
    return type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
}

static int velocities(int type)
{
    return type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
}

static void joints_head(FILE *out, const record_state *s, const char *prefix,
                        int (*count)(int type))
{
    const rb_model *m = s->written;
    char buffer[512], suffix[16];
    for (int j = 0; j < m->njnt; j++) {
        const char *name = rb_model_name(m, RB_KIND_JOINT, j, buffer, sizeof buffer);
        int n = count(m->jnt_type[j]);
        for (int k = 0; k < n; k++) {
            snprintf(suffix, sizeof suffix, "%d", k);
            put_name(out, prefix, name, n > 1 ? suffix : NULL);
        }
    }
}

static void q_head(FILE *out, const record_state *s)
{
    joints_head(out, s, "q", coordinates);
}

static void q_row(FILE *out, const record_state *s)
{
    put_numbers(out, s->q->q, s->written->nq);
}

static void q_members(json *j, const record_state *s)
{
    json_vector(j, "qpos", s->q->q, s->written->nq);
}

static void v_head(FILE *out, const record_state *s)
{
    joints_head(out, s, "v", velocities);
}

static void v_row(FILE *out, const record_state *s)
{
    put_numbers(out, s->q->v, s->written->nv);
}

static void v_members(json *j, const record_state *s)
{
    json_vector(j, "qvel", s->q->v, s->written->nv);
}

/* ---- ctrl --------------------------------------------------------------------------------------
 */

static void ctrl_head(FILE *out, const record_state *s)
{
    char buffer[512];
    for (int k = 0; k < s->m->nctrl; k++)
        put_name(out, "ctrl", rb_control_name(s->m, k, buffer, sizeof buffer), NULL);
}

static void ctrl_row(FILE *out, const record_state *s)
{
    put_numbers(out, s->d->ctrl, s->m->nctrl);
}

static void ctrl_members(json *j, const record_state *s)
{
    json_vector(j, "ctrl", s->d->ctrl, s->m->nctrl);
}

/* ---- contact -----------------------------------------------------------------------------------
 */

static void step_head(FILE *out, const record_state *s)
{
    (void)s;
    fputs(",contacts,residual,penetration", out);
}

static void step_row(FILE *out, const record_state *s)
{
    const double rest[2] = { s->info->residual, s->info->penetration };
    fprintf(out, ",%d", s->info->contacts);
    put_numbers(out, rest, 2);
}

static void step_members(json *j, const record_state *s)
{
    json_int(j, "contacts", s->info->contacts);
    json_number(j, "residual", s->info->residual);
    json_number(j, "penetration", s->info->penetration);
}

static void contact_head(FILE *out, const record_state *s)
{
    static const char *const axes[3] = { "x", "y", "z" };
    char buffer[512];
    step_head(out, s);
    for (int b = 1; b < s->m->nbody; b++) {
        const char *name = rb_model_name(s->m, RB_KIND_BODY, b, buffer, sizeof buffer);
        for (int k = 0; k < 3; k++) put_name(out, "contact", name, axes[k]);
    }
}

static void contact_row(FILE *out, const record_state *s)
{
    step_row(out, s);
    for (int b = 1; b < s->m->nbody; b++) {
        double force[3], torque[3];
        rb_contact_on_body(s->m, s->d, b, force, torque);
        put_numbers(out, force, 3);
    }
}

static void contact_members(json *j, const record_state *s)
{
    step_members(j, s);
    contact_json(j, "contact", s->m, s->d);
    contact_bodies_json(j, "contact_bodies", s->m, s->d);
}

/* ---- body --------------------------------------------------------------------------------------
 */

/* Quaternion of a rotation matrix, w >= 0: from the largest of its four squares, without
 * cancellation. */
static void quaternion(const double *R, double q[4])
{
    const double trace = R[0] + R[4] + R[8];
    const double four[4] = { 1.0 + trace, 1.0 + 2.0 * R[0] - trace, 1.0 + 2.0 * R[4] - trace,
                             1.0 + 2.0 * R[8] - trace };
    const double mixed[4][4] = {
        { four[0], R[7] - R[5], R[2] - R[6], R[3] - R[1] },
        { R[7] - R[5], four[1], R[1] + R[3], R[2] + R[6] },
        { R[2] - R[6], R[1] + R[3], four[2], R[5] + R[7] },
        { R[3] - R[1], R[2] + R[6], R[5] + R[7], four[3] },
    };
    int largest = 0;
    double sum = 0.0;
    for (int k = 1; k < 4; k++)
        if (four[k] > four[largest]) largest = k;
    for (int k = 0; k < 4; k++) sum += mixed[largest][k] * mixed[largest][k];
    double scale = (mixed[largest][0] < 0.0 ? -1.0 : 1.0) / sqrt(sum);
    for (int k = 0; k < 4; k++) q[k] = scale * mixed[largest][k];
}

static void pose_of(const rb_data *d, int body, double pose[7])
{
    memcpy(pose, d->body_p + 3 * (ptrdiff_t)body, 3 * sizeof *pose);
    quaternion(d->body_R + 9 * (ptrdiff_t)body, pose + 3);
}

static void body_head(FILE *out, const record_state *s)
{
    static const char *const parts[7] = { "x", "y", "z", "qw", "qx", "qy", "qz" };
    char buffer[512];
    for (int b = 1; b < s->m->nbody; b++) {
        const char *name = rb_model_name(s->m, RB_KIND_BODY, b, buffer, sizeof buffer);
        for (int k = 0; k < 7; k++) put_name(out, "body", name, parts[k]);
    }
}

static void body_row(FILE *out, const record_state *s)
{
    for (int b = 1; b < s->m->nbody; b++) {
        double pose[7];
        pose_of(s->d, b, pose);
        put_numbers(out, pose, 7);
    }
}

static void body_members(json *j, const record_state *s)
{
    char buffer[512];
    json_begin(j, "body");
    for (int b = 1; b < s->m->nbody; b++) {
        double pose[7];
        pose_of(s->d, b, pose);
        json_vector(j, rb_model_name(s->m, RB_KIND_BODY, b, buffer, sizeof buffer), pose, 7);
    }
    json_end(j);
}

/* ---- energy ------------------------------------------------------------------------------------
 */

static void energy_head(FILE *out, const record_state *s)
{
    (void)s;
    fputs(",energy", out);
}

static void energy_row(FILE *out, const record_state *s)
{
    put_numbers(out, &s->energy, 1);
}

static void energy_members(json *j, const record_state *s)
{
    json_number(j, "energy", s->energy);
}

/* ---- sensors -----------------------------------------------------------------------------------
 */

/* Those of the model that is simulated: its maximal form has none. */
static void sensor_head(FILE *out, const record_state *s)
{
    char title[512];
    for (int k = 0; k < s->m->nsensordata; k++)
        put_name(out, "sensor", rb_sensor_title(s->m, k, title, sizeof title), NULL);
}

static void sensor_row(FILE *out, const record_state *s)
{
    put_numbers(out, s->d->sensor, s->m->nsensordata);
}

static void sensor_members(json *j, const record_state *s)
{
    if (s->m->nsensor > 0) sensor_json(j, "sensor", s->m, s->d);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

const record_group record_groups[] = {
    { "q", "q:JOINT, q:JOINT:0 ..: coordinates", q_head, q_row, q_members, 1 },
    { "v", "v:JOINT, v:JOINT:0 ..: velocities", v_head, v_row, v_members, 1 },
    { "ctrl", "ctrl:ACTUATOR: controls", ctrl_head, ctrl_row, ctrl_members, 0 },
    { "contact", "contacts, residual, penetration, contact:BODY:x y z: force of all contacts [N]",
      contact_head, contact_row, contact_members, 0 },
    { "sensor", "sensor:NAME, sensor:NAME:0 ..: values of sensors", sensor_head, sensor_row,
      sensor_members, 0 },
    { "body", "body:BODY:x y z qw qx qy qz: poses", body_head, body_row, body_members, 0 },
    { "energy", "energy: kinetic and potential [J]", energy_head, energy_row, energy_members, 0 },
    { NULL, NULL, NULL, NULL, NULL, 0 },
};

/* Without --columns: q, v, and these. */
static const record_group usual_rest[2] = {
    { "step", NULL, step_head, step_row, step_members, 1 },
    { "energy", NULL, energy_head, energy_row, energy_members, 1 },
};

static int refuse(const char *word, size_t length, const char *why)
{
    fprintf(stderr, "rattleback run: --columns %.*s: %s; expected", (int)length, word, why);
    for (const record_group *g = record_groups; g->word; g++)
        fprintf(stderr, "%s %s", g == record_groups ? "" : ",", g->word);
    fputc('\n', stderr);
    return -1;
}

static const record_group *find(const char *word, size_t length)
{
    for (const record_group *g = record_groups; g->word; g++)
        if (strlen(g->word) == length && memcmp(g->word, word, length) == 0) return g;
    return NULL;
}

int record_groups_find(const char *words, const record_group *out[RECORD_MOST_GROUPS])
{
    int n = 0;
    if (!words) {
        for (const record_group *g = record_groups; g->word; g++)
            if (g->usual) out[n++] = g;
        out[n++] = &usual_rest[0];
        out[n++] = &usual_rest[1];
        return n;
    }
    for (const char *word = words;; word++) { /* after each comma */
        size_t length = strcspn(word, ",");
        const record_group *g = find(word, length);
        if (!g) return refuse(word, length, "no such group of columns");
        for (int k = 0; k < n; k++)
            if (out[k] == g) return refuse(word, length, "asked for twice");
        out[n++] = g;
        word += length;
        if (!*word) return n;
    }
}
