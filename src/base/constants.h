/* Tolerances that several rooms of the core share, with unit, reason and what breaks when they
 * move. One that a single file uses is defined there. */
#ifndef RB_BASE_CONSTANTS_H
#define RB_BASE_CONSTANTS_H

/* Rounding unit of double, 2^-53 [1]. */
#define RB_EPS 1.1102230246251565e-16

#define RB_PI 3.141592653589793 /* [rad] */

/* Relative pivot below which a factorisation calls a matrix singular [1], times the order n.
 * Larger: regular but badly scaled stacks (mass ratio 1e6) are called singular. Smaller: noise of
 * redundant contacts passes for a pivot and the solution explodes. */
#define RB_RANK_TOL 1e-13

/* Angle below which sin x = x and tan x = x to rounding, x^2/6 < RB_EPS [rad]. Larger: digits are
 * lost. Much smaller: the square of the angle vanishes and 0/0 is met. */
#define RB_TINY_ANGLE 1e-8

/* Pivot of J M^-1 J', scaled to unit diagonal, below which a row of a loop repeats the rows before
 * it [1], times the number of rows. Redundant rows leave pivots of rounding, up to 1e-13 after a
 * long chain. Larger: mechanisms near a singular position lose a row that they need. */
#define RB_LOOP_RANK_TOL 1e-12

/* Compliance of a row of an equality, relative to the largest of its rows, below which it counts as
 * this much [1]: what is 1e-16 of J is 1e-32 of J M^-1 J', and 1e-14 after this, below
 * RB_LOOP_RANK_TOL. Larger: rows of another unit are dropped. Smaller: rounding passes for a row
 * and gets a huge impulse. */
#define RB_LOOP_ROW_ROUNDING 1e-18

/* What is left of two wrenches of a loop that cancel, relative to their terms [1]. Larger: loops
 * that are nearly rigid lose rows. Smaller: rounding passes for a row and gets a huge multiplier.
 */
#define RB_ROW_ROUNDING (64.0 * RB_EPS)

/* Largest number a model may contain, in SI units. A length to the fifth power times a density, the
 * largest product of the compiler, is finite. Larger: inertias overflow to infinity. */
#define RB_MAX_NUMBER 1e30

/* Share of the largest principal moment by which an inertia may break 0 <= A and A + B >= C [1].
 * Files round their numbers to a few digits. Larger: wrong units pass for rounding. Smaller: plates
 * and rods from CAD programs are refused. */
#define RB_INERTIA_SLACK 1e-5

/* Inertia that a dof meets, relative to that of the parts it moves, below which there is none [1].
 * A chain of n links has legitimate ratios of about n^-4. Larger: long chains are called singular.
 * Smaller: rounding passes for an inertia and accelerations become noise. */
#define RB_NO_INERTIA 1e-14

/* Lever arm below which a point mass on the axis of a joint gives no moment, in units of the extent
 * of the model [1]. Larger: tiny flywheels need armature. Smaller: rounding of the com passes for
 * an inertia and accelerations become noise. */
#define RB_NO_ARM 1e-10

/* Masses [kg], moments [kg m^2] and flows below which a fluid meets nothing, and what its integrals
 * are divided by at least [1], as in MuJoCo. */
#define RB_FLUID_MIN 1e-15
#define RB_FLUID_EPS 1e-14

/* Largest gap at which adhesion acts, by the size of the model [1]. Larger: bodies that have come
 * off are pulled back. Smaller: rounding ends the adhesion. */
#define RB_ADHESION_REACH 1e-6

/* Lengths, speeds and times of muscles that are divided by are at least this, as in MuJoCo. */
#define RB_MUSCLE_MIN 1e-15

/* Largest rotation of a link in one substep of smooth motion [rad]. Larger: the iteration of the
 * midpoint rule stops to contract. Smaller: more substeps, more time. */
#define RB_SMOOTH_TURN 0.5

/* Rotation of a link in a step from which on the energy of smooth motion is checked [rad].
 * Larger: errors are missed. Smaller: time is spent where they are below (rotation)^3 / 24. */
#define RB_SMOOTH_WATCH 0.05

/* Kinetic energy that a step of smooth motion may make or lose, relative to all of it [1]. Larger:
 * chains that crack make energy. Smaller: more substeps. */
#define RB_SMOOTH_ENERGY 1e-4

