#include "run/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "rattleback/io.h"

static int refuse(const char *path, int line, const char *sentence)
{
    fprintf(stderr, "%s:%d: %s\n", path, line, sentence);
    return 0;
}

/* The state is used where it is the only one and has no unknown key. */
static int use(const char *path, const rb_state_entry *state, const rb_model *m, rb_data **d)
{
    if (state->unknown) {
        fprintf(stderr,
                "%s:%d: %s: unknown key; known are qpos, qvel, act, ctrl, mocap, tau, time, name, "
                "resume, and the columns of a record\n",
                path, state->line, state->unknown);
        return 0;
    }
    if (state->resume && state->resume->ntouch > 0 &&
        rb_data_reserve(m, d, state->resume->ntouch) != RB_OK)
        return refuse(path, state->line, "out of memory for the contacts of this state");
    return rb_state_apply(m, state, *d) == RB_OK;
}

static int read_one(rb_state_reader *reader, const char *path, const rb_model *m, rb_data **d,
                    int *goes_on, rb_error *err)
{
    rb_state_entry *state = NULL, *second = NULL;
    if (rb_state_next(reader, &state, err) != RB_OK) return 0;
    if (!state) {
        fprintf(stderr, "%s: no state in it\n", path);
        return 0;
    }
    int good = use(path, state, m, d);
    *goes_on = state->resume != NULL;
    rb_state_entry_free(state);
    if (!good || rb_state_next(reader, &second, err) != RB_OK) return 0;
    if (!second) return 1;
    refuse(path, second->line,
           "a second state; a run starts from one: keep one line, of a record the last for "
           "example");
    rb_state_entry_free(second);
    return 0;
}

int run_state_apply(const char *path, const rb_model *m, rb_data **d, int *goes_on)
{
    rb_error err = { 0 };
    const char *shown = strcmp(path, "-") == 0 ? "stdin" : path;
    rb_state_reader *reader = rb_state_open(path, m, NULL, &err);
    if (!reader) {
        model_say(&err);
        return 0;
    }
    err.text[0] = '\0';
    int good = read_one(reader, shown, m, d, goes_on, &err);
    if (!good && err.text[0]) model_say(&err);
    rb_state_close(reader);
    return good;
}

int run_state_height(const rb_model *m, rb_data *d, double z)
{
    for (int j = 0; j < m->njnt; j++) {
        if (m->jnt_type[j] != RB_JOINT_FREE) continue;
        d->q[m->jnt_qadr[j] + 2] = z;
        return 1;
    }
    fputs("rattleback run: --start-height: the model has no free joint; a URDF gets one by "
          "--floating-base\n",
          stderr);
    return 0;
}

int run_state_save(const char *path, const rb_model *m, const rb_data *d)
{
    FILE *out = fopen(path, "w");
    int good = out != NULL;
    if (out) rb_state_write(out, m, d);
    if (out) good = !ferror(out);
    if (out && fclose(out) != 0) good = 0;
    if (!good) fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return good;
}
