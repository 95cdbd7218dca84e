#include "reproduce/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *text_file_read(const char *path)
{
    enum { BLOCK = 1 << 16 };
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t length = 0, got = in ? BLOCK : 0;
    while (in && got == BLOCK) {
        char *grown = realloc(text, length + BLOCK + 1);
        if (!grown) break;
        text = grown;
        got = fread(text + length, 1, BLOCK, in);
        length += got;
        text[length] = '\0';
    }
    int complete = in && got < BLOCK && !ferror(in);
    if (!complete)
        fprintf(stderr, "%s: cannot be read: %s\n", path, errno ? strerror(errno) : "no memory");
    if (in) fclose(in);
    if (complete) return text;
    free(text);
    return NULL;
}
