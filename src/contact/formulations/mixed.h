/* An island as a problem of rows as what they are; see solve/mixed.h. */
#ifndef RB_CONTACT_MIXED_H
#define RB_CONTACT_MIXED_H

#include "contact/contact.h"
#include "solve/mixed.h"

/* Whether the island can be written so. */
int rb_mixed_takes(const rb_island *island);

/* p and mode of the island from its guess; info has the certificate, relative to `size` where that
 * is larger than |u| of the island: it may be a part of a larger one. *done = 0: none below tol was
 * found. RB_NOMEM only. */
rb_status rb_island_solve_mixed(rb_island *island, double tol, double size, rb_arena *arena,
                                rb_info *info, int *done);

#endif
