/* Sorting without libc's qsort, whose order of equal keys differs between systems. */
#ifndef RB_BASE_SORT_H
#define RB_BASE_SORT_H

/* Ascending, in place. */
void rb_sort_ints(int *x, int n);

#endif
