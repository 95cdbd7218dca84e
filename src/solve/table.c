#include <string.h>

#include "solve/internal.h"

const rb_solver *const rb_solvers[] = { &rb_solver_auto,
                                        &rb_solver_lemke,
                                        &rb_solver_murty,
                                        &rb_solver_dantzig,
                                        &rb_solver_judice_pires,
                                        &rb_solver_pgs,
                                        &rb_solver_enumerate,
                                        &rb_solver_nsgs,
                                        &rb_solver_newton,
                                        &rb_solver_admm,
                                        NULL };

const rb_solver *rb_solver_find(const char *name)
{
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        if (strcmp((*s)->name, name) == 0) return *s;
    }
    return NULL;
}
