/* An array that grows. */
#ifndef RB_SHOW_LIST_H
#define RB_SHOW_LIST_H

#include <stddef.h>

typedef struct list {
    void *at;
    size_t n, room; /* elements */
    size_t size;    /* of one [bytes] */
} list;

/* Appends `count` entries and returns the first. NULL: out of memory. */
void *rb_show_list_add(list *l, size_t count);
void rb_show_list_free(list *l);

#endif