/* Change of the velocity, relative to the largest, at which the iteration of the midpoint rule ends
 * [1]. Larger: energy drifts by about this much in every step. */
#define RB_SMOOTH_TOL 1e-12

/* RB_SMOOTH_TOL for models with actuators [1]: they add and remove energy, and their steps have
 * errors of 1e-6 of the velocity and more. Not with loops, whose closing repeats it until their
 * errors vanish. Larger: contacts feel the iteration. Smaller: an evaluation more. */
#define RB_SMOOTH_TOL_DRIVEN 1e-9

/* The same for long chains with a link that rotates by more than RB_SMOOTH_WATCH [1]: the error of
 * the rule itself is 5e-6 or more there. Larger: the energy error reported is that of the
 * iteration. Smaller: iterations for digits that the rule does not have. */
#define RB_SMOOTH_TOL_FAST 1e-8

/* Largest ratio of a change to the one before from which the next one is predicted [1].
 * Larger: the iteration may end before RB_SMOOTH_TOL is reached. */
#define RB_SMOOTH_RATE 0.1

/* Change at which it may also end when it has stopped to shrink [1]: accelerations have fewer
 * digits where the mass matrix is close to singular. Larger: energy is made there. Smaller: steps
 * fail. */
#define RB_SMOOTH_STALL 1e-9

/* Share of its length that a motion vector of a chain of joints must have outside the span of those
 * before it to count as another freedom [1]. Larger: near gimbal lock a joint is called stuck.
 * Smaller: rounding passes for a freedom. */
#define RB_CHAIN_RANK_TOL 1e-9

/* Difference of two gaps that is rounding, in units of the larger of both extents and the distance
 * of the shapes [1]. Gaps are right to this. Larger: a lesser gap may be passed over. Smaller:
 * rounding chooses between equal features and ids flicker. */
#define RB_GAP_TIE 1e-13

/* Difference of two separations of curved shapes that is rounding, as part of the same length [1].
 * Larger: normals next to curved surfaces are off by its root. Smaller: rounding chooses between a
 * face and a direction next to it. */
#define RB_GAP_SHARP (16.0 * RB_EPS)

/* Distance of two contact points that are one, in units of the smaller extent [1]. Larger: corners
 * of small features merge. Smaller: aligned boxes have each corner twice. */
#define RB_SAME_POINT 1e-9

/* Cosine between the normal of a further point and that of the closest one, from which on it is
 * part of the same contact [1]: 11 degrees. Larger: lines that nearly touch along their length rest
 * on one point. Smaller: distant corners become contacts that hold nothing. */
#define RB_FACING 0.98

/* Corners after which the search for the distance, and for the depth, of two convex shapes ends
 * with what it has [1]; polyhedra need some ten of each, curved shapes up to fifty. Smaller: gaps
 * of curved shapes become wrong, and say so. Larger: memory on the stack. */
#define RB_GJK_STEPS   128
#define RB_GJK_FEW     4 /* curved shapes: after so many, and twice as many again, Newton's method */
#define RB_DEPTH_STEPS 124

/* Part of the larger of both extents and the distance of two convex shapes below which their depth
 * counts as touch [1]. Larger: gaps are wrong by this much. Smaller:
 * bodies at rest on each other cost more. */
#define RB_DEPTH_NONE 1e-11

/* Distance from which on its direction is better than that of the features of a pair, as part of
 * the larger of both extents and the distance [1]: rounding rotates it by 1e-9. Smaller: normals of
 * lines that touch are noise. Larger: those of lines that cross at a small angle are late. */
#define RB_CLEAR 1e-7

/* Distance, as part of the same length, from which on its direction shows which edges are
 * orthogonal to it [1]: rounding rotates it by less than RB_KINK_SURE. Smaller: lines and faces
 * that touch are taken for points. */
#define RB_FAR 1e-4

/* Sine of the angle between a direction and the plane across an edge below which the edge may be
 * where the shapes touch [1]: 11 degrees. Smaller: a start that is off misses the answer. Larger:
 * more directions are tried without success. */
#define RB_KINK 0.2

/* The same for edges that are certainly part of the contact [1]. Larger: points of contacts jump
 * early. Smaller: rounding decides which end of an edge is meant. */
#define RB_KINK_SURE 1e-10

