/* One branch of the tree at a time: its poses at other coordinates of its joints, while the other
 * branches do not move. */
#ifndef RB_DYNAMICS_BRANCH_H
#define RB_DYNAMICS_BRANCH_H

#include "rattleback/model.h"

/* Joint j of q (+) h v; the rest of out is unchanged. */
void rb_integrate_joint(const rb_model *m, int j, const double *q, const double *v, double h,
                        double *out);

/* The last link that both hang on or are; 0, the world, if there is no other. */
int rb_branch_base(const rb_model *m, int k1, int k2);

/* From the link after base to k, in their order; returns how many, nlink at most. */
int rb_branch_links(const rb_model *m, int base, int k, int *links);

/* Those links at q (+) h v of their joints, on what they hang on as d has it, which is where mocap
 * bodies are too. Then a geom of one of them. */
void rb_branch_place(const rb_model *m, rb_data *d, int n, const int *links, const double *q,
                     const double *v, double h);
void rb_branch_place_geom(const rb_model *m, rb_data *d, int g);

#endif
