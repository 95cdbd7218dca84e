/* What is shown: rounding that keeps its promise, pages that no text breaks, replays that end where
 * the run did. */
#include "mjcf_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/show.h"
#include "rattleback/step.h"
#include "show/quantise.h"

/* ---- rounding ----------------------------------------------------------------------------------
 */

static double random_number(rb_rng *rng)
{
    return rb_rng_uniform(rng, -1.0, 1.0);
}

/* The angle between what was given and what comes back, by the definition of a rotation. */
TEST(rotations_lose_what_is_told)
{
    rb_rng rng = rb_rng_make(1);
    double worst = 0.0;
    for (int k = 0; k < 20000; k++) {
        double q[4], back[4], length = 0.0, dot = 0.0;
        uint16_t word[3];
        for (int i = 0; i < 4; i++) q[i] = k % 7 == i ? 0.0 : random_number(&rng);
        for (int i = 0; i < 4; i++) length += q[i] * q[i];
        for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
        double told = rb_show_quantise_rotation(q, word);
        rb_show_quantise_rotation_back(word, back);
        for (int i = 0; i < 4; i++) dot += q[i] * back[i];
        double angle = 2.0 * sqrt(fmax(0.0, 2.0 - 2.0 * fabs(dot)));
        CHECK_NEAR(angle, told, 1e-7);
        worst = fmax(worst, told);
    }
    CHECK(worst <
          1.6e-4); /* 2 sqrt(3) / 2 steps of sqrt(2) / 32767, and what the fourth makes of it */
    CHECK(worst > 1e-6);
}

TEST(points_and_directions_lose_little)
{
    rb_rng rng = rb_rng_make(2);
    const double lo[3] = { -1.0, 0.0, 5.0 }, hi[3] = { 1.0, 0.0, 9.0 };
    for (int k = 0; k < 5000; k++) {
        double x[3] = { random_number(&rng), 0.0, 7.0 + 2.0 * random_number(&rng) }, n[3],
               length = 0.0;
        uint16_t word[3];
        int16_t pair[2];
        CHECK(rb_show_quantise_point(x, lo, hi, word) <= 0.5 * sqrt(20.0) / 65535.0 + 1e-15);
        for (int i = 0; i < 3; i++) n[i] = random_number(&rng);
        for (int i = 0; i < 3; i++) length += n[i] * n[i];
        for (int i = 0; i < 3; i++) n[i] /= sqrt(length);
        CHECK(rb_show_quantise_direction(n, pair) < 1e-4);
    }
    const double down[3] = { 0.0, 0.0, -1.0 };
    int16_t pair[2];
    CHECK(rb_show_quantise_direction(down, pair) < 1e-12);
}

TEST(rotation_matrices_become_their_quaternions)
{
    rb_rng rng = rb_rng_make(3);
    for (int k = 0; k < 2000; k++) {
        double q[4], found[4], length = 0.0, dot = 0.0;
        for (int i = 0; i < 4; i++) q[i] = random_number(&rng);
        for (int i = 0; i < 4; i++) length += q[i] * q[i];
        for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
        double w = q[0], x = q[1], y = q[2], z = q[3];
        const double R[9] = { 1 - 2 * (y * y + z * z), 2 * (x * y - w * z),
                              2 * (x * z + w * y),     2 * (x * y + w * z),
                              1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                              2 * (x * z - w * y),     2 * (y * z + w * x),
                              1 - 2 * (x * x + y * y) };
        rb_show_quantise_quat(R, found);
        for (int i = 0; i < 4; i++) dot += q[i] * found[i];
        CHECK_NEAR(fabs(dot), 1.0, 1e-14);
    }
}

/* ---- texts and pages ---------------------------------------------------------------------------
 */

static char *text_of(FILE *file)
{
    long n = ftell(file);
    char *text = calloc((size_t)n + 1, 1);
    rewind(file);
    CHECK_INT((long)fread(text, 1, (size_t)n, file), n);
    fclose(file);
    return text;
}

static rb_status put_name(FILE *out, void *ctx)
{
    rb_put_text(out, ctx);
    return RB_OK;
}

