/* All strings of a model in one array: names, custom texts, warnings. They are collected twice by
 * the same walk, first to count, then to copy. */
#include "model/build.h"

#include <limits.h>

/* `out` NULL: only count. */
typedef struct writer {
    char *out;
    size_t used;
    const char *last; /* a text that is the same pointer as the one before it is stored once */
    int last_at;
} writer;

static int put(writer *w, const char *text)
{
    if (!text || !*text) return 0;
    if (text == w->last) return w->last_at;
    size_t size = strlen(text) + 1;
    if (w->out) memcpy(w->out + w->used, text, size);
    int at = (int)w->used;
    w->used += size;
    return at;
}

static void put_names(rb_build *b, writer *w)
{
    for (int kind = 0; kind < RB_NKIND; kind++) {
        const int *order = NULL;
        if (kind == RB_KIND_JOINT) order = b->joints.order;
        if (kind == RB_KIND_GEOM) order = b->geoms.order;
        for (int i = 0; i < b->spec->list[kind].count; i++) {
            const void *def = rb_spec_item(b->spec, (rb_kind)kind, order ? order[i] : i);
            int at = put(w, rb_head_of(def).name);
            if (w->out) b->m->name[kind][i] = at;
        }
    }
}

static void put_warnings(rb_build *b, writer *w)
{
    rb_model *m = b->m;
    for (int i = 0; i < b->spec->warnings.count; i++) {
        const rb_warning *warning = rb_spec_warning(b->spec, i);
        int file = put(w, warning->where.file);
        w->last = warning->where.file;
        w->last_at = file;
        int element = put(w, warning->element), text = put(w, warning->text);
        if (!w->out) continue;
        m->warning_file[i] = file;
        m->warning_line[i] = warning->where.line;
        m->warning_element[i] = element;
        m->warning_text[i] = text;
        m->warning_physics[i] = warning->physics;
    }
}

static void put_customs(rb_build *b, writer *w)
{
    rb_model *m = b->m;
    int data = 0;
    for (int i = 0; i < b->spec->list[RB_KIND_CUSTOM].count; i++) {
        const rb_custom_def *def = RB_DEFS(b, custom, CUSTOM) + i;
        int text = def->text ? put(w, def->text) : -1;
        if (!w->out) continue;
        m->custom_text[i] = text;
        m->custom_adr[i] = data;
        m->custom_num[i] = def->ndata;
        if (def->ndata > 0) {
            memcpy(m->custom_data + data, def->data, (size_t)def->ndata * sizeof(double));
        }
        data += def->ndata;
    }
}

/* The empty string comes first. */
static size_t put_all(rb_build *b, char *out)
{
    writer w = { .out = out, .used = 1 };
    if (out) out[0] = '\0';
    put_names(b, &w);
    put_customs(b, &w);
    put_warnings(b, &w);
    return w.used;
}

/* Counts of what is only copied, and the bytes of all strings. */
rb_status rb_size_rest(rb_build *b)
{
    rb_model *m = b->m;
    const rb_list *list = b->spec->list;
    m->neq = list[RB_KIND_EQUALITY].count;
    m->ntendon = list[RB_KIND_TENDON].count;
    m->nu = list[RB_KIND_ACTUATOR].count;
    m->nexclude = list[RB_KIND_EXCLUDE].count;
    m->npair = list[RB_KIND_PAIR].count;
    m->nkey = list[RB_KIND_KEY].count;
    m->ncustom = list[RB_KIND_CUSTOM].count;
    m->nwarning = b->spec->warnings.count;

    size_t chains = 0, numbers = 0, bytes = put_all(b, NULL);
    for (int i = 0; i < m->neq; i++) chains += (size_t)RB_DEFS(b, equality, EQUALITY)[i].nchain;
    for (int i = 0; i < m->ncustom; i++) numbers += (size_t)RB_DEFS(b, custom, CUSTOM)[i].ndata;
    if (chains > INT_MAX || numbers > INT_MAX || bytes > INT_MAX) {
        return rb_fail(b->err, RB_TOO_LARGE, "too many numbers or strings for one model");
    }
    m->nchain = (int)chains;
    m->ncustomdata = (int)numbers;
    m->nname = (int)bytes;
    return rb_size_actuators(b);
}

/* Order of two elements: by name, equal names (those without) by index. */
static int comes_before(const rb_model *m, int kind, int i, int j)
{
    int sign = strcmp(m->names + m->name[kind][i], m->names + m->name[kind][j]);
    return sign < 0 || (sign == 0 && i < j);
}

static void sift_down(const rb_model *m, int kind, int *heap, int root, int n)
{
    for (int child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && comes_before(m, kind, heap[child], heap[child + 1])) child++;
        if (!comes_before(m, kind, heap[root], heap[child])) return;
        int t = heap[root];
        heap[root] = heap[child];
        heap[child] = t;
    }
}

/* Heap sort: no recursion, no worst case. */
static void sort_by_name(const rb_model *m, int kind, int *order, int n)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n / 2 - 1; i >= 0; i--) sift_down(m, kind, order, i, n);
    for (int i = n - 1; i > 0; i--) {
        int t = order[0];
        order[0] = order[i];
        order[i] = t;
        sift_down(m, kind, order, 0, i);
    }
}

void rb_fill_names(rb_build *b)
{
    rb_model *m = b->m;
    put_all(b, m->names);
    for (int kind = 0; kind < RB_NKIND; kind++) {
        sort_by_name(m, kind, m->name_order[kind], b->spec->list[kind].count);
    }
}
