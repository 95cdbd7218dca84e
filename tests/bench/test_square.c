/* Measured impacts of a square: the film cut at the right frames, the model of one point by hand
 * and against the simulation where they must agree, broken files refused, and the real data. */
#include "test.h"

#include "rattleback/load.h"
#include "square.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define EIGHTH 0.78539816339744831 /* [rad] pi / 4: a corner points down */

static char path[] = "/tmp/rb_square_XXXXXX";

static void write_text(const char *text)
{
    FILE *out = fopen(path, "w");
    CHECK(out != NULL);
    fputs(text, out);
    fclose(out);
}

static rb_model *square(void)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read(RB_SCENES_DIR "/toss/square.xml", NULL, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_spec_free(spec);
    CHECK(m != NULL);
    return m;
}

/* Two frames above the ground, with the velocities given. */
static rb_square_impact above(double theta, double vx, double vz, double vtheta)
{
    double reach = RB_SQUARE_HALF * (fabs(cos(theta)) + fabs(sin(theta)));
    return (rb_square_impact){
        .before = { .x = { 0.0, reach + 0.01, theta }, .v = { vx, vz, vtheta } }, .frames = 6
    };
}

/* With the corner straight below the centre the normal impulse is central: it turns nothing, and
 * friction mu (1 + e) times the approach turns by its lever, half the diagonal. */
TEST(one_point_by_hand)
{
    const double mu = 0.1, e = 0.5, time = 6 * RB_SQUARE_FRAME, lever = RB_SQUARE_HALF * sqrt(2.0);
    rb_square_impact s = above(EIGHTH, 2.0, -2.0, 0.0);
    double v[3], fall = 2.0 * RB_SQUARE_GRAVITY * 0.01, touch = sqrt(4.0 + fall);
    double t = (touch - 2.0) / RB_SQUARE_GRAVITY, p = (1.0 + e) * touch;
    rb_square_point(&s, mu, e, v);
    CHECK_NEAR(v[1], e * touch - RB_SQUARE_GRAVITY * (time - t), 1e-9);
    CHECK_NEAR(v[0], 2.0 - mu * p, 1e-9);
    CHECK_NEAR(v[2], -mu * p * lever / (RB_SQUARE_GYRATION * RB_SQUARE_GYRATION), 1e-7);
    CHECK_NEAR(rb_square_tilt(&s), EIGHTH, 1e-7);
}

