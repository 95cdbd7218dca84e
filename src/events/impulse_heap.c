/* Meetings by the time until which they are safe, in a heap with four children. Each meeting knows
 * its place, so that a new key moves it at once and no old entry is left behind. Equal keys come
 * in the order of the meetings. */
#include "events/impulse.h"

static int before(const rb_events *x, int a, int b)
{
    double key_a = x->meeting[a].key, key_b = x->meeting[b].key;
    return key_a < key_b || (key_a == key_b && a < b);
}

static void put(rb_events *x, int at, int i)
{
    x->heap[at] = i;
    x->meeting[i].heap = at;
}

static void rise(rb_events *x, int at)
{
    int i = x->heap[at];
    while (at > 0 && before(x, i, x->heap[(at - 1) / 4])) {
        put(x, at, x->heap[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    put(x, at, i);
}

static void sink(rb_events *x, int at)
{
    int i = x->heap[at];
    for (;;) {
        int first = 4 * at + 1, least = i;
        for (int k = first; k < first + 4 && k < x->n; k++)
            if (before(x, x->heap[k], least)) least = x->heap[k];
        if (least == i) break;
        int from = x->meeting[least].heap;
        put(x, at, least);
        at = from;
    }
    put(x, at, i);
}

/* x->n counts it already. */
void rb_heap_push(rb_events *x, int i)
{
    x->heap[x->n - 1] = i;
    rise(x, x->n - 1);
}

void rb_heap_move(rb_events *x, int i, double key)
{
    double was = x->meeting[i].key;
    x->meeting[i].key = key;
    if (key < was)
        rise(x, x->meeting[i].heap);
    else
        sink(x, x->meeting[i].heap);
}
