/* The inside of rb_spec: one list per kind of element, all handled by one mechanism that is driven
 * by the table in kinds.c. Strings and arrays live in one pool that only grows. */
#ifndef RB_MODEL_SPEC_H
#define RB_MODEL_SPEC_H

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "rattleback/spec.h"

/* name in functions, RB_KIND_ suffix; order of rb_kind */
#define RB_FOR_EACH_KIND(X)                                                                        \
    X(body, BODY)                                                                                  \
    X(joint, JOINT)                                                                                \
    X(geom, GEOM)                                                                                  \
    X(site, SITE)                                                                                  \
    X(mesh, MESH)                                                                                  \
    X(hfield, HFIELD)                                                                              \
    X(equality, EQUALITY)                                                                          \
    X(tendon, TENDON)                                                                              \
    X(actuator, ACTUATOR)                                                                          \
    X(exclude, EXCLUDE)                                                                            \
    X(pair, PAIR)                                                                                  \
    X(key, KEY)                                                                                    \
    X(custom, CUSTOM)                                                                              \
    X(sensor, SENSOR)

/* Every def begins with these two members; they are read and written by memcpy, because a def is
 * no rb_head to the compiler. */
typedef struct rb_head {
    rb_where where;
    const char *name;
} rb_head;

static inline rb_head rb_head_of(const void *def)
{
    rb_head head;
    memcpy(&head, def, sizeof head);
    return head;
}

typedef struct rb_list {
    void *items;
    int count, capacity;
} rb_list;

/* A slot of the hash table of names; index -1: empty. */
typedef struct rb_name_slot {
    int kind, index;
} rb_name_slot;

struct rb_spec {
    rb_alloc alloc;
    rb_arena *pool; /* strings and arrays of all elements                  */
    rb_list list[RB_NKIND];
    rb_list warnings;
    rb_name_slot *slots; /* open addressing, a power of two of them             */
    int nslot, nnamed;
    const char *file; /* the last file name stored: most elements share it   */
    rb_option option;

    /* Makes the hulls that are missing when the spec is compiled: set by the readers, which have
     * Qhull; NULL: the caller makes them. */
    rb_status (*make_hulls)(rb_spec *spec, rb_error *err);
    int meshes_seen; /* rb_spec_hulls has said what is wrong with them */
};

/* An array of a def: `times` * count * count2 + `plus` entries of `size` bytes. */
typedef struct rb_array_slot {
    size_t pointer, count, count2; /* offsets in the def; count2 RB_NO_SLOT: 1 */
    size_t size;
    int times, plus;
} rb_array_slot;

/* An index of another element, lowest .. count - 1. */
typedef struct rb_ref_slot {
    size_t offset; /* RB_NO_SLOT ends a list */
    rb_kind kind;
    int lowest;
    const char *word; /* what the user calls it */
} rb_ref_slot;

#define RB_NO_SLOT SIZE_MAX

typedef struct rb_kind_info {
    const char *word;
    size_t size;
    size_t text;                 /* offset of a second string, RB_NO_SLOT: none                 */
    const rb_array_slot *arrays; /* ended by pointer RB_NO_SLOT, or NULL                       */
    const rb_ref_slot *refs;     /* or NULL                                                    */
    rb_status (*check)(const rb_spec *spec, int i, const void *def, rb_error *err); /* or NULL */
} rb_kind_info;

extern const rb_kind_info rb_kinds[RB_NKIND];

/* Element i of a list; the type is the caller's knowledge. */
static inline const void *rb_spec_item(const rb_spec *spec, rb_kind kind, int i)
{
    return (const char *)spec->list[kind].items + (size_t)i * rb_kinds[kind].size;
}

/* Entries of an array of `def`, or -1 where a count is negative or the product does not fit. */
ptrdiff_t rb_array_length(const rb_array_slot *slot, const void *def);

/* Indices, enums and array lengths of `def`, which is or becomes element i. */
rb_status rb_check_links_of(const rb_spec *spec, rb_kind kind, int i, const void *def,
                            rb_error *err);

/* Geom i becomes geom place[i], in the same order; -1: it goes. No pair has one that goes. */
void rb_spec_keep_geoms(rb_spec *spec, const int *place);

/* "geom 'foot': " and a sentence, with the file and line of the element; RB_BAD_INPUT. */
rb_status rb_refuse(const void *def, rb_kind kind, int i, rb_error *err, const char *format, ...)
    RB_PRINTF(5, 6);

#endif
