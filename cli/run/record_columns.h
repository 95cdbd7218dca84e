/* The groups of columns of a record: `--columns q,v,ctrl,contact,sensor,body,energy`. */
#ifndef RATTLEBACK_CLI_RECORD_COLUMNS_H
#define RATTLEBACK_CLI_RECORD_COLUMNS_H

#include "json.h"
#include "rattleback/step.h"

/* What a row is made from. With maximal coordinates, too, q and v are those of the file. */
typedef struct record_state {
    const rb_model *written; /* coordinates of the file        */
    const rb_data *q;        /* the state in them              */
    const rb_model *m;       /* what is simulated              */
    const rb_data *d;        /* its frames are up to date      */
    const rb_step_info *info;
    double energy; /* [J] */
} record_state;

/* A group of columns: names, each after a comma; numbers in the same way; members of a JSON object.
 */
typedef struct record_group {
    const char *word, *help;
    void (*head)(FILE *out, const record_state *s);
    void (*row)(FILE *out, const record_state *s);
    void (*members)(json *j, const record_state *s);
    int usual; /* 1: in records without --columns */
} record_group;

extern const record_group record_groups[]; /* ends with a NULL word */

enum { RECORD_MOST_GROUPS = 16 };

/* The groups of a list of words, in its order; of NULL: the usual ones. Their number, or -1 after a
 * sentence. */
int record_groups_find(const char *words, const record_group *out[RECORD_MOST_GROUPS]);

#endif
