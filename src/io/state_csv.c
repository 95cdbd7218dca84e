#include "io/state_csv.h"

#include <stdio.h>
#include <string.h>

/* ---- names of columns --------------------------------------------------------------------------
 */

/* "q:JOINT" or, of several, "q:JOINT:k"; the same for v. */
static const char *joint_column(const rb_model *m, int velocity, int at, char *buf, size_t size)
{
    static const int coordinates[] = {
        [RB_JOINT_FREE] = 7, [RB_JOINT_BALL] = 4, [RB_JOINT_SLIDE] = 1, [RB_JOINT_HINGE] = 1
    };
    static const int dofs[] = {
        [RB_JOINT_FREE] = 6, [RB_JOINT_BALL] = 3, [RB_JOINT_SLIDE] = 1, [RB_JOINT_HINGE] = 1
    };
    const int *first = velocity ? m->jnt_dofadr : m->jnt_qadr;
    int j = m->njnt - 1;
    char name[400];
    while (j > 0 && first[j] > at) j--;
    const char *title = rb_model_name(m, RB_KIND_JOINT, j, name, sizeof name);
    int n = (velocity ? dofs : coordinates)[m->jnt_type[j]];
    if (n > 1)
        snprintf(buf, size, "%c:%s:%d", velocity ? 'v' : 'q', title, at - first[j]);
    else
        snprintf(buf, size, "%c:%s", velocity ? 'v' : 'q', title);
    return buf;
}

static const char *column_name(const rb_model *m, int place, char *buf, size_t size)
{
    char name[400];
    if (place < m->nq) return joint_column(m, 0, place, buf, size);
    if (place < m->nq + m->nv) return joint_column(m, 1, place - m->nq, buf, size);
    snprintf(buf, size, "ctrl:%s", rb_control_name(m, place - m->nq - m->nv, name, sizeof name));
    return buf;
}

static int is_recorded(const char *name)
{
    static const char *const words[] = { "contacts", "residual", "penetration", "energy" };
    static const char *const kinds[] = { "contact:", "sensor:", "body:" };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(name, words[k]) == 0) return 1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strncmp(name, kinds[k], strlen(kinds[k])) == 0) return 1;
    return 0;
}

/* Records have them in order: the place after the last one found is tried first. */
static int find_place(const rb_model *m, const char *name, int guess)
{
    char buf[512];
    int n = m->nq + m->nv + m->nctrl;
    for (int k = 0; k < n; k++) {
        int place = (guess + k) % n;
        if (strcmp(column_name(m, place, buf, sizeof buf), name) == 0) return place;
    }
    return -1;
}

int *rb_io_record_places(const rb_table *table, const rb_model *m, const rb_alloc *alloc,
                         const char **unknown)
{
    int *place = alloc->alloc(alloc->ctx, ((size_t)table->ncol + 1) * sizeof *place), last = -1;
    *unknown = NULL;
    for (int c = 0; place && c < table->ncol; c++) {
        place[c] = is_recorded(table->name[c]) ? -1 : find_place(m, table->name[c], last + 1);
        if (place[c] >= 0) last = place[c];
        if (place[c] < 0 && !is_recorded(table->name[c]) && !*unknown) *unknown = table->name[c];
    }
    return place;
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static int has_place(const rb_table *table, const int *place, int wanted)
{
    for (int c = 0; c < table->ncol; c++)
        if (place[c] == wanted) return 1;
    return 0;
}

const char *rb_io_record_gap(const rb_table *table, const rb_model *m, const int *place, char *buf,
                             size_t size)
{
    const int begin[3] = { 0, m->nq, m->nq + m->nv };
    for (int part = 0; part < 2; part++) {
        int some = 0, gap = -1;
        for (int k = begin[part]; k < begin[part + 1]; k++) {
            if (has_place(table, place, k))
                some = 1;
            else if (gap < 0)
                gap = k;
        }
        if (some && gap >= 0) return column_name(m, gap, buf, size);
    }
    return NULL;
}

rb_status rb_io_record_row(rb_io_context *ctx, const rb_table *table, const rb_model *m,
                           const int *place, int row, rb_state_entry *e)
{
    int n = m->nq + m->nv + m->nctrl;
    double *x = rb_io_take_kept(ctx, (size_t)n + 1, sizeof *x);
    if (!x) return RB_NOMEM;
    for (int c = 0; c < table->ncol; c++) {
        if (place[c] < 0) continue;
        x[place[c]] = table->x[(size_t)row * (size_t)table->ncol + (size_t)c];
        if (place[c] < m->nq)
            e->qpos = x;
        else if (place[c] < m->nq + m->nv)
            e->qvel = x + m->nq;
        else
            e->ctrl = x + m->nq + m->nv;
    }
    e->time = table->time[row];
    return RB_OK;
}
