/* A command line by table: "--name", "--name VALUE" or "--name=VALUE", and files. */
#ifndef RATTLEBACK_CLI_ARGUMENTS_H
#define RATTLEBACK_CLI_ARGUMENTS_H

typedef struct argument {
    const char *name; /* "--tol"; NULL ends the table                              */
    int takes_value;
    int (*set)(void *options, const char *text); /* 0: refused, and a sentence was printed */
} argument;

typedef struct arguments {
    const char *command; /* for messages: "lcp"                                     */
    const argument *table;
    void *options; /* what set() writes to                                          */
    int nfile;     /* out: files, moved to the front of argv                        */
} arguments;

/* 1, or 0 after a sentence on stderr. argv is reordered: its first nfile entries are the files.
 * After "--" everything is a file; "-" is one too. */
int arguments_parse(arguments *a, int argc, char **argv);

/* Of words that are offered one by one, the one that is spelled most like the text; NULL: none is
 * close. Two words of which a third differs are two words. */
typedef struct nearest {
    const char *word;
    int distance; /* letters that differ */
} nearest;

void nearest_word(const char *word, nearest *best, const char *text);

/* What set() says of a value: 0 after "rattleback COMMAND: NAME TEXT: expected EXPECTED". */
int argument_refuse(const char *command, const char *name, const char *text, const char *expected);

/* A number lo <= *out <= hi; a whole one. 0: refused. */
int argument_number(const char *command, const char *name, const char *text, double lo, double hi,
                    const char *expected, double *out);
int argument_whole(const char *command, const char *name, const char *text, int lo, int hi,
                   const char *expected, int *out);

#endif
