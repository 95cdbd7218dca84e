/* Every tolerance of the core, with its unit, its reason and what breaks when it moves. */
#ifndef RB_BASE_CONSTANTS_H
#define RB_BASE_CONSTANTS_H

/* Rounding unit of double, 2^-53 [1]. */
#define RB_EPS 1.1102230246251565e-16

/* Relative pivot below which a factorisation calls a matrix singular [1], times the order n.
 * Larger: regular but badly scaled stacks (mass ratio 1e6) are called singular. Smaller: noise of
 * redundant contacts passes for a pivot and the solution explodes. */
#define RB_RANK_TOL 1e-13

/* Angle below which sin x = x and tan x = x to rounding, x^2/6 < RB_EPS [rad]. Larger: digits are
 * lost. Much smaller: the square of the angle vanishes and 0/0 is met. */
#define RB_TINY_ANGLE 1e-8

/* Pivot of J M^-1 J', scaled to unit diagonal, below which a row of a loop repeats the rows before it
 * [1], times the number of rows. Redundant rows leave pivots of rounding, up to 1e-13 after a long
 * chain. Larger: mechanisms near a singular position lose a row that still holds them. */
#define RB_LOOP_RANK_TOL 1e-12

#endif
