/* The subcommands of `rattleback`. Each gets the arguments from its own name on (argv[0] = "lcp")
 * and returns the exit status, one of the three below. */
#ifndef RATTLEBACK_CLI_COMMANDS_H
#define RATTLEBACK_CLI_COMMANDS_H

enum {
    EXIT_CERTIFIED = 0, /* every answer is certified                              */
    EXIT_UNCERTIFIED,   /* some answer is a ray or a failure                      */
    EXIT_BAD_INPUT      /* bad usage, bad input, out of memory or a write failure */
};

int cmd_run(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_compute(int argc, char **argv);
int cmd_lcp(int argc, char **argv);
int cmd_friction(int argc, char **argv);
int cmd_impact(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_poses(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
