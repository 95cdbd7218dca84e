/* libFuzzer: any bytes as a table over time (run --ctrl, --pd). */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_common.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What the header promises: finite numbers, times that never go back, a row for each time. */
static void check(const rb_table *t)
{
    for (int i = 0; i < t->nrow; i++) {
        fuzz_require(isfinite(t->time[i]) && (i == 0 || t->time[i] >= t->time[i - 1]));
        for (int c = 0; c < t->ncol; c++) fuzz_require(isfinite(t->x[i * t->ncol + c]));
        int row = rb_table_row(t, t->time[i]);
        fuzz_require(row >= i && t->time[row] == t->time[i]);
    }
    fuzz_require(rb_table_row(t, -INFINITY) == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    rb_error err = { 0 };
    int file = memfd_create("table", 0);
    fuzz_require(file >= 0);
    fuzz_require(write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    rb_table *t = rb_table_read(path, NULL, &err);
    fuzz_require(t || err.text[0]);
    if (t) check(t);
    rb_table_free(t);
    close(file);
    return 0;
}
