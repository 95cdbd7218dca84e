/* Tosses of a cube: files read or refused, errors against numbers worked out by hand, and a part of
 * the real data against the figures that were published for the model. */
#include "test.h"

#include "rattleback/load.h"
#include "toss.h"

#include <stdlib.h>
#include <unistd.h>

enum { FRAMES = 20 };
#define HEIGHT 5.0 /* [m] the cube does not reach the board within the frames */

static char folder[] = "/tmp/rb_toss_XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    CHECK(out != NULL);
    fputs(text, out);
    fclose(out);
}

static void clean(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/initial.csv", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/tosses.csv", folder);
    unlink(path);
}

/* A cube that falls from rest at frame 2 of a file, moved sideways by dx and turned about z. */
static void write_fall(double dx, double angle)
{
    static char text[FRAMES * 256];
    int used = snprintf(text, sizeof text, "head\n");
    for (int k = 0; k < FRAMES; k++) {
        double t = (k - 2) / RB_TOSS_RATE, z = HEIGHT - 0.5 * 9.81 * t * t;
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "7,%d,%.17g,0,%.17g,%.17g,0,0,%.17g,0,0,0,0,0,0\n", k, dx, z,
                         cos(0.5 * angle), sin(0.5 * angle));
    }
    write_file("initial.csv", "head\n7,2,20,0,0,5,1,0,0,0,0,0,0,0,0,0\n");
    write_file("tosses.csv", text);
}

static rb_model *cube(void)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read(RB_SCENES_DIR "/toss/cube.xml", NULL, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_spec_free(spec);
    CHECK(m != NULL);
    return m;
}

static rb_toss_error run_fall(double dx, double angle)
{
    rb_tosses t;
    rb_error err = { 0 };
    rb_toss_error e;
    rb_model *m = cube();
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    write_fall(dx, angle);
    CHECK(rb_tosses_read(folder, &t, &err));
    CHECK(t.n == 1 && t.toss[0].id == 7 && t.toss[0].nframe == FRAMES - 2);
    CHECK(rb_toss_run(m, &opts, 10, &t.toss[0], &d, &e, &err) == RB_OK);
    rb_tosses_free(&t);
    rb_data_free(d);
    rb_model_free(m, NULL);
    return e;
}

TEST(a_parabola_has_no_error)
{
    rb_toss_error e = run_fall(0.0, 0.0);
    CHECK_NEAR(e.loss, 0.0, 1e-20);
    CHECK_NEAR(e.position, 0.0, 1e-11);
    CHECK_NEAR(e.angle, 0.0, 1e-11);
}

/* 1 cm and half a radian: 1e-4 / 0.0524 + 0.25, 0.01 / 0.1048, 0.5. */
TEST(errors_are_those_worked_out_by_hand)
{
    rb_toss_error e = run_fall(0.01, 0.5);
    CHECK_NEAR(e.loss, 1e-4 / 0.0524 + 0.25, 1e-12);
    CHECK_NEAR(e.position, 0.01 / 0.1048, 1e-12);
    CHECK_NEAR(e.angle, 0.5, 1e-12);
}

/* A quaternion and its opposite are one orientation. */
TEST(a_full_turn_is_none)
{
    rb_toss_error e = run_fall(0.0, 6.283185307179586 - 0.25);
    CHECK_NEAR(e.angle, 0.25, 1e-12);
}

static void refuse(const char *initial, const char *tosses, int line)
{
    rb_tosses t;
    rb_error err = { 0 };
    write_file("initial.csv", initial);
    write_file("tosses.csv", tosses);
    CHECK(!rb_tosses_read(folder, &t, &err));
    CHECK(t.n == 0 && t.toss == NULL);
    CHECK(err.line == line && err.text[0] != '\0');
}

TEST(broken_files_are_refused_with_their_line)
{
    const char *good = "head\n7,0,1,0,0,5,1,0,0,0,0,0,0,0,0,0\n";
    const char *frame = "head\n7,0,0,0,5,1,0,0,0,0,0,0,0,0,0\n";
    refuse("", frame, 1);
    refuse("head\n7,0,1,0,0,5\n", frame, 2);
    refuse("head\n7,0,1,0,0,5,1,0,0,0,0,0,0,0,0,nan\n", frame, 2);
    refuse("head\n7,3,1,0,0,5,1,0,0,0,0,0,0,0,0,0\n", frame, 2);
    refuse(good, "head\n", 0);
    refuse(good, "head\n8,0,0,0,5,1,0,0,0,0,0,0,0,0,0\n", 2);
    refuse(good, "head\n7,1,0,0,5,1,0,0,0,0,0,0,0,0,0\n", 2);
    refuse(good, "head\n7,0,0,0,5,1,0,0,0,0,0,0,0,0,0,3\n", 2);
}

/* Forty real tosses with the published friction and restitution: what `rattleback bench toss` says
 * of them. The loss over all present tosses is 0.265; of these few it is not far, and without
 * friction it is many times as much. */
TEST(real_tosses_are_followed)
{
    rb_tosses t;
    rb_error err = { 0 };
    if (!rb_tosses_read(RB_SHARED_DIR "/data/cube_toss", &t, &err))
        SKIP("no cube tosses in the reference data");
    rb_model *m = cube();
    rb_data *d = rb_data_new(m, NULL);
    double mean[2] = { 0.0, 0.0 };
    for (int without = 0; without < 2; without++) {
        rb_step_opts opts = rb_step_opts_default();
        if (without) opts.friction = 0.0;
        for (int k = 0; k < 40; k++) {
            rb_toss_error e;
            CHECK(rb_toss_run(m, &opts, 4, &t.toss[k], &d, &e, &err) == RB_OK);
            mean[without] += e.loss / 40;
        }
    }
    CHECK(mean[0] < 0.4);
    CHECK(mean[1] > 1.0);
    rb_tosses_free(&t);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest all[] = {
        RUN(a_parabola_has_no_error),  RUN(errors_are_those_worked_out_by_hand),
        RUN(a_full_turn_is_none),      RUN(broken_files_are_refused_with_their_line),
        RUN(real_tosses_are_followed),
    };
    if (!mkdtemp(folder)) return 1;
    int status = test_main(argc, argv, all, sizeof all / sizeof all[0]);
    clean();
    rmdir(folder);
    return status;
}
