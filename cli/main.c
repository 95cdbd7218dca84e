/* rattleback: the command. One word chooses what to do, see commands.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "commands.h"
#include "rattleback/base.h"

typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    { "run", "simulate a model with hard contact", cmd_run },
    { "view", "a page in which a model moves; pictures and films of it", cmd_view },
    { "info", "what is in a model file (MJCF, URDF)", cmd_info },
    { "compute", "mass matrix, forces, accelerations, Jacobians, energy of a model", cmd_compute },
    { "lcp", "solve linear, boxed and mixed complementarity problems", cmd_lcp },
    { "friction", "solve frictional contact problems with exact cones", cmd_friction },
    { "impact", "resolve single frictional impacts", cmd_impact },
    { "reproduce", "the experiments of the papers, beside their numbers", cmd_reproduce },
    { "poses", "drop a part many times: its stable poses and how likely they are", cmd_poses },
    { "bench", "measure solvers and dynamics", cmd_bench },
};
enum { NCOMMAND = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
    fputs("usage: rattleback COMMAND [options] ...\n\n", out);
    for (int k = 0; k < NCOMMAND; k++)
        fprintf(out, "  %-10s %s\n", commands[k].name, commands[k].summary);
    fputs("\nrattleback COMMAND --help lists its options. rattleback --version\n"
          "\nexample: rattleback info scenes/robots/quadruped.xml\n",
          out);
}

static void say_unknown(const char *word)
{
    nearest best = { 0 };
    for (int k = 0; k < NCOMMAND; k++) nearest_word(commands[k].name, &best, word);
    fprintf(stderr, "rattleback: unknown command %s", word);
    if (best.word) fprintf(stderr, "; did you mean %s?", best.word);
    fputc('\n', stderr);
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    for (int k = 0; k < NCOMMAND; k++)
        if (strcmp(word, commands[k].name) == 0) return commands[k].run(argc - 1, argv + 1);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        help(stdout);
        return EXIT_CERTIFIED;
    }
    if (strcmp(word, "--version") == 0) {
        puts("rattleback " RB_VERSION);
        return EXIT_CERTIFIED;
    }
    if (argc > 1) say_unknown(word);
    help(stderr);
    return EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
    /* a reader that went away is a write error with a status, not a death by signal */
    signal(SIGPIPE, SIG_IGN);
    int status = dispatch(argc, argv);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "rattleback: standard output: %s\n",
                errno ? strerror(errno) : "write failed");
        return EXIT_BAD_INPUT;
    }
    return status;
}
