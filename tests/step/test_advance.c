/* What is tried where a motion has no answer: halves, and none where they are forbidden (S.20). */
#include "step_support.h"

/* A linkage at its dead centre, between limits, and a ball that falls far from it. */
static scene linkage(void)
{
    static const char ball[] = "<body pos='5 5 5'><freejoint/><geom size='0.1' mass='1'/></body>";
    char path[512], text[8192] = "", with[8192];
    snprintf(path, sizeof path, "%s/contact/dead_centre.xml", RB_SCENES_DIR);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    char *end = strstr(text, "</worldbody>");
    CHECK(end != NULL);
    snprintf(with, sizeof with, "%.*s%s%s", (int)(end - text), text, ball, end);
    return scene_text(with);
}

/* Before the first step that is divided. */
static scene at_division(int *step)
{
    scene s = linkage();
    rb_data *before = rb_data_new(s.m, NULL);
    for (*step = 0; *step < 500; ++*step) {
        rb_data_copy(s.m, before, s.d);
        scene_step(&s);
        if (s.info.splits > 0) break;
    }
    CHECK(s.info.splits > 0);
    rb_data_copy(s.m, s.d, before);
    rb_data_free(before);
    return s;
}

/* Each half that is halved again is one part more, and together they are the step. */
TEST(halves_make_a_whole)
{
    int step;
    scene s = at_division(&step);
    double begun = s.d->time;
    scene_step(&s);
    CHECK_INT(s.info.parts, s.info.splits + 1);
    CHECK(s.d->time == begun + s.m->option.timestep);
    CHECK(s.info.residual <= rb_step_opts_tol(&s.o));
    CHECK_NEAR(s.d->v[s.m->nv - 4], -9.81 * s.d->time, 1e-12 + 1e-12 * s.d->time); /* the ball */
    scene_free(&s);
}

TEST(what_may_not_be_halved_is_refused_or_less_than_asked_for)
{
    int step;
    scene s = at_division(&step);
    uint64_t before = rb_data_hash(s.d);
    s.o.max_split = 0;
    s.o.loose = 0.0;
    rb_status status = rb_step(s.m, s.d, &s.o, &s.info, NULL);
    CHECK_INT(s.info.splits, 0);
    if (status != RB_OK)
        CHECK(rb_data_hash(s.d) == before);
    else
        CHECK_INT(s.info.parts, 1);
    scene_free(&s);
}

TEST_MAIN(RUN(halves_make_a_whole), RUN(what_may_not_be_halved_is_refused_or_less_than_asked_for))
