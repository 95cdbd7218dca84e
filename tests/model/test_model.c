/* rb_model: names in both directions, a block that can be moved, bytes that are no model. */
#include "tree_support.h"

#include <limits.h>

#include "model/layout.h"

/* ---- names ------------------------------------------------------------------------------------
 */

TEST(names_are_found_and_told)
{
    rb_spec *spec = rb_spec_new(NULL);
    enum { N = 500 };
    char name[32], buf[64];
    for (int i = 1; i <= N; i++) {
        rb_body_def body = rb_body_default();
        snprintf(name, sizeof name, "b%d", (i * 7919) % 10007);
        body.name = i % 5 ? name : "";
        body.mass = 1.0;
        body.inertia[0] = body.inertia[1] = body.inertia[2] = 1.0;
        CHECK_INT(rb_spec_add_body(spec, &body, NULL), i);
        for (int n = 0; n < 2; n++) {
            rb_joint_def joint = rb_joint_default();
            joint.type = n ? RB_JOINT_HINGE : RB_JOINT_SLIDE;
            joint.body = i;
            CHECK(rb_spec_add_joint(spec, &joint, NULL) >= 0);
        }
    }
    rb_model *m = rb_spec_compile(spec, NULL, NULL);
    CHECK(m != NULL);
    for (int i = 1; i <= N; i++) {
        snprintf(name, sizeof name, "b%d", (i * 7919) % 10007);
        CHECK_INT(rb_model_find(m, RB_KIND_BODY, name), i % 5 ? i : -1);
        if (i % 5 == 0) snprintf(name, sizeof name, "body%d", i);
        CHECK_STR(rb_model_name(m, RB_KIND_BODY, i, buf, sizeof buf), name);
        char joint[40];
        snprintf(joint, sizeof joint, "%s.1", name);
        CHECK_STR(rb_model_name(m, RB_KIND_JOINT, 2 * i - 1, buf, sizeof buf), joint);
    }
    CHECK_INT(rb_model_find(m, RB_KIND_BODY, "world"), 0);
    CHECK_INT(rb_model_find(m, RB_KIND_BODY, ""), -1);
    CHECK_INT(rb_model_find(m, RB_KIND_BODY, NULL), -1);
    CHECK_INT(rb_model_find(m, RB_KIND_GEOM, "world"), -1);
    CHECK_STR(rb_model_name(m, RB_KIND_BODY, N + 1, buf, sizeof buf), "");
    CHECK_STR(rb_model_name(m, RB_KIND_BODY, -1, buf, sizeof buf), "");
    CHECK_STR(rb_model_name(m, RB_KIND_BODY, 5, buf, 5), "body"); /* cut, never past the end */
    CHECK_INT(rb_model_count(m, RB_KIND_JOINT), 2 * N);
    CHECK_INT(rb_model_count(m, (rb_kind)-1), 0);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- moving -----------------------------------------------------------------------------------
 */

/* Bytes at an address that is a multiple of 64. */
typedef struct shelf {
    char *raw, *at;
} shelf;

static shelf shelf_open(size_t bytes)
{
    shelf s = { .raw = malloc(bytes + 64) };
    CHECK(s.raw != NULL);
    s.at = s.raw + (64 - (uintptr_t)s.raw % 64) % 64;
    return s;
}

/* Energy of the model in a shaken state: reads most arrays of both blocks. */
static double probe(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_bias(m, d);
    double sum = rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
    for (int i = 0; i < m->nv; i++) sum += d->c[i];
    return sum;
}

TEST(a_copied_block_is_the_same_model)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        double before = probe(t.m, t.d);
        size_t m_bytes = t.m->bytes, d_bytes = t.d->bytes;
        uint64_t hash = rb_data_hash(t.d);
        shelf m_shelf = shelf_open(m_bytes), d_shelf = shelf_open(d_bytes);
        rb_arena *arena = rb_arena_new(NULL, 0);
        memcpy(m_shelf.at, t.m, m_bytes);
        memcpy(d_shelf.at, t.d, d_bytes);

        /* the old places are gone: a pointer into them would show */
        tree_close(&t);
        rb_model *m = rb_model_view(m_shelf.at, m_bytes);
        CHECK(m == (void *)m_shelf.at);
        rb_data *d = rb_data_view(m, d_shelf.at, d_bytes, arena);
        CHECK(d == (void *)d_shelf.at);
        CHECK(rb_data_hash(d) == hash);
        CHECK(probe(m, d) == before);
        CHECK_INT(rb_model_find(m, RB_KIND_BODY, "world"), 0);

        /* a view owns nothing */
        rb_data_free(d);
        rb_model_free(m, NULL);
        CHECK(probe(m, d) == before);
        rb_arena_free(arena);
        free(m_shelf.raw);
        free(d_shelf.raw);
    }
}

