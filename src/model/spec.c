/* rb_spec: growing lists of elements, names in a hash table, strings and arrays in a pool. */
#include "model/spec.h"

/* Elements of one kind: what is computed from indices fits into int. */
enum { FIRST_CAPACITY = 16, FIRST_SLOTS = 64, MAX_ELEMENTS = 1 << 24 };

/* ---- memory -----------------------------------------------------------------------------------
 */

/* Room for one more item of `size` bytes. */
static int reserve(rb_spec *spec, rb_list *list, size_t size)
{
    if (list->count < list->capacity) return 1;
    int capacity = list->capacity ? 2 * list->capacity : FIRST_CAPACITY;
    void *items = spec->alloc.resize(spec->alloc.ctx, list->items, (size_t)capacity * size);
    if (!items) return 0;
    list->items = items;
    list->capacity = capacity;
    return 1;
}

/* A copy in the pool; NULL: out of memory. */
static void *keep_bytes(rb_spec *spec, const void *bytes, size_t size)
{
    void *copy = rb_push(spec->pool, char, size);
    if (copy) memcpy(copy, bytes, size);
    return copy;
}

static const char *keep_text(rb_spec *spec, const char *text)
{
    return *text ? keep_bytes(spec, text, strlen(text) + 1) : "";
}

/* Most elements come from the same few files: the last name is shared. */
static int keep_file(rb_spec *spec, rb_where *where)
{
    if (!where->file) return 1;
    if (!spec->file || strcmp(spec->file, where->file) != 0) {
        const char *file = keep_text(spec, where->file);
        if (!file) return 0;
        spec->file = file;
    }
    where->file = spec->file;
    return 1;
}

static int keep_arrays(rb_spec *spec, const rb_kind_info *info, char *def)
{
    for (const rb_array_slot *a = info->arrays; a && a->pointer != RB_NO_SLOT; a++) {
        const void *array;
        memcpy(&array, def + a->pointer, sizeof array);
        size_t length = (size_t)rb_array_length(a, def);
        if (!array) continue;
        array = length > 0 ? keep_bytes(spec, array, length * a->size) : NULL;
        if (!array && length > 0) return 0;
        memcpy(def + a->pointer, &array, sizeof array);
    }
    return 1;
}

