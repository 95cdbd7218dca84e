#include "run/control_columns.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

/* ---- names -------------------------------------------------------------------------------------
 */

/* An element by its name, or by the one that records and `info` have for it; -1: none. */
static int find_named(const rb_model *m, rb_kind kind, int count, const char *name)
{
    int found = rb_model_find(m, kind, name);
    for (int k = 0; k < count && found < 0; k++) {
        char buffer[512];
        if (strcmp(rb_model_name(m, kind, k, buffer, sizeof buffer), name) == 0) found = k;
    }
    return found;
}

static int dofs_of(const rb_model *m, int joint)
{
    int type = m->jnt_type[joint];
    return type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
}

/* "NAME:SUFFIX" taken apart at its last colon; 0: there is none, or the name is too long. */
static int split(const char *column, char name[512], const char **suffix)
{
    const char *colon = strrchr(column, ':');
    if (!colon || colon - column >= 512) return 0;
    memcpy(name, column, (size_t)(colon - column));
    name[colon - column] = '\0';
    *suffix = colon + 1;
    return 1;
}

/* ---- controls ----------------------------------------------------------------------------------
 */

static int is_actuator(const rb_model *m, const char *name, control_channel *out)
{
    out->kind = CONTROL_CTRL;
    out->at = -1;
    for (int k = 0; k < m->nctrl && out->at < 0; k++) {
        char buffer[512];
        if (strcmp(rb_control_name(m, k, buffer, sizeof buffer), name) == 0) out->at = k;
    }
    return out->at >= 0;
}

/* "JOINT", or "JOINT:k" where it has several degrees of freedom. */
static int is_joint(const rb_model *m, const char *column, control_channel *out)
{
    char name[512];
    const char *suffix;
    int joint = find_named(m, RB_KIND_JOINT, m->njnt, column), k = 0;
    out->kind = CONTROL_TAU;
    if (joint >= 0 && dofs_of(m, joint) > 1) return 0;
    if (joint < 0) {
        if (!split(column, name, &suffix) || suffix[0] < '0' || suffix[0] > '5' || suffix[1])
            return 0;
        joint = find_named(m, RB_KIND_JOINT, m->njnt, name);
        k = suffix[0] - '0';
        if (joint < 0 || k >= dofs_of(m, joint)) return 0;
    }
    out->at = m->jnt_dofadr[joint] + k;
    return 1;
}

static int is_mocap(const rb_model *m, const char *column, control_channel *out)
{
    static const char *const words[7] = { "x", "y", "z", "qw", "qx", "qy", "qz" };
    char name[512];
    const char *suffix;
    if (!split(column, name, &suffix)) return 0;
    int body = find_named(m, RB_KIND_BODY, m->nbody, name);
    if (body < 0 || m->body_mocap[body] < 0) return 0;
    out->kind = CONTROL_MOCAP;
    out->at = m->body_mocap[body];
    for (out->component = 0; out->component < 7; out->component++)
        if (strcmp(suffix, words[out->component]) == 0) return 1;
    return 0;
}

/* ctrl: and tau: in front say which is meant where an actuator and a joint share a name. */
static int find_channel(const rb_model *m, const char *column, control_channel *out)
{
    if (is_actuator(m, column, out) || is_joint(m, column, out) || is_mocap(m, column, out))
        return 1;
    if (strncmp(column, "ctrl:", 5) == 0) return is_actuator(m, column + 5, out);
    return strncmp(column, "tau:", 4) == 0 && is_joint(m, column + 4, out);
}