TEST(arrays_begin_at_multiples_of_64_bytes)
{
    tree t = tree_open(3, tree_any(7));
    CHECK_INT((uintptr_t)t.m % 64, 0);
    CHECK_INT((uintptr_t)t.m->body_parent % 64, 0);
    CHECK_INT((uintptr_t)t.m->link_inertia % 64, 0);
    CHECK_INT((uintptr_t)t.m->names % 64, 0);
    CHECK_INT((uintptr_t)t.d->q % 64, 0);
    CHECK_INT((uintptr_t)t.d->Y % 64, 0);
    CHECK(t.m->names + t.m->nname <= (char *)t.m + t.m->bytes);
    tree_close(&t);
}

/* Every bit of the sizes counts: a block with one of them changed is not viewed as it stands, or
 * has arrays that still fit its bytes. */
TEST(bytes_that_are_no_model_are_refused)
{
    tree t = tree_open(5, tree_any(5));
    size_t bytes = t.m->bytes;
    shelf s = shelf_open(bytes);
    memcpy(s.at, t.m, bytes);
    rb_model *copy = (rb_model *)s.at;
    CHECK(rb_model_view(NULL, bytes) == NULL);
    CHECK(rb_model_view(s.at, bytes - 1) == NULL);
    CHECK(rb_model_view(s.at, 10) == NULL);
    CHECK(rb_model_view(s.at + 8, bytes - 8) == NULL);
    copy->magic ^= 1;
    CHECK(rb_model_view(s.at, bytes) == NULL);
    copy->magic ^= 1;
    copy->nlink = -1;
    CHECK(rb_model_view(s.at, bytes) == NULL);
    copy->nlink = 1 << 30;
    CHECK(rb_model_view(s.at, bytes) == NULL);
    copy->nlink = t.m->nlink;
    copy->bytes += 64;
    CHECK(rb_model_view(s.at, bytes) == NULL);
    copy->bytes -= 64;
    CHECK(rb_model_view(s.at, bytes) == copy);
    memset(s.at, 0xa5, bytes);
    CHECK(rb_model_view(s.at, bytes) == NULL);
    free(s.raw);
    tree_close(&t);
}

/* No product of counts overflows, none is taken for a size when it is too large or negative. */
TEST(sizes_over_the_budget_are_none)
{
    rb_model m = { 0 };
    rb_data d = { 0 };
    CHECK(rb_model_layout(&m) >= sizeof m);
    CHECK(rb_data_layout(&d) >= sizeof d);
    m.nkey = m.nq = INT_MAX;
    CHECK_INT((long long)rb_model_layout(&m), 0);
    m = (rb_model){ .nbody = -1 };
    CHECK_INT((long long)rb_model_layout(&m), 0);
    d = (rb_data){ .nlink = -64 };
    CHECK_INT((long long)rb_data_layout(&d), 0);
}

TEST_MAIN(RUN(sizes_over_the_budget_are_none), RUN(names_are_found_and_told),
          RUN(a_copied_block_is_the_same_model), RUN(arrays_begin_at_multiples_of_64_bytes),
          RUN(bytes_that_are_no_model_are_refused))
