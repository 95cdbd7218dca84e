/* Contacts that are clearly open are left out of a problem of many, and join it where the answer of
 * the others closes them. */
#ifndef RB_SOLVE_CONE_ACTIVE_H
#define RB_SOLVE_CONE_ACTIVE_H

#include "solve/cone.h"

/* All contacts, and those that take part as a problem of their own, for methods that see the bodies
 * and not W. Measures are relative to the whole problem. */
typedef struct rb_cone_active {
    const rb_cones *all;
    rb_cones k;       /* those that take part                                            */
    int *contact;     /* which they are                                        (all->nc) */
    unsigned char *in; /* 1: the contact takes part                            (all->nc) */
    double *r;        /* their impulses                                        (all->n)  */
    double *q, *mu, *rho;
    double *u; /* velocities of all contacts, of the last look                 (all->n)  */
} rb_cone_active;

/* Arrays, and who takes part by the impulses r of all. RB_NOMEM: out of memory. */
rb_status rb_cone_active_make(const rb_cones *all, const double *r, rb_arena *scratch,
                              rb_cone_active *a);

/* a->k and a->r from who takes part, and from r. */
void rb_cone_active_gather(rb_cone_active *a, const double *r);

/* r of all from a->r: the others get none. */
void rb_cone_active_scatter(const rb_cone_active *a, double *r);

/* Contacts that the impulses r of all close join those that take part. error: measure of those that
 * took part in, of all out. Returns how many joined; < 0: out of memory. */
int rb_cone_active_join(rb_cone_active *a, const double *r, rb_arena *scratch, double *error);

#endif
