/* What the C library of this target lacks. */
#include <stdio.h>

/* There are no files but those of the page: who asks gets none, and says so. */
FILE *tmpfile(void)
{
    return NULL;
}
