#include "base/sort.h"

void rb_sort_ints(int *x, int n)
{
    for (int gap = n / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < n; i++) {
            int t = x[i], k = i;
            for (; k >= gap && x[k - gap] > t; k -= gap) x[k] = x[k - gap];
            x[k] = t;
        }
    }
}
