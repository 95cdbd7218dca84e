/* The table of fields, and structs by their names. */
#include <string.h>

#include "flat/fields.h"
#include "rattleback/solve.h"

int rb_flat_abi(void)
{
    return RB_FLAT_ABI;
}

const char *rb_flat_version(void)
{
    return RB_VERSION;
}

int rb_flat_field_count(void)
{
    return rb_flat_nfield;
}

const rb_field *rb_flat_field(int i)
{
    return i >= 0 && i < rb_flat_nfield ? &rb_flat_fields[i] : NULL;
}

size_t rb_flat_size(const char *struct_name)
{
    for (int i = 0; i < rb_flat_nstruct; i++)
        if (strcmp(rb_flat_structs[i].name, struct_name) == 0) return rb_flat_structs[i].size;
    return 0;
}

void rb_flat_shape(const rb_field *field, const void *object, size_t length[2])
{
    for (int k = 0; k < 2; k++) {
        const rb_length *l = &field->length[k];
        int count = 1;
        if (l->count != RB_NO_COUNT) memcpy(&count, (const char *)object + l->count, sizeof count);
        length[k] = k < field->ndim && count > 0 ? (size_t)l->factor * (size_t)count : 0;
    }
}

/* clang-format off */
#define GIVE(type, call)                                                                           \
    if (strcmp(name, #type) == 0) {                                                                \
        const type value = call;                                                                   \
        memcpy(out, &value, sizeof value);                                                         \
        return 1;                                                                                  \
    }
/* clang-format on */

int rb_flat_default(const char *name, void *out)
{
    GIVE(rb_body_def, rb_body_default())
    GIVE(rb_joint_def, rb_joint_default())
    GIVE(rb_geom_def, rb_geom_default())
    GIVE(rb_material, rb_material_default())
    GIVE(rb_mesh_def, rb_mesh_default())
    GIVE(rb_site_def, rb_site_default())
    GIVE(rb_equality_def, rb_equality_default())
    GIVE(rb_tendon_def, rb_tendon_default())
    GIVE(rb_actuator_def, rb_actuator_default())
    GIVE(rb_exclude_def, rb_exclude_default())
    GIVE(rb_pair_def, rb_pair_default())
    GIVE(rb_key_def, rb_key_default())
    GIVE(rb_custom_def, rb_custom_default())
    GIVE(rb_sensor_def, rb_sensor_default())
    GIVE(rb_step_opts, rb_step_opts_default())
    GIVE(rb_drop_opts, rb_drop_opts_default())
    return 0;
}
