/* A text file that grows by whole lines: a process that is killed leaves a file that can be read.
 */
#ifndef RATTLEBACK_CLI_BLOCKS_H
#define RATTLEBACK_CLI_BLOCKS_H

#include <stdio.h>

typedef struct blocks {
    FILE *text; /* what is printed here comes on file with its block */
    FILE *out;
    const char *path;
    char *bytes;
    size_t size;
    double written; /* wall clock of the last block [s] */
    int failed;
} blocks;

/* "-" is standard output. 0 after a sentence on stderr. */
int blocks_open(blocks *b, const char *path);

/* After each line: writes a full block, or one that is a second old. */
void blocks_line(blocks *b);

/* 1, or 0 after a sentence: not everything could be written. */
int blocks_close(blocks *b);

#endif
