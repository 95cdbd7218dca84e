#include "show/list.h"

#include <stdlib.h>

void *rb_show_list_add(list *l, size_t count)
{
    if (l->n + count > l->room) {
        size_t room = 2 * l->room + count + 16;
        void *more = realloc(l->at, room * l->size);
        if (!more) return NULL;
        l->at = more;
        l->room = room;
    }
    void *first = (char *)l->at + l->n * l->size;
    l->n += count;
    return first;
}

void rb_show_list_free(list *l)
{
    free(l->at);
    l->at = NULL;
    l->n = l->room = 0;
}
