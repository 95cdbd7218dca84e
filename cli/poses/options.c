#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "poses/poses.h"
#include "rattleback/front.h"

enum { MOST_DROPS = 100000000, MOST_THREADS = 256 };

static int refuse(const char *name, const char *text, const char *expected)
{
    return argument_refuse("poses", name, text, expected);
}

static int number(const char *name, const char *text, double lo, double hi, const char *expected,
                  double *out)
{
    return argument_number("poses", name, text, lo, hi, expected, out);
}

static int whole(const char *name, const char *text, int lo, int hi, const char *expected, int *out)
{
    return argument_whole("poses", name, text, lo, hi, expected, out);
}

/* ---- values -------------------------------------------------------------------------------------
 */

static int set_mesh(void *to, const char *text)
{
    poses_options *o = to;
    o->file = text;
    return o->is_mesh = 1;
}

static int set_density(void *to, const char *text)
{
    poses_options *o = to;
    return number("--density", text, 1e-6, 1e6, "kg/m^3 > 0", &o->density);
}

static int set_scale(void *to, const char *text)
{
    poses_options *o = to;
    return number("--scale", text, 1e-9, 1e9, "metres a unit of the file, 0.001 for millimetres",
                  &o->scale);
}

static int set_inertia(void *to, const char *text)
{
    poses_options *o = to;
    o->inertia = text;
    if (strcmp(text, "exact") == 0 || strcmp(text, "convex") == 0) return 1;
    return refuse("--inertia", text, "exact (of the closed surface) or convex (of its hull)");
}

static int set_drops(void *to, const char *text)
{
    poses_options *o = to;
    return whole("--drops", text, 0, MOST_DROPS, "a whole number from 0 to 1e8", &o->drops);
}

static int set_seed(void *to, const char *text)
{
    poses_options *o = to;
    int seed = 0;
    if (!whole("--seed", text, 0, 2000000000, "a whole number from 0 to 2e9", &seed)) return 0;
    o->drop.seed = (uint64_t)seed;
    return 1;
}

static int set_height(void *to, const char *text)
{
    poses_options *o = to;
    return number("--height", text, 1e-9, 1e6, "metres > 0", &o->drop.height);
}

static int set_spin(void *to, const char *text)
{
    poses_options *o = to;
    return number("--spin", text, 0.0, 1e6, "rad/s >= 0", &o->drop.spin);
}

static int set_time(void *to, const char *text)
{
    poses_options *o = to;
    return number("--time", text, 1e-9, 1e6, "seconds > 0", &o->drop.time);
}

static int set_step(void *to, const char *text)
{
    poses_options *o = to;
    return number("--step", text, 1e-9, 1.0, "seconds > 0, for example 0.001", &o->drop.step.h);
}

static int set_friction(void *to, const char *text)
{
    poses_options *o = to;
    return number("--friction", text, 0.0, 1e30, "a number >= 0", &o->friction);
}

static int set_restitution(void *to, const char *text)
{
    poses_options *o = to;
    return number("--restitution", text, 0.0, 1.0, "a number from 0 to 1", &o->restitution);
}

/* An option of steps; its message begins with the name. */
static int set_option(poses_options *o, const char *option, const char *name, const char *text)
{
    rb_error err = { 0 };
    if (rb_option_set(&o->drop.step, name, text, &err) == RB_OK) return 1;
    fprintf(stderr, "rattleback poses: %s%s\n", option, err.text + strlen(name));
    return 0;
}

static int set_stepper(void *to, const char *text)
{
    poses_options *o = to;
    if (!set_option(o, "--stepper", "stepper", text)) return 0;
    o->stepper = rb_stepper_name(o->drop.step.stepper);
    return 1;
}

static int set_accuracy(void *to, const char *text)
{
    return set_option(to, "--accuracy", "accuracy", text);
}

static int set_law(void *to, const char *text)
{
    return set_option(to, "--restitution-law", "restitution_law", text);
}

static int set_threads(void *to, const char *text)
{
    poses_options *o = to;
    return whole("--threads", text, 1, MOST_THREADS, "a whole number from 1 to 256", &o->threads);
}

static int set_precision(void *to, const char *text)
{
    poses_options *o = to;
    return number("--precision", text, 1e-6, 0.5, "a half-width from 1e-6 to 0.5, for example 0.01",
                  &o->precision);
}

static int set_merge(void *to, const char *text)
{
    poses_options *o = to;
    return number("--merge", text, 0.0, 0.5, "a share from 0 to 0.5", &o->merge);
}

static int set_full(void *to, const char *text)
{
    poses_options *o = to;
    (void)text;
    return o->drop.full = 1;
}

static int set_csv(void *to, const char *text)
{
    poses_options *o = to;
    o->csv = text;
    return 1;
}

static int set_svg(void *to, const char *text)
{
    poses_options *o = to;
    o->svg = text;
    return 1;
}

static int set_resume(void *to, const char *text)
{
    poses_options *o = to;
    o->record = text;
    return 1;
}

/* ---- the command line ---------------------------------------------------------------------------
 */

