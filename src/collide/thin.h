/* Contacts of two links that say nothing beside others. */
#ifndef RB_COLLIDE_THIN_H
#define RB_COLLIDE_THIN_H

#include "base/arena.h"
#include "rattleback/collide.h"

/* Takes out of n contacts those that others of the same links imply (G.36); returns how many are
 * left, in their order. All are kept where memory runs out. */
int rb_contacts_thin(const rb_model *m, rb_arena *arena, int n, rb_contact *contacts);

#endif
