/* Contacts of the last step, for --json. */
#ifndef RATTLEBACK_CLI_CONTACT_JSON_H
#define RATTLEBACK_CLI_CONTACT_JSON_H

#include "json.h"
#include "rattleback/model.h"

/* A list of objects under `key`; nothing where memory is short. Needs rb_frames. */
void contact_json(json *j, const char *key, const rb_model *m, const rb_data *d);

/* The forces that contacts exerted on each body that has any. */
void contact_bodies_json(json *j, const char *key, const rb_model *m, const rb_data *d);

#endif
