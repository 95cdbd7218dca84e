/* A small text file at once. */
#ifndef RATTLEBACK_CLI_TEXT_FILE_H
#define RATTLEBACK_CLI_TEXT_FILE_H

/* The whole file with a zero after it, for free(); NULL after a sentence on stderr. */
char *text_file_read(const char *path);

#endif
