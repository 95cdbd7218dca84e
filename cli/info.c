/* `rattleback info`: what is in a model file. */
#include "info.h"

#include "commands.h"
#include "model.h"
#include "rattleback/dynamics.h"

static const argument table[] = { MODEL_ARGUMENTS, { NULL, 0, NULL } };

static void help(void)
{
    printf(
        "usage: rattleback info [options] MODEL\n\n"
        "Reads a model (MJCF or URDF) and prints its tree of bodies with masses, joints, ranges\n"
        "and geoms, its actuators, couplings and keyframes, the total mass and the centre of\n"
        "mass at the start, and what was read without effect, with file and line.\n\n"
        "  --friction MU          URDF: sliding coefficient of all geoms (0.5)\n"
        "%s"
        "  --json                 one JSON object\n"
        "\nexit status: 0 the model was read, 2 bad usage or input\n"
        "\nexample: rattleback info scenes/robots/quadruped.xml\n",
        model_options_help);
}

static int show(const model_options *o, const char *path, const rb_model *m)
{
    rb_data *d = model_start(o, m);
    if (!d) return EXIT_BAD_INPUT;
    info in = { .path = path, .m = m };
    rb_kinematics(m, d);
    rb_center_of_mass(m, d, in.com);
    int done = 1;
    if (o->json)
        info_json(stdout, &in);
    else
        done = info_text(stdout, &in);
    rb_data_free(d);
    if (done) return EXIT_CERTIFIED;
    fputs("rattleback info: out of memory\n", stderr);
    return EXIT_BAD_INPUT;
}

int cmd_info(int argc, char **argv)
{
    model_options o = model_options_default("info");
    arguments a = { .command = o.command, .table = table, .options = &o };
    if (!arguments_parse(&a, argc, argv)) return EXIT_BAD_INPUT;
    if (o.help) {
        help();
        return EXIT_CERTIFIED;
    }
    if (!model_one_file(&o, a.nfile)) return EXIT_BAD_INPUT;
    rb_model *m = model_load(&o, argv[0]);
    if (!m) return EXIT_BAD_INPUT;
    int status = show(&o, argv[0], m);
    model_free(&o, m);
    return status;
}
