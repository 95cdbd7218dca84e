/* Values of sensors, for --json. */
#ifndef RATTLEBACK_CLI_SENSOR_JSON_H
#define RATTLEBACK_CLI_SENSOR_JSON_H

#include "json.h"
#include "rattleback/model.h"

/* An object under `key`: sensor by name, a number or a list each. */
void sensor_json(json *j, const char *key, const rb_model *m, const rb_data *d);

#endif
