/* What the files of this room share: the solvers of table.c and the two sequences of methods of
 * `auto`. */
#ifndef RB_SOLVE_INTERNAL_H
#define RB_SOLVE_INTERNAL_H

#include "base/arena.h"
#include "rattleback/solve.h"

extern const rb_solver rb_solver_auto, rb_solver_lemke, rb_solver_murty, rb_solver_dantzig,
    rb_solver_judice_pires, rb_solver_pgs, rb_solver_enumerate, rb_solver_nsgs, rb_solver_newton,
    rb_solver_admm;

/* auto for kind RB_LCP and RB_BOX (lcp_auto.c) and for RB_CONE (cone_auto.c). */
rb_status rb_lcp_auto(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                      rb_info *info);
rb_status rb_cone_auto(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                       rb_info *info);

/* Replace a certified answer by the limit of uniform compliance where several exist; set
 * info->unique. lcp_uniform.c, cone_auto.c. */
rb_status rb_lcp_uniform(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                         rb_info *info);
rb_status rb_cone_uniform(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                          rb_info *info);

/* Appends a word to info->path, " > " between words; cut, never overrun. */
void rb_path_add(rb_info *info, const char *word);

#endif
