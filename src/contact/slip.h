/* What a contact with friction bounds per direction knows of its slip (F.27), for phantom and
 * hybrid-friction. */
#ifndef RB_CONTACT_SLIP_H
#define RB_CONTACT_SLIP_H

#include "contact/contact.h"

/* Compliance of what is said to be hard, as a share of the compliance of its row [1]. Of tangents,
 * larger: stiction creeps, now by some 1e-8 m/s; smaller: with 1e-8 the corners of a block that
 * slides push it forward at times. Of normals and equalities, larger: overlap and open loops that
 * no repair can mend; smaller: redundant ones have no regular system any more. */
#define RB_HARD_SHARE   1e-9
#define RB_HARD_TANGENT 1e-6

typedef struct rb_slip {
    int sliding;
    double e[2]
            [2]; /* the two directions in the basis (t1, t2): fixed, or along and across the slip */
    double mu[2];  /* coefficient in each                                                         */
    double eps[2]; /* compliance of each direction [m/s per N s] */
    double d[2]; /* velocity that its bristle requires [m/s]                                     */
} rb_slip;

/* eps = 1/(k h^2 + b h) of a spring and damper; NAN in both: `share` of W_ii (F.28). A row that
 * nothing can move has 1: its impulse is zero then. */
double rb_relaxation(double stiffness, double damping, double h, double share, double W_ii);

/* Constraint i of the island, a contact with tangents; p_n is the normal impulse one step before.
 */
void rb_slip_find(const rb_island *island, const rb_step_opts *o, int i, double p_n, rb_slip *out);

/* RB_UNSUPPORTED where a contact has a grain or a polygon: these formulations have one coefficient.
 */
rb_status rb_slip_accepts(const rb_island *island);

/* Normal impulse one step before; a new contact has its share of the weight of the island. */
double rb_normal_before(const rb_island *island, int i);

/* Entry of W, dense or in blocks. */
double rb_island_entry(const rb_island *island, int i, int j);

#endif
