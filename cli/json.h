/* Named values on standard output: as one JSON object, or as a table for people. */
#ifndef RATTLEBACK_CLI_JSON_H
#define RATTLEBACK_CLI_JSON_H

#include <stdio.h>

enum { JSON_DEPTH = 8 };

typedef struct json {
    FILE *out;
    int table; /* 1: lines of text instead of JSON                                   */
    int depth;
    int begun[JSON_DEPTH]; /* whether the object or list at this depth has a member  */
} json;

/* key is NULL inside lists and for the outermost object. */
void json_begin(json *j, const char *key);
void json_end(json *j); /* the outermost end writes the end of the line */
void json_begin_list(json *j, const char *key);
void json_end_list(json *j);

void json_text(json *j, const char *key, const char *text);
void json_int(json *j, const char *key, int value);
void json_number(json *j, const char *key, double x);
void json_null(json *j, const char *key);
void json_vector(json *j, const char *key, const double *x, int n);
void json_matrix(json *j, const char *key, const double *A, int rows, int cols); /* row major */

#endif
