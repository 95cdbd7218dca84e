#include "model/build.h"

#include "base/constants.h"
#include "model/layout.h"

/* Pairs of geoms that may touch, up to which a model lists them and what is known of each is kept
 * from call to call [1], and geoms up to which they are counted. Larger: states of heaps become
 * large, and a search among boxes is quicker. Smaller: hands and humanoids are searched anew. */
#define MEET_MOST  4096
#define MEET_GEOMS 1000

rb_status rb_build_nomem(rb_build *b)
{
    return rb_fail(b->err, RB_NOMEM, "out of memory while compiling the model");
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Everything is known about the sizes: make the block. */
static rb_status make_block(rb_build *b, const rb_alloc *alloc)
{
    rb_model *sizes = b->m;
    rb_data data = { 0 };
    int few = sizes->ngeom > 1 && sizes->ngeom <= MEET_GEOMS;
    sizes->nmeet_room = few ? least(sizes->ngeom * (sizes->ngeom - 1) / 2, MEET_MOST) : 0;
    size_t bytes = rb_model_layout(sizes);
    rb_data_sizes(sizes, &data);
    if (bytes == 0 || rb_data_layout(&data) == 0) {
        return rb_fail(b->err, RB_TOO_LARGE, "the model or its data would not fit any memory");
    }
    void *memory;
    rb_model *m = rb_block_new(alloc, bytes, &memory);
    if (!m) return rb_build_nomem(b);
    *m = *sizes;
    m->magic = RB_MODEL_MAGIC;
    m->bytes = bytes;
    m->memory = memory;
    m->option = b->spec->option;
    rb_model_bind(m);
    b->m = m;
    return RB_OK;
}

static rb_status fill(rb_build *b)
{
    rb_fill_bodies(b);
    rb_fill_joints(b);
    rb_fill_geoms(b);
    rb_fill_equalities(b);
    rb_fill_tendons(b);
    rb_fill_actuators(b);
    rb_fill_sensors(b);
    rb_fill_filters(b);
    rb_fill_names(b);
    rb_status status = rb_fill_assets(b);
    if (status == RB_OK) status = rb_choose_surfaces(b);
    if (status == RB_OK) status = rb_fill_masses(b);
    if (status == RB_OK) status = rb_fill_links(b);
    if (status == RB_OK) rb_fill_fluid(b);
    if (status == RB_OK) status = rb_fill_paths(b);
    if (status == RB_OK) rb_fill_turns(b);
    if (status == RB_OK) status = rb_fill_plane(b);
    if (status == RB_OK) rb_fill_gauges(b);
    if (status == RB_OK) status = rb_fill_meets(b);
    if (status == RB_OK) status = rb_fill_keys(b);
    return status;
}

rb_model *rb_spec_compile(const rb_spec *spec, const rb_alloc *alloc, rb_error *err)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    if (rb_check_numbers(spec, err) != RB_OK) return NULL;

    /* what a reader left to be made: a hull that is there is not made again */
    if (spec->make_hulls && spec->make_hulls((rb_spec *)(uintptr_t)spec, err) != RB_OK) return NULL;

    rb_model sizes = { 0 };
    rb_build b = { .spec = spec, .err = err, .m = &sizes };
    b.scratch = rb_arena_new(&a, 0);
    rb_status status = b.scratch ? RB_OK : rb_build_nomem(&b);
    if (status == RB_OK) status = rb_size_tree(&b);
    if (status == RB_OK) status = rb_size_assets(&b);
    if (status == RB_OK) status = rb_size_rest(&b);
    if (status == RB_OK) status = rb_size_tendons(&b);
    if (status == RB_OK) status = rb_size_coupled(&b);
    if (status == RB_OK) status = rb_size_gauges(&b);
    if (status == RB_OK) status = rb_size_sensors(&b);
    if (status == RB_OK) status = make_block(&b, &a);
    if (status == RB_OK) status = fill(&b);
    rb_arena_free(b.scratch);
    if (status == RB_OK) return b.m;
    if (b.m != &sizes) rb_model_free(b.m, &a);
    return NULL;
}

void rb_model_free(rb_model *m, const rb_alloc *alloc)
{
    if (!m || !m->memory) return;
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    a.release(a.ctx, m->memory);
}

rb_model *rb_model_view(void *block, size_t bytes)
{
    rb_model *m = block;
    if (!block || (uintptr_t)block % RB_BLOCK_ALIGN != 0 || bytes < sizeof *m) return NULL;
    if (m->magic != RB_MODEL_MAGIC || m->bytes > bytes || m->bytes != rb_model_layout(m)) {
        return NULL;
    }
    m->memory = NULL;
    rb_model_bind(m);
    return m;
}