TEST(no_text_ends_the_tag_it_stands_in)
{
    static const char page[] = "<html><!-- x --><!--rattleback:data-->\n</html>";
    char name[] = "</script><script>alert(1)</script>&\"\\\n";
    FILE *out = tmpfile();
    CHECK_INT(rb_page_write(out, page, sizeof page - 1, "rb-model", put_name, name, "\0\1\2\3", 4),
              RB_OK);
    char *text = text_of(out);
    CHECK(
        strcmp(
            text,
            "<html><!-- x --><script type=\"application/json\" id=\"rb-model\">"
            "\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/"
            "script\\u003e\\u0026\\\"\\\\\\u000a\""
            "</script>\n<script type=\"text/plain\" id=\"rb-wasm\">AAECAw==</script>\n\n</html>") ==
        0);
    free(text);
    out = tmpfile();
    CHECK_INT(rb_page_write(out, page, 20, "rb-model", put_name, name, NULL, 0), RB_BAD_INPUT);
    fclose(out);
}

/* ---- replays
 * -------------------------------------------------------------------------------------
 */

static const char box[] =
    "<mujoco><option timestep='0.01'/><worldbody><geom type='plane' size='1 1 1'/>"
    "<body name='box' pos='0 0 0.5'><freejoint/><geom type='box' size='.1 .1 .1' "
    "rgba='1 0 0 0.5'/></body></worldbody></mujoco>";

TEST(frames_come_when_they_are_due)
{
    rb_model *m = compile(read_text(box));
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    rb_replay_opts how = rb_replay_opts_default();
    rb_step_info info;
    rb_error err = { 0 };
    how.fps = 25.0;
    rb_replay *r = rb_replay_new(m, &how);
    CHECK_INT(rb_replay_start(r, d, &opts), RB_OK);
    for (int k = 0; k < 50; k++) {
        rb_status status = rb_step(m, d, &opts, &info, &err);
        CHECK_INT(rb_replay_step(r, d, &opts, &info, status, &err), RB_OK);
    }
    CHECK_INT(rb_replay_frames(r), 13); /* 0, 0.04, .. 0.48 */
    CHECK_INT(rb_replay_end(r, d, &opts), RB_OK);
    CHECK_INT(rb_replay_end(r, d, &opts), RB_OK);
    CHECK_INT(rb_replay_frames(r), 14); /* and the end */

    FILE *out = tmpfile();
    rb_replay_info told;
    CHECK_INT(rb_replay_write(out, r, NULL, "box", &told), RB_OK);
    char *text = text_of(out), hash[32];
    snprintf(hash, sizeof hash, "\"hash\":\"%016llx\"", (unsigned long long)rb_data_hash(d));
    CHECK(strstr(text, hash) != NULL);
    CHECK(strstr(text, "\"rgba\":[1,0,0,0.5]") != NULL);
    CHECK(told.bytes == strlen(text));
    CHECK(told.lost_position < 0.5 / 65535.0);
    free(text);
    rb_replay_free(r);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A step that fails says so, and ends the run that is shown. */
TEST(a_failure_is_part_of_it)
{
    rb_model *m = compile(read_text(box));
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    rb_step_info info = { 0 };
    rb_error err = { .text = "too <hard>" };
    rb_replay *r = rb_replay_new(m, NULL);
    CHECK_INT(rb_replay_start(r, d, NULL), RB_OK);
    CHECK_INT(rb_replay_step(r, d, &opts, &info, RB_UNSOLVED, &err), RB_OK);
    FILE *out = tmpfile();
    CHECK_INT(rb_replay_write(out, r, NULL, "box", NULL), RB_OK);
    char *text = text_of(out);
    CHECK(strstr(text, "\"failures\":1") != NULL && strstr(text, "\"kind\":\"failed\"") != NULL);
    CHECK(strstr(text, "too \\u003chard\\u003e") != NULL);
    free(text);
    rb_replay_free(r);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(rotations_lose_what_is_told), RUN(points_and_directions_lose_little),
          RUN(rotation_matrices_become_their_quaternions), RUN(no_text_ends_the_tag_it_stands_in),
          RUN(frames_come_when_they_are_due), RUN(a_failure_is_part_of_it))