/* Without a second corner both models are one and the same law. */
TEST(one_point_is_the_simulation_of_one_corner)
{
    rb_model *m = square();
    rb_data *d = rb_data_new(m, NULL);
    rb_error err = { 0 };
    rb_step_opts opts = rb_step_opts_default();
    opts.stepper = RB_STEPPER_LOCATED;
    opts.friction = 0.1;
    opts.restitution = 0.5;
    for (int k = -3; k <= 3; k++) {
        rb_square_impact s = above(EIGHTH + 0.05 * k, 2.5, -2.0, 0.2 * k);
        double point[3], simulated[3];
        rb_square_point(&s, 0.1, 0.5, point);
        CHECK(rb_square_simulate(m, &opts, 20, &s, &d, simulated, &err) == RB_OK);
        CHECK_NEAR(rb_square_distance(point, simulated), 0.0, 1e-6);
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A film of a fall that ends at frame 20 with a jump of the velocity, as the file writes it: x to
 * the left, velocities as differences from the frame before. */
TEST(the_first_impact_is_cut_out)
{
    static char text[60 * 128];
    double x = 0.0, z = 1.0, vz = -1.0;
    int used = snprintf(text, sizeof text, "head\n");
    for (int k = 0; k < 50; k++) {
        if (k == 20) vz = 1.5;
        double step = vz - 0.5 * RB_SQUARE_GRAVITY * RB_SQUARE_FRAME;
        z += step * RB_SQUARE_FRAME;
        vz -= RB_SQUARE_GRAVITY * RB_SQUARE_FRAME;
        x -= 0.3 * RB_SQUARE_FRAME;
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "3,%d,%.17g,%.17g,0.1,-0.3,%.17g,0\n", k, x, z, step);
    }
    rb_squares all;
    rb_error err = { 0 };
    write_text(text);
    CHECK(rb_squares_read(path, &all, &err));
    CHECK(all.n == 1 && all.drops == 1 && all.impact[0].drop == 3);
    const rb_square_impact *s = &all.impact[0];
    CHECK_INT(s->frames, 4);
    CHECK_NEAR(s->before.v[0], 0.3, 1e-12);
    CHECK_NEAR(s->before.v[1], -1.0 - 19 * RB_SQUARE_GRAVITY * RB_SQUARE_FRAME, 1e-9);
    CHECK_NEAR(s->after.v[1], 1.5 - 3 * RB_SQUARE_GRAVITY * RB_SQUARE_FRAME, 1e-9);
    CHECK_NEAR(s->before.x[2], 0.1 + RB_SQUARE_TURN, 1e-12);
    rb_squares_free(&all);
}

static void refuse(const char *text, int line)
{
    rb_squares all;
    rb_error err = { 0 };
    write_text(text);
    CHECK(!rb_squares_read(path, &all, &err));
    CHECK(all.n == 0 && all.impact == NULL && err.line == line && err.text[0] != '\0');
}

TEST(broken_files_are_refused_with_their_line)
{
    refuse("", 1);
    refuse("head\n1,0,0,0,0\n", 2);
    refuse("head\n1,0,0,0,0,0,0,nan\n", 2);
    refuse("head\n1,1,0,0,0,0,0,0\n", 2);
    refuse("head\n1,0,0,0,0,0,0,0\n1,2,0,0,0,0,0,0\n", 3);
    refuse("head\n1,0,0,0,0,0,0,0\n", 0);
}

static int read_real(rb_squares *all)
{
    rb_error err = { 0 };
    return rb_squares_read(RB_SHARED_DIR "/data/planar_square_drop/drops.csv", all, &err);
}

/* Impulse and turn of steep impacts: rho^2 dtheta = r_x p_z - r_z p_x about the corner that
 * touches. With x to the other side it would not hold: that is how the side was found. */
TEST(the_torque_of_real_impacts_belongs_to_their_impulse)
{
    rb_squares all;
    if (!read_real(&all)) SKIP("no square drops in the reference data");
    double off[2] = { 0.0, 0.0 };
    for (int k = 0; k < all.n; k++) {
        const rb_square_impact *s = &all.impact[k];
        if (rb_square_tilt(s) < 0.5) continue;
        double theta = s->before.x[2] + 2 * RB_SQUARE_FRAME * s->before.v[2];
        double c = cos(theta), t = sin(theta), h = RB_SQUARE_HALF;
        double a = t < 0.0 ? h : -h, b = c < 0.0 ? h : -h, r[2] = { a * c - b * t, a * t + b * c };
        double p[3];
        for (int i = 0; i < 3; i++) p[i] = s->after.v[i] - s->before.v[i];
        p[1] += RB_SQUARE_GRAVITY * RB_SQUARE_FRAME * s->frames;
        for (int side = 0; side < 2; side++) {
            double torque = r[0] * p[1] - (side ? -1.0 : 1.0) * r[1] * p[0];
            double turn = torque - RB_SQUARE_GYRATION * RB_SQUARE_GYRATION * p[2];
            off[side] += turn * turn;
        }
    }
    CHECK(off[0] > 0.0 && off[0] < 0.2 * off[1]);
    rb_squares_free(&all);
}

/* With one friction and one restitution, as docs/design/square.md has them. */
TEST(real_impacts_are_followed)
{
    rb_squares all;
    if (!read_real(&all)) SKIP("no square drops in the reference data");
    rb_model *m = square();
    rb_data *d = rb_data_new(m, NULL);
    rb_error err = { 0 };
    rb_step_opts opts = rb_step_opts_default();
    opts.stepper = RB_STEPPER_LOCATED;
    opts.friction = 0.087;
    opts.restitution = 0.456;
    double simulated = 0.0, point = 0.0;
    CHECK(all.drops == 250 && all.n > 235);
    for (int k = 0; k < all.n; k++) {
        double v[3];
        const rb_square_impact *s = &all.impact[k];
        CHECK(rb_square_simulate(m, &opts, 4, s, &d, v, &err) == RB_OK);
        simulated += rb_square_distance(v, s->after.v) / all.n;
        rb_square_point(s, 0.67, 0.413, v);
        point += rb_square_distance(v, s->after.v) / all.n;
    }
    CHECK_NEAR(simulated, 0.267, 0.02);
    CHECK_NEAR(point, 1.114, 0.05);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_squares_free(&all);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest all[] = {
        RUN(one_point_by_hand),
        RUN(one_point_is_the_simulation_of_one_corner),
        RUN(the_first_impact_is_cut_out),
        RUN(broken_files_are_refused_with_their_line),
        RUN(the_torque_of_real_impacts_belongs_to_their_impulse),
        RUN(real_impacts_are_followed),
    };
    int at = mkstemp(path);
    if (at < 0) return 1;
    close(at);
    int status = test_main(argc, argv, all, sizeof all / sizeof all[0]);
    unlink(path);
    return status;
}
