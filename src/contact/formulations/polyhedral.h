/* Coulomb's cone as a polyhedron: the LCP of seeds 3.3, 4 and 9.3, shared by the formulations that
 * differ in the entries of the normal row and in the order of the unknowns (F.23). */
#ifndef RB_CONTACT_POLYHEDRAL_H
#define RB_CONTACT_POLYHEDRAL_H

#include "contact/contact.h"

typedef enum rb_poly_order {
    RB_POLY_STACKED = 0, /* all c_n, all beta, all lambda, equalities                            */
    RB_POLY_GROUPED      /* (c_n, beta) contact by contact, equalities, all lambda               */
} rb_poly_order;

typedef struct rb_poly {
    rb_poly_order order;
    double force_step; /* > 0: unknowns are forces over a step of this length, rows of lambda
                          scaled by it; 0: impulses                                              */
    double regularise; /* A_ii := (1 + eps) A_ii                                                 */
} rb_poly;

rb_status rb_poly_write(const rb_island *island, const rb_step_opts *o, const rb_poly *way,
                        rb_arena *arena, rb_written *out);
void rb_poly_read(const rb_written *written, rb_island *island);

#endif
