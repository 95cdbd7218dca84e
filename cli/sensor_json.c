#include "sensor_json.h"

#include <stdio.h>

#include "rattleback/sensor.h"

void sensor_json(json *j, const char *key, const rb_model *m, const rb_data *d)
{
    json_begin(j, key);
    for (int i = 0; i < m->nsensor; i++) {
        char own[64];
        const char *name = rb_model_name(m, RB_KIND_SENSOR, i, NULL, 0);
        const double *x = d->sensor + m->sensor_adr[i];
        snprintf(own, sizeof own, "%s.%d", rb_sensor_word((rb_sensor_type)m->sensor_type[i]), i);
        if (m->sensor_dim[i] == 1)
            json_number(j, *name ? name : own, x[0]);
        else
            json_vector(j, *name ? name : own, x, m->sensor_dim[i]);
    }
    json_end(j);
}
