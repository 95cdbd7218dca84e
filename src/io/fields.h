/* Typed access to the members of a line, with the sentence for everything that can be wrong. */
#ifndef RATTLEBACK_SRC_IO_FIELDS_H
#define RATTLEBACK_SRC_IO_FIELDS_H

#include "io/context.h"

/* Bytes -> JSON object; *root is to be given to json_decref. Budgets are checked before parsing. */
rb_status rb_io_parse_object(rb_io_context *ctx, const char *bytes, size_t size, json_t **root);

/* The budgets alone: one pass over the bytes, no memory. */
rb_status rb_io_scan(rb_io_context *ctx, const char *bytes, size_t size);

/* "an array", "a string", ...: what a value is, for messages. */
const char *rb_io_kind_of(const json_t *value);

/* An integer lo .. hi; *out keeps its value where the key is missing. Over hi: RB_TOO_LARGE. */
rb_status rb_io_get_int(rb_io_context *ctx, const json_t *object, const char *key, int lo, int hi,
                        int *out);

/* A string; *out keeps its value where the key is missing. Borrowed from the object. */
rb_status rb_io_get_string(rb_io_context *ctx, const json_t *object, const char *key,
                           const char **out);

/* An array of finite numbers that must be there; kept memory. */
rb_status rb_io_get_vector(rb_io_context *ctx, const json_t *object, const char *key, double **out,
                           int *size);

/* Refuses "key: 3 numbers, expected 4, one per ...". */
rb_status rb_io_need_size(rb_io_context *ctx, const char *key, int size, int expected,
                          const char *each);

/* One entry of an array: a number, in the message called key[index]. */
rb_status rb_io_number_at(rb_io_context *ctx, const json_t *array, const char *key, int index,
                          double *out);

/* A matrix as written in the file: rows of numbers, or triplets i, j, v. Borrowed. */
typedef struct rb_io_matrix {
    const char *key;
    int rows, cols;
    const json_t *lines;     /* array of rows, or NULL                        */
    const json_t *i, *j, *v; /* triplets where there are no rows              */
} rb_io_matrix;

/* Entries in file order; duplicates are not merged yet. */
typedef struct rb_io_triplets {
    int rows, cols, count;
    int *i, *j;
    double *v;
} rb_io_triplets;

/* Finds the matrix and its shape; nothing is allocated. */
rb_status rb_io_get_matrix(rb_io_context *ctx, const json_t *object, const char *key,
                           rb_io_matrix *out);

/* Rows of numbers -> row major, kept memory. */
rb_status rb_io_matrix_dense(rb_io_context *ctx, const rb_io_matrix *a, double **out);

/* Either form -> triplets, scratch memory; zeros of the dense form are left out. */
rb_status rb_io_matrix_triplets(rb_io_context *ctx, const rb_io_matrix *a, rb_io_triplets *out);

#endif
