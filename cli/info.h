/* The two faces of `rattleback info`. */
#ifndef RATTLEBACK_CLI_INFO_H
#define RATTLEBACK_CLI_INFO_H

#include <stdio.h>

#include "rattleback/model.h"

/* What is reported about a model beside its arrays. */
typedef struct info {
    const char *path;
    const rb_model *m;
    double com[3]; /* at the start, world axes */
} info;

void info_json(FILE *out, const info *in);

/* 0: out of memory. */
int info_text(FILE *out, const info *in);

/* Words for the enums: "free", "connect", "motor", ...; never NULL. */
/* How the coefficients of two geoms become that of a pair. */
extern const char info_friction_rule[];

const char *info_joint_word(int type);
const char *info_geom_word(int type);
const char *info_equality_word(int type);
const char *info_transmission_word(int transmission);

/* What a mesh is for contacts: "hull", "surface" (its triangles) or "nothing". */
const char *info_mesh_word(const rb_model *m, int geom);

/* The kind of element an equality or an actuator names. */
rb_kind info_equality_kind(int type);
rb_kind info_transmission_kind(int transmission);

#endif
