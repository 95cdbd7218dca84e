/* The contacts of a jam by name: for people and as JSON. */
#ifndef RATTLEBACK_CLI_JAM_H
#define RATTLEBACK_CLI_JAM_H

#include <stdio.h>

#include "json.h"
#include "rattleback/step.h"

void jam_print(FILE *out, const rb_model *m, const rb_step_info *info);
void jam_json(json *j, const rb_model *m, const rb_step_info *info); /* the member "jam" */

#endif