/* "; did you mean NAME?": the input that is spelled most like the column; "": none is near. */
static const char *meant_for(const rb_model *m, const char *column, char out[600])
{
    nearest best = { 0 };
    char name[512], kept[512];
    for (int k = 0; k < m->nctrl + m->njnt; k++) {
        nearest_word(k < m->nctrl
                         ? rb_control_name(m, k, name, sizeof name)
                         : rb_model_name(m, RB_KIND_JOINT, k - m->nctrl, name, sizeof name),
                     &best, column);
        if (!best.word || best.word == kept) continue;
        snprintf(kept, sizeof kept, "%s", best.word); /* the buffer is written again */
        best.word = kept;
    }
    out[0] = '\0';
    if (best.word) snprintf(out, 600, "; did you mean %s?", kept);
    return out;
}

static int refuse(const char *path, const char *column, const char *sentence)
{
    fprintf(stderr, "%s:1: column %s: %s\n", path, column, sentence);
    return 0;
}

static int refuse_unknown(const char *path, const rb_model *m, const char *column,
                          const char *sentence)
{
    char meant[600];
    fprintf(stderr, "%s:1: column %s: %s%s\n", path, column, sentence, meant_for(m, column, meant));
    return 0;
}

static int same_channel(const control_channel *a, const control_channel *b)
{
    return a->kind == b->kind && a->at == b->at && a->component == b->component;
}

static int take_channel(const rb_table *table, const char *path, const rb_model *m, int maximal,
                        int k, control_channel *channel)
{
    const char *column = table->name[k];
    if (!find_channel(m, column, &channel[k]))
        return refuse_unknown(
            path, m, column,
            "no actuator, no joint with one degree of freedom (others: JOINT:0, ..) and "
            "no mocap body (BODY:x y z qw qx qy qz) of this name; rattleback info lists "
            "them");
    if (maximal && channel[k].kind == CONTROL_TAU)
        return refuse(path, column,
                      "--coordinates maximal has no joint coordinates to push; take minimal");
    for (int i = 0; i < k; i++)
        if (same_channel(&channel[i], &channel[k]))
            return refuse(path, column, "a second column for the same input");
    return 1;
}

/* Quaternions of zeros turn nothing anywhere. 1, or 0 after a sentence. */
static int turns(const rb_table *table, const char *path, const control_channel *channel, int k)
{
    if (channel[k].kind != CONTROL_MOCAP || channel[k].component < 3) return 1;
    for (int row = 0; row < table->nrow; row++) {
        double sum = 0.0;
        for (int i = 0; i < table->ncol; i++) {
            double x = table->x[(ptrdiff_t)row * table->ncol + i];
            if (channel[i].kind == CONTROL_MOCAP && channel[i].at == channel[k].at &&
                channel[i].component >= 3)
                sum += x * x;
        }
        if (sum > 0.0) continue;
        fprintf(stderr,
                "%s:%d: %s: a quaternion of zeros is no rotation; give qw qx qy qz, not all 0\n",
                path, table->line[row], table->name[k]);
        return 0;
    }
    return 1;
}

control_channel *control_channels(const rb_table *table, const char *path, const rb_model *m,
                                  int maximal)
{
    control_channel *channel = calloc((size_t)table->ncol + 1, sizeof *channel);
    if (!channel) fputs("rattleback run: out of memory\n", stderr);
    int good = channel != NULL;
    for (int k = 0; k < table->ncol && good; k++)
        good = take_channel(table, path, m, maximal, k, channel);
    for (int k = 0; k < table->ncol && good; k++) good = turns(table, path, channel, k);
    if (good) return channel;
    free(channel);
    return NULL;
}

/* ---- targets -----------------------------------------------------------------------------------
 */

static int column_of(const rb_table *table, const char *name, const char *suffix)
{
    size_t length = strlen(name);
    for (int k = 0; k < table->ncol; k++) {
        const char *column = table->name[k];
        if (strncmp(column, name, length) == 0 && strcmp(column + length, suffix) == 0) return k;
    }
    return -1;
}

