/* The table that src/flat/fields.py writes. */
#ifndef RB_FLAT_FIELDS_H
#define RB_FLAT_FIELDS_H

#include "rattleback/flat.h"

typedef struct rb_flat_struct {
    const char *name;
    size_t size;
} rb_flat_struct;

extern const rb_field rb_flat_fields[];
extern const int rb_flat_nfield;
extern const int rb_flat_data_first, rb_flat_data_count; /* those of rb_data, one after the other */
extern const rb_flat_struct rb_flat_structs[];
extern const int rb_flat_nstruct;

#endif
