/* One input = one mesh file, used by a robot of one link that floats. The bytes go through a file
 * in a folder of this process, as those of a user do. */
#ifndef RATTLEBACK_FUZZ_MESH_H
#define RATTLEBACK_FUZZ_MESH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_model.h"

/* Files in memory where the system has them: a disk takes milliseconds per input. */
static char mesh_folder[64] = "/dev/shm/rattleback-fuzz-XXXXXX";
static char mesh_path[128];

static void mesh_clean(void)
{
    remove(mesh_path);
    remove(mesh_folder);
}

static inline void mesh_prepare(const char *extension)
{
    if (mesh_path[0]) return;
    if (!mkdtemp(mesh_folder)) {
        strcpy(mesh_folder, "/tmp/rattleback-fuzz-XXXXXX");
        model_require(mkdtemp(mesh_folder) != NULL);
    }
    snprintf(mesh_path, sizeof mesh_path, "%s/m.%s", mesh_folder, extension);
    atexit(mesh_clean);
}

static inline void mesh_fuzz(const char *extension, const uint8_t *bytes, size_t size)
{
    mesh_prepare(extension);
    FILE *file = fopen(mesh_path, "wb");
    model_require(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);

    char model[128], robot[512];
    snprintf(model, sizeof model, "%s/robot.urdf", mesh_folder);
    snprintf(robot, sizeof robot,
             "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/>"
             "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial><collision><geometry>"
             "<mesh filename=\"m.%s\"/></geometry></collision></link></robot>",
             extension);
    rb_error err = { 0 };
    rb_load_opts opts = rb_load_opts_default();
    opts.floating_base = 1;
    rb_spec *spec = rb_spec_read_memory(robot, strlen(robot), model, &opts, NULL, &err);
    if (spec)
        model_use(spec);
    else
        model_require_reason(&err);
}

#endif