/* A negative gain drives a joint away from its target: a slip of the pen. */
static int no_negative(const rb_table *table, const char *path, int column)
{
    for (int i = 0; i < table->nrow; i++) {
        double gain = table->x[(ptrdiff_t)i * table->ncol + column];
        if (gain >= 0.0) continue;
        fprintf(stderr, "%s:%d: %s: %g; expected a gain >= 0\n", path, table->line[i],
                table->name[column], gain);
        return 0;
    }
    return 1;
}

/* Gains of a joint: its own columns, or those for all. */
static int take_gains(const rb_table *table, const char *path, const char *name, control_pd *j)
{
    j->v = column_of(table, name, ":v");
    j->kp = column_of(table, name, ":kp");
    j->kd = column_of(table, name, ":kd");
    if (j->kp < 0) j->kp = column_of(table, "kp", "");
    if (j->kd < 0) j->kd = column_of(table, "kd", "");
    if (j->kp >= 0 && j->kd >= 0)
        return no_negative(table, path, j->kp) && no_negative(table, path, j->kd);
    return refuse(path, name,
                  "no gains; expected columns kp and kd for all joints, or JOINT:kp and JOINT:kd");
}

/* 1: a target; 0: a column that belongs to one; -1: refused. */
static int take_target(const rb_table *table, const char *path, const rb_model *m, int k,
                       control_pd *out)
{
    char name[512];
    const char *column = table->name[k], *suffix;
    out->q = k;
    out->joint = find_named(m, RB_KIND_JOINT, m->njnt, column);
    if (out->joint >= 0 && dofs_of(m, out->joint) > 1) {
        refuse(path, column,
               "targets are for hinges and slides; this joint has several degrees of "
               "freedom");
        return -1;
    }
    if (out->joint >= 0) {
        out->dof = m->jnt_dofadr[out->joint];
        out->qadr = m->jnt_qadr[out->joint];
        return take_gains(table, path, column, out) ? 1 : -1;
    }
    if (strcmp(column, "kp") == 0 || strcmp(column, "kd") == 0) return 0;
    int known =
        split(column, name, &suffix) && column_of(table, name, "") >= 0 &&
        find_named(m, RB_KIND_JOINT, m->njnt, name) >= 0 &&
        (strcmp(suffix, "v") == 0 || strcmp(suffix, "kp") == 0 || strcmp(suffix, "kd") == 0);
    if (known) return 0;
    refuse_unknown(
        path, m, column,
        "no joint of this name; expected JOINT, and with it JOINT:v, JOINT:kp, JOINT:kd, or kp "
        "and kd for all; rattleback info lists the joints");
    return -1;
}

control_pd *control_pd_joints(const rb_table *table, const char *path, const rb_model *m,
                              int maximal, int *count)
{
    control_pd *pd = calloc((size_t)table->ncol + 1, sizeof *pd);
    int found = pd ? 0 : -1;
    *count = 0;
    if (!pd) fputs("rattleback run: out of memory\n", stderr);
    for (int k = 0; k < table->ncol && found >= 0; k++) {
        found = take_target(table, path, m, k, &pd[*count]);
        if (found > 0) ++*count;
    }
    if (found >= 0 && *count == 0) found = refuse(path, "1", "no joint has a target") - 1;
    if (found >= 0 && maximal)
        found = refuse(path, "1",
                       "--coordinates maximal has no joint coordinates to push; take minimal") -
                1;
    if (found >= 0) return pd;
    free(pd);
    return NULL;
}

int control_pd_alone(const control_pd *pd, int npd, const control_channel *channel, int nchannel,
                     const rb_model *m)
{
    char buffer[512];
    for (int k = 0; k < npd; k++) {
        for (int i = 0; i < nchannel; i++) {
            if (channel[i].kind != CONTROL_TAU || channel[i].at != pd[k].dof) continue;
            fprintf(stderr,
                    "rattleback run: joint %s has a torque in --ctrl and a target in --pd\n",
                    rb_model_name(m, RB_KIND_JOINT, pd[k].joint, buffer, sizeof buffer));
            return 0;
        }
    }
    return 1;
}