/* Share of the volume of its hull by which a mesh that counts as convex may differ from it
 * [1]: tessellated fillets are below. Larger: grooves are filled. Smaller: bodies that do not move
 * collide by thousands of triangles without need. */
#define RB_CONVEX_SHARE 0.01

/* Relative residual that steps certify, by their accuracy [1]. Larger: gaps of fast bodies are off
 * by more than RB_DEEP_* and are repaired, and friction creeps. Smaller: more methods for digits
 * without effect; below STRICT the rounding of large problems is above it. */
#define RB_TOL_STANDARD 1e-6
#define RB_TOL_STRICT   1e-9
#define RB_TOL_FAST     1e-3

/* Gap that counts as closed, in units of the extent of the model [1]. Rounding of positions is some
 * 1e-16 of it. Larger: bodies hover by this much. Smaller: rounding of the gap, divided by the
 * step, drives bodies that rest. */
#define RB_GAP_ZERO 1e-13

/* Overlap made by steps that is repaired where no pair is meant, in units of the extent of the
 * model [1]. */
#define RB_GAP_DEEP 1e-9

/* Overlap, or excess of a limit, beyond which it is an error of the start, in units of the extent
 * of the model [1]. Smaller: what steps make and files round is corrected. Larger: it is kept. */
#define RB_GAP_OF_MODEL 1e-6

/* Overlap of a mechanism with itself that has no friction (F.7), in units of the extent of the
 * model [1]: hulls at a joint overlap by 1e-3 and more, points that touch and were rounded in a
 * file by less than this. Larger: joints of models whose hulls overlap a little are locked.
 * Smaller: fingers that touch slip through each other for a rounded digit. */
#define RB_GAP_INNER 1e-5

/* Share of the compliance of a row that loops must leave it to count as movable [1]. Rounding of
 * the elimination leaves up to 1e-13 after long chains. Larger: stiff mechanisms lose contacts. */
#define RB_IMMOVABLE 1e-11

/* Velocity of such a row, relative to the largest of its island, that is rounding [1]. Larger:
 * mechanisms that jam are called solved. */
#define RB_IMMOVABLE_SPEED 1e-7

/* Least compliance of a joint in a loop, relative to its compliance without the loop, that its
 * scale in a cone problem is taken from [1]. Smaller: at a dead centre tolerances are those of a
 * joint that hardly moves, and other rows create energy within them. Larger: joints of a leg with
 * loops differ by 1e6, and redundant contacts look like light ones. */
#define RB_JOINT_HELD 1e-3

/* Share of the closure error of loops that one step takes off [1]. Larger: models that start with
 * open loops are torn together and gain energy. Smaller: errors of the start last longer. */
#define RB_LOOP_SHARE 0.2

/* Defect of v = 0, relative to the impulses that balance each other, at which an island rests [1].
 * A slope 1e-6 rad steeper than the friction angle has 1e-6. Larger: very slow creep is stopped.
 * Smaller: rounding keeps stacks moving. */
#define RB_REST_DEFECT 1e-12

/* Gap at which a contact takes part in an impact, in units of the extent of the model [1]. Larger:
 * impacts one after the other become one. Smaller: corners that land together do not. */
#define RB_TOUCH 1e-11

/* Energy created by an impact that is rounding, relative to the work of its impulses [1]. Larger:
 * energy creeps in over many impacts. Smaller: elastic impacts are damped by rounding. */
#define RB_IMPACT_ROUNDING 1e-12

/* Contacts of an island up to which a step solves for the answer of uniform compliance. Larger:
 * piles, where the path to that answer takes up to a thousand factorisations. */
#define RB_UNIQUE_CONTACTS 100

/* The same for steppers that solve an island many times in a step. More: ten dominos that lean on
 * each other, 40 contacts, take twenty seconds for each second. */
#define RB_UNIQUE_OFTEN 8

/* Overlap that counts within a step, and distance between two checks of it, as a share of the radii
 * inside of geoms [1] (S.19). Larger: corners pass through corners. Smaller: more checks. */
#define RB_THROUGH_SHARE 0.25

/* Steps of free fall whose speed an impact must exceed to bounce in a fixed step [1]. A body that
 * rests arrives with the speed of one. Larger: small bounces are lost. Smaller: bodies at rest hop.
 */
#define RB_BOUNCE_STEPS 2.0

#endif