/* Replaces the string at `offset` of `def` by a copy. */
static int keep_text_at(rb_spec *spec, char *def, size_t offset)
{
    const char *text;
    memcpy(&text, def + offset, sizeof text);
    if (!text) return 1;
    text = keep_text(spec, text);
    memcpy(def + offset, &text, sizeof text);
    return text != NULL;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static const char *name_of(const rb_spec *spec, int kind, int i)
{
    return rb_head_of(rb_spec_item(spec, (rb_kind)kind, i)).name;
}

/* The slot of a name, or the empty one where it belongs. */
static int find_slot(const rb_spec *spec, int kind, const char *name)
{
    uint64_t hash = rb_hash(RB_HASH_INIT + (uint64_t)kind, name, strlen(name));
    int s = (int)(hash & (uint64_t)(spec->nslot - 1));
    while (spec->slots[s].index >= 0) {
        const rb_name_slot *slot = &spec->slots[s];
        if (slot->kind == kind && strcmp(name_of(spec, kind, slot->index), name) == 0) break;
        s = (s + 1) & (spec->nslot - 1);
    }
    return s;
}

/* At most half of the slots are taken. */
static int reserve_slot(rb_spec *spec)
{
    if (2 * (spec->nnamed + 1) <= spec->nslot) return 1;
    int old_count = spec->nslot, count = old_count ? 2 * old_count : FIRST_SLOTS;
    rb_name_slot *old = spec->slots;
    rb_name_slot *slots = spec->alloc.alloc(spec->alloc.ctx, (size_t)count * sizeof *slots);
    if (!slots) return 0;
    for (int s = 0; s < count; s++) slots[s] = (rb_name_slot){ 0, -1 };
    spec->slots = slots;
    spec->nslot = count;
    for (int s = 0; s < old_count; s++) {
        if (old[s].index < 0) continue;
        slots[find_slot(spec, old[s].kind, name_of(spec, old[s].kind, old[s].index))] = old[s];
    }
    spec->alloc.release(spec->alloc.ctx, old);
    return 1;
}

static rb_status check_new_name(const rb_spec *spec, rb_kind kind, const void *def, rb_error *err)
{
    rb_head head = rb_head_of(def);
    int first = rb_spec_find(spec, kind, head.name);
    if (first < 0) return RB_OK;
    rb_head before = rb_head_of(rb_spec_item(spec, kind, first));
    if (!before.where.file && before.where.line == 0) {
        return rb_refuse(def, kind, spec->list[kind].count, err,
                         "this name was already given to %s %d", rb_kind_text(kind), first);
    }
    return rb_refuse(def, kind, spec->list[kind].count, err, "was already named at %s:%d",
                     before.where.file ? before.where.file : "", before.where.line);
}

int rb_spec_find(const rb_spec *spec, rb_kind kind, const char *name)
{
    if (!name || !*name || spec->nslot == 0) return -1;
    return spec->slots[find_slot(spec, (int)kind, name)].index;
}

/* ---- adding -----------------------------------------------------------------------------------
 */

/* Copies what the new item points to; its bytes are already in the list. */
static int keep_item(rb_spec *spec, rb_kind kind, char *item)
{
    const rb_kind_info *info = &rb_kinds[kind];
    rb_head head = rb_head_of(item);
    if (!head.name) head.name = "";
    if (!keep_file(spec, &head.where)) return 0;
    memcpy(item, &head, sizeof head);
    if (!keep_text_at(spec, item, offsetof(rb_head, name))) return 0;
    if (info->text != RB_NO_SLOT && !keep_text_at(spec, item, info->text)) return 0;
    return keep_arrays(spec, info, item);
}

/* The element is counted only when all of it is in the spec: a failure leaves the spec as it was,
 * but for bytes in the pool that are given back with it. */
static int add(rb_spec *spec, rb_kind kind, const void *def, rb_error *err)
{
    const rb_kind_info *info = &rb_kinds[kind];
    rb_list *list = &spec->list[kind];
    if (list->count >= MAX_ELEMENTS) {
        rb_fail(err, RB_TOO_LARGE, "more than %d elements of kind %s", MAX_ELEMENTS, info->word);
        return -1;
    }
    if (rb_check_links_of(spec, kind, list->count, def, err) != RB_OK) return -1;
    if (check_new_name(spec, kind, def, err) != RB_OK) return -1;

    char *item = NULL;
    if (reserve(spec, list, info->size) && reserve_slot(spec)) {
        item = (char *)list->items + (size_t)list->count * info->size;
        memcpy(item, def, info->size);
    }
    if (!item || !keep_item(spec, kind, item)) {
        rb_fail(err, RB_NOMEM, "out of memory for %s %d", info->word, list->count);
        return -1;
    }
    const char *name = rb_head_of(item).name;
    int i = list->count;
    if (*name) {
        spec->slots[find_slot(spec, (int)kind, name)] = (rb_name_slot){ (int)kind, i };
        spec->nnamed++;
    }
    list->count++;
    return i;
}

#define DEFINE_CALLS(name, KIND)                                                                   \
    int rb_spec_add_##name(rb_spec *spec, const rb_##name##_def *def, rb_error *err)               \
    {                                                                                              \
        return add(spec, RB_KIND_##KIND, def, err);                                                \
    }                                                                                              \
    rb_##name##_def *rb_spec_##name(rb_spec *spec, int i)                                          \
    {                                                                                              \
        rb_list *list = &spec->list[RB_KIND_##KIND];                                               \
        return i >= 0 && i < list->count ? (rb_##name##_def *)list->items + i : NULL;              \
    }
RB_FOR_EACH_KIND(DEFINE_CALLS)

rb_status rb_spec_set_hull(rb_spec *spec, int mesh, const rb_hull_def *hull)
{
    rb_mesh_def *stored = rb_spec_mesh(spec, mesh);
    if (!stored) return RB_BAD_INPUT;
    rb_mesh_def copy = *stored;
    copy.hull = *hull;
    rb_status status = rb_check_links_of(spec, RB_KIND_MESH, mesh, &copy, NULL);
    if (status != RB_OK) return status;

    rb_hull_def kept = *hull;
    size_t nvert = (size_t)hull->nvert, nface = (size_t)hull->nface, nloop = (size_t)hull->nloop;
    if (nvert == 0) {
        kept = (rb_hull_def){ 0 };
    } else {
        kept.vert = keep_bytes(spec, hull->vert, 3 * nvert * sizeof(double));
        kept.start = keep_bytes(spec, hull->start, (nface + 1) * sizeof(int));
        kept.loop = keep_bytes(spec, hull->loop, nloop * sizeof(int));
        if (!kept.vert || !kept.start || !kept.loop) return RB_NOMEM;
    }
    stored->hull = kept;
    return RB_OK;
}

void rb_spec_keep_geoms(rb_spec *spec, const int *place)
{
    rb_list *list = &spec->list[RB_KIND_GEOM];
    rb_geom_def *geom = list->items;
    int count = 0;
    for (int i = 0; i < list->count; i++)
        if (place[i] >= 0) geom[count++] = geom[i];
    list->count = count;
    for (int i = 0; i < spec->list[RB_KIND_PAIR].count; i++) {
        rb_pair_def *pair = rb_spec_pair(spec, i);
        pair->geom1 = place[pair->geom1];
        pair->geom2 = place[pair->geom2];
    }
    for (int i = 0; i < spec->list[RB_KIND_TENDON].count; i++) {
        const rb_tendon_def *tendon = rb_spec_tendon(spec, i);
        rb_wrap_def *path = (rb_wrap_def *)tendon->path; /* the copy is the spec's own */
        for (int k = 0; k < tendon->npath; k++)
            if (path[k].type == RB_WRAP_GEOM) path[k].object = place[path[k].object];
    }
    for (int i = 0; i < spec->list[RB_KIND_SENSOR].count; i++) {
        rb_sensor_def *sensor = rb_spec_sensor(spec, i);
        if (sensor->object == RB_OBJECT_GEOM) sensor->index = place[sensor->index];
        if (sensor->reference == RB_OBJECT_GEOM)
            sensor->reference_index = place[sensor->reference_index];
    }

    spec->nnamed = 0;
    for (int s = 0; s < spec->nslot; s++) spec->slots[s] = (rb_name_slot){ 0, -1 };
    for (int kind = 0; kind < RB_NKIND; kind++) {
        for (int i = 0; i < spec->list[kind].count; i++) {
            const char *name = name_of(spec, kind, i);
            if (!*name) continue;
            spec->slots[find_slot(spec, kind, name)] = (rb_name_slot){ kind, i };
            spec->nnamed++;
        }
    }
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

rb_spec *rb_spec_new(const rb_alloc *alloc)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    rb_spec *spec = a.alloc(a.ctx, sizeof *spec);
    if (!spec) return NULL;
    *spec = (rb_spec){ .alloc = a };
    spec->option = (rb_option){ .timestep = 0.002,
                                .gravity = { 0.0, 0.0, -9.81 },
                                .magnetic = { 0.0, -0.5, 0.0 },
                                .contact = 1,
                                .filter_parent = 1 };
    rb_body_def world = rb_body_default();
    world.name = "world";
    spec->pool = rb_arena_new(&a, 0);
    if (!spec->pool || add(spec, RB_KIND_BODY, &world, NULL) != 0) {
        rb_spec_free(spec);
        return NULL;
    }
    return spec;
}

void rb_spec_free(rb_spec *spec)
{
    if (!spec) return;
    rb_alloc a = spec->alloc;
    for (int kind = 0; kind < RB_NKIND; kind++) a.release(a.ctx, spec->list[kind].items);
    a.release(a.ctx, spec->warnings.items);
    a.release(a.ctx, spec->slots);
    rb_arena_free(spec->pool);
    a.release(a.ctx, spec);
}

rb_option *rb_spec_option(rb_spec *spec)
{
    return &spec->option;
}

int rb_spec_count(const rb_spec *spec, rb_kind kind)
{
    return kind >= RB_KIND_BODY && kind < RB_NKIND ? spec->list[kind].count : 0;
}

rb_status rb_spec_warn(rb_spec *spec, const rb_warning *warning)
{
    if (spec->warnings.count >= MAX_ELEMENTS) return RB_TOO_LARGE;
    if (!reserve(spec, &spec->warnings, sizeof *warning)) return RB_NOMEM;
    rb_warning kept = *warning;
    if (!keep_file(spec, &kept.where)) return RB_NOMEM;
    kept.element = keep_text(spec, warning->element ? warning->element : "");
    kept.text = keep_text(spec, warning->text ? warning->text : "");
    if (!kept.element || !kept.text) return RB_NOMEM;
    ((rb_warning *)spec->warnings.items)[spec->warnings.count++] = kept;
    return RB_OK;
}

int rb_spec_warning_count(const rb_spec *spec)
{
    return spec->warnings.count;
}

const rb_warning *rb_spec_warning(const rb_spec *spec, int i)
{
    if (i < 0 || i >= spec->warnings.count) return NULL;
    return (const rb_warning *)spec->warnings.items + i;
}