static const argument table[] = {
    { "--mesh", 1, set_mesh },
    { "--density", 1, set_density },
    { "--scale", 1, set_scale },
    { "--inertia", 1, set_inertia },
    { "--drops", 1, set_drops },
    { "--seed", 1, set_seed },
    { "--height", 1, set_height },
    { "--spin", 1, set_spin },
    { "--time", 1, set_time },
    { "--step", 1, set_step },
    { "--stepper", 1, set_stepper },
    { "--accuracy", 1, set_accuracy },
    { "--friction", 1, set_friction },
    { "--restitution", 1, set_restitution },
    { "--restitution-law", 1, set_law },
    { "--threads", 1, set_threads },
    { "--precision", 1, set_precision },
    { "--merge", 1, set_merge },
    { "--full", 0, set_full },
    { "--csv", 1, set_csv },
    { "--svg", 1, set_svg },
    { "--resume", 1, set_resume },
    { "--floating-base", 0, model_set_floating_base },
    { "--package", 1, model_set_package },
    { "--ground", 1, model_set_ground },
    { "--lenient", 0, model_set_lenient },
    { "--json", 0, model_set_json },
    { "--help", 0, model_set_help },
    { "-h", 0, model_set_help },
    { NULL, 0, NULL },
};

void poses_help(FILE *out)
{
    fputs("usage: rattleback poses [options] MODEL\n"
          "       rattleback poses [options] --mesh PART.stl\n\n"
          "Drops a part many times from random orientations and lists how often it comes to rest\n"
          "in each of its stable poses, beside the quasi-static estimate.\n\n"
          "  --drops N              (1000); 0: the poses and the quasi-static estimate alone\n"
          "  --precision P          stop when all 95 % intervals are narrower than +- P\n"
          "  --seed S               of the random numbers (1)\n"
          "  --height H             of the centre of mass at the start [m] (10 times the size)\n"
          "  --spin W               random angular velocity at the start [rad/s] (0)\n"
          "  --time T               seconds that a drop may take (10)\n"
          "  --stepper WORD         fixed, located, impulse or hybrid (impulse)\n"
          "  --accuracy WORD        of steps: standard, strict or fast (standard)\n"
          "  --step H               seconds (a fiftieth of the time to tip, at most the model's)\n"
          "  --friction MU          replaces every sliding coefficient (meshes: 0.3)\n"
          "  --restitution E        replaces every coefficient of restitution (meshes: 0.3)\n"
          "  --restitution-law WORD newton, poisson or stronge (stronge)\n"
          "  --threads K            the numbers do not depend on it (1)\n"
          "  --full                 simulate to rest, though the energy has decided before\n"
          "  --merge S              poses with less than S radii to climb between are one (0.005)\n"
          "  --resume FILE          every drop, on file; a later run continues it\n"
          "  --csv FILE             every drop, at the end\n"
          "  --svg FILE             the probabilities as a figure\n"
          "  --mesh FILE            a part alone (STL, OBJ), dropped as its convex hull; a file "
          "with\n"
          "                         such an ending needs no --mesh\n"
          "  --density RHO          of the mesh [kg/m^3] (1000)\n"
          "  --scale S              metres a unit of the mesh file (1; millimetres: 0.001)\n"
          "  --inertia WORD         of the mesh: exact, or convex where it is not closed (exact)\n"
          "  --floating-base        the root of a URDF is free\n"
          "  --package NAME=DIR     where package://NAME/ is; may be repeated\n"
          "  --ground Z             add the plane z = Z; it has the friction of the part\n"
          "  --lenient              also where the file asks for unsupported physics\n"
          "  --json                 for programs\n"
          "\nexit status: 0 done, 1 some drop could not be certified or none settled, 2 bad usage "
          "or input\n"
          "\nexample: rattleback poses scenes/poses/box.xml --drops 200\n",
          out);
}

/* part.stl is --mesh part.stl. */
static int names_mesh(const char *file)
{
    static const char *const endings[] = { ".stl", ".obj", ".dae", ".msh" };
    size_t length = strlen(file);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (length > 4 && strcasecmp(file + length - 4, endings[i]) == 0) return 1;
    }
    return 0;
}

int poses_options_parse(poses_options *o, int argc, char **argv)
{
    *o = (poses_options){ .model = model_options_default("poses"),
                          .density = 1000.0,
                          .scale = 1.0,
                          .inertia = "exact",
                          .drops = 1000,
                          .threads = 1,
                          .merge = 0.005,
                          .stepper = "impulse",
                          .friction = NAN,
                          .restitution = NAN,
                          .drop = rb_drop_opts_default() };
    arguments a = { .command = "poses", .table = table, .options = o };
    if (!arguments_parse(&a, argc, argv)) return 0;
    if (o->model.help) return 1;
    if (o->is_mesh && a.nfile > 0) {
        fputs("rattleback poses: --mesh and a model file: expected one of them\n", stderr);
        return 0;
    }
    if (o->is_mesh) return 1;
    if (!model_one_file(&o->model, a.nfile)) return 0;
    o->file = argv[0];
    o->is_mesh = names_mesh(o->file);
    return 1;
}
