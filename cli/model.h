/* The options of all commands that begin with a model file, and how it is read. */
#ifndef RATTLEBACK_CLI_MODEL_H
#define RATTLEBACK_CLI_MODEL_H

#include "arguments.h"
#include "rattleback/load.h"
#include "rattleback/model.h"

enum { MODEL_MOST_PACKAGES = 64 };

/* First member of the options of a command: the setters below take either. */
typedef struct model_options {
    const char *command;
    rb_load_opts load;
    const char *packages[MODEL_MOST_PACKAGES + 1]; /* NULL-terminated */
    int npackage;
    char environment[8192]; /* folders of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, one after the
                               other */
    const char *key;        /* keyframe to start from, name or index; NULL: the reference */
    int has_ground; /* a plane z = ground is added to the world                               */
    double ground;  /* [m]                                                                    */
    int maximal;
    int coordinates_said; /* on the command line: outweighs the model                           */
    rb_model *minimal;    /* where maximal: the model as written, which knows its keyframes */
    int lenient;
    int keep_overlap; /* 1: links that overlap at all joint positions are kept in contact       */
    int json;
    int help;
} model_options;

model_options model_options_default(const char *command);

int model_set_key(void *to, const char *text);
int model_set_friction(void *to, const char *text);
int model_set_floating_base(void *to, const char *text);
int model_set_package(void *to, const char *text);
int model_set_ground(void *to, const char *text);
int model_set_sandbox(void *to, const char *text);
int model_set_snap_angles(void *to, const char *text);
int model_set_coordinates(void *to, const char *text);
int model_set_lenient(void *to, const char *text);
int model_set_json(void *to, const char *text);
int model_set_help(void *to, const char *text);

/* clang-format off */
#define MODEL_ARGUMENTS                                                                            \
    { "--key", 1, model_set_key }, { "--friction", 1, model_set_friction },                        \
    { "--floating-base", 0, model_set_floating_base }, { "--package", 1, model_set_package },      \
    { "--ground", 1, model_set_ground }, { "--sandbox", 1, model_set_sandbox },                    \
    { "--snap-angles", 0, model_set_snap_angles },                                                 \
    { "--coordinates", 1, model_set_coordinates }, { "--lenient", 0, model_set_lenient },          \
    { "--json", 0, model_set_json }, { "--help", 0, model_set_help }, { "-h", 0, model_set_help }
/* clang-format on */

/* What --help says about them. */
extern const char model_options_help[];

/* One file, no more and no less: 1, or 0 after a sentence. */
int model_one_file(const model_options *o, int nfile);

/* Reads and compiles; NULL after a sentence on stderr. */
rb_model *model_load(model_options *o, const char *path);
void model_free(model_options *o, rb_model *m); /* m may be NULL */

/* Data at the start that the options choose; NULL after a sentence. */
rb_data *model_start(const model_options *o, const rb_model *m);

/* The same in two parts: in the coordinates of the file, which are those of o->minimal where it is
 * there, else of m; and such a state in the maximal form m. */
rb_data *model_start_written(const model_options *o, const rb_model *m);
rb_data *model_maximal(const model_options *o, rb_data *d, const rb_model *m);

/* "file:line: element: text" on stderr of each warning about what changes the motion, or of the
 * first few about shapes that are replaced by others. */
void model_warn_physics(const rb_model *m);
void model_warn_shapes(const rb_model *m);

/* "file:line: text" on stderr. */
void model_say(const rb_error *err);

#endif
