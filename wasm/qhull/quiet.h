/* Seen before each file of Qhull: what it would print is left out, together with its texts. */
#include <libqhull_r/qhull_ra.h>

#define qh_fprintf(...) ((void)0)
