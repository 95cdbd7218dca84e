/* A taut string from one point to another over a sphere or a cylinder. */
#ifndef RB_MATH_WRAP_H
#define RB_MATH_WRAP_H

typedef struct rb_wrap_solid {
    int cylinder;        /* 0: sphere; 1: cylinder about its z axis, without ends  */
    double radius;       /* [m]                                                    */
    const double *p, *R; /* its frame, rotation row major                          */
    const double *side;  /* point of the side on which the string passes, or NULL;
                            inside the solid: the string runs through it           */
} rb_wrap_solid;

/* Length on the surface, with the points where the string comes to it and leaves it. -1: the
 * string is straight. */
double rb_wrap(const rb_wrap_solid *solid, const double x0[3], const double x1[3],
               double points[6]);

#endif
