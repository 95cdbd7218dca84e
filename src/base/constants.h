/* Tolerances that several rooms of the core share, with unit, reason and what breaks when they
 * move. One that a single file uses is defined there. */
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

/* Difference of two unit axes that counts as rounding: hinges are parallel [1]. Larger: mechanisms
 * that are almost flat move as if they were. Smaller: rotations of a file make them spatial. */
#define RB_PARALLEL 1e-14

/* Lever arm below which a point mass on the axis of a joint gives no moment, in units of the extent
 * of the model [1]. Larger: tiny flywheels need armature. Smaller: rounding of the com passes for
 * an inertia and accelerations become noise. */
#define RB_NO_ARM 1e-10

/* Time constant of a filter that was given none: it follows its control at once [s]. As MuJoCo. */
#define RB_MIN_TIME_CONSTANT 1e-15

/* Masses [kg], moments [kg m^2] and flows below which a fluid meets nothing, and what its integrals
 * are divided by at least [1], as in MuJoCo. */
#define RB_FLUID_MIN 1e-15
#define RB_FLUID_EPS 1e-14

/* Largest gap at which adhesion acts, by the size of the model [1]. Larger: bodies that have come
 * off are pulled back. Smaller: rounding ends the adhesion. */
#define RB_ADHESION_REACH 1e-6

/* Lengths, speeds and times of muscles that are divided by are at least this, as in MuJoCo. */
#define RB_MUSCLE_MIN 1e-15

/* Strings over spheres and cylinders (D.27): radii and distances below which there is nothing to
 * wrap around, as in MuJoCo [m], and the last change of the angle of a string inside of a circle
 * [rad]. Larger: its Jacobian is not the gradient of its length. Smaller: steps of rounding. */
#define RB_WRAP_MIN 1e-15
#define RB_WRAP_TOL 1e-15

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

/* The same for chains of more than 40 links [1]: waves run along them that a step of 1 ms does not
 * follow, and digits of theirs that are lost are no drift to be seen in 1e5 steps. Larger: there
 * is one. Smaller: iterations whose number grows with the links. */
#define RB_SMOOTH_TOL_LONG 1e-10

/* The same for models with actuators [1]: they add and remove energy, and their steps have errors
 * of 1e-6 of the velocity and more. Not with loops, whose closing repeats it until their errors
 * vanish. Larger: contacts feel the iteration. Smaller: an evaluation more. */
#define RB_SMOOTH_TOL_DRIVEN 1e-9

/* The same for long chains with a link that rotates by more than RB_SMOOTH_WATCH [1]: the error of
 * the rule itself is 5e-6 or more there. Larger: the energy error reported is that of the
 * iteration. Smaller: iterations for digits that the rule does not have. */
#define RB_SMOOTH_TOL_FAST 1e-8

/* Largest change of the velocity in a step that is extrapolated from the steps before, relative to
 * the largest velocity [1]. Larger: a state that was set by hand begins far from its motion.
 * Smaller: chains that crack begin at zero. */
#define RB_SLOPE_MOST 0.5

/* Largest ratio of each further difference of the slopes of past steps to the one before it, for
 * extrapolation [1]. Larger: after a push, earlier slopes are extrapolated. Smaller: fewer of them
 * are used, and chains take an evaluation more. */
#define RB_SLOPE_SHRINK 0.5

/* Change of the slopes of two steps, relative to the slope, up to which they are used without
 * that bound [1]. Larger: a state that was set by hand begins far from its motion. Smaller: robots
 * that do not move begin at zero. */
#define RB_SLOPE_BEND 0.1

/* Tolerance of the midpoint rule where contacts pushed every tree in the step before, relative to
 * the velocity at its start [1]: impulses, which the rule does not know there, change its terms by
 * up to RB_MIDPOINT_TURN. Larger: contacts feel the iteration. Smaller: needless evaluations. */
#define RB_PUSHED_TOL 1e-9

/* Largest ratio of a change to the one before from which the next one is predicted [1].
 * Larger: the iteration may end before RB_SMOOTH_TOL is reached. */
#define RB_SMOOTH_RATE 0.1

/* Share of the tolerance below which a predicted change counts as below the tolerance [1]:
 * rates of two iterations differ by up to ten times. SURE: for RB_SMOOTH_TOL, ROUGH for what need
 * not be known so well. Larger: velocities of chains are wrong by 1e-11. Smaller: one iteration
 * more that only confirms. */
#define RB_SMOOTH_SURE  0.05
#define RB_SMOOTH_ROUGH 0.5

/* Change after two iterations above which the velocities are suspected to be what forces leave of
 * each other [1]. Larger: more iterations where that is so. Smaller: one evaluation is wasted where
 * it is not. */
#define RB_SMOOTH_SLOW 1e-3

/* Change at which it may also end when it has stopped to shrink [1]: accelerations have fewer
 * digits where the mass matrix is close to singular. Larger: energy is made there. Smaller: steps
 * fail. */
#define RB_SMOOTH_STALL 1e-9

/* Pull of the tension of a chain, relative to the inertia of a link, from which on it is taken into
 * the inertia of a step (D.39) [1]. Larger: more iterations of long chains. Smaller: work for
 * nothing where iterations contract anyway. */
#define RB_TENSION 1e-3

/* Ratio of the second change to the first above which tension is computed in chains that are not
 * long [1]. Larger: heavy loads on light chains take more iterations. Smaller: needless work. */
#define RB_TENSION_RATE 2e-2

/* Rounding of a coordinate, relative to the largest, that a midpoint shows [1]. Where springs are
 * so stiff that this rounding shows in the velocity, the iteration ends there. */
#define RB_SMOOTH_ROUNDING (16.0 * RB_EPS)

/* Pivot of the normal equations of Anderson's acceleration, unit diagonal, below which a difference
 * repeats others [1]. Larger: less acceleration. Smaller: squared rounding is mixed in. */
#define RB_ANDERSON_RANK_TOL 1e-12

/* Share of its length that a motion vector of a chain of joints must have outside the span of those
 * before it to count as another freedom [1]. Larger: near gimbal lock a joint is called stuck.
 * Smaller: rounding passes for a freedom. */
#define RB_CHAIN_RANK_TOL 1e-9

/* Distance per size of a chain [1] by which its end may miss its target frame: the error that steps
 * leave. Larger: a solution that ends elsewhere is accepted. Smaller: of two valid solutions
 * rounding chooses. */
#define RB_CHAIN_MISS 1e-6

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

/* Part of the larger of both extents and the distance by which the depth of overlapping curved
 * shapes is known before Newton's method takes over [1]. Larger: the wrong one of two nearly equal
 * directions is taken. Smaller: more steps. */
#define RB_DEPTH_COARSE 1e-4

/* The same of the depth that counts as touch [1]. Larger: gaps are wrong by this much. Smaller:
 * bodies at rest on each other cost more. */
#define RB_DEPTH_NONE 1e-11

/* The same of the depth below which nothing is left to find out [1]. Larger: gaps are wrong by this
 * much. Smaller: bodies at rest on curved shapes cost more. */
#define RB_DEPTH_FINE 1e-10

/* The same by which rounding moves the faces of a polytope that grew in the difference of thin
 * shapes [1]. Larger: more faces are tried. Smaller: the nearest one may not be the true one. */
#define RB_DEPTH_TIE 1e-9

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

/* Largest residual at which a step that missed its accuracy advances, and is counted [1]. Larger:
 * friction has visible errors. Smaller: steps are refused where one digit is missing. */
#define RB_TOL_LOOSE 1e-3

/* Distance within which a point of a tendon's path is that of a site, in units of the extent of the
 * model [1]: rounding. Larger: of two sites side by side the wrong body may be pulled. */
#define RB_PATH_POINT 1e-12

/* Default limit of the work of a step, in units of meter.h [1]: one to four seconds. Larger: a step
 * that does not end blocks the caller. Smaller: piles of thousands are refused. */
#define RB_WORK_MOST 4e6

/* Degrees of freedom beyond which that limit grows in proportion to them [1]. Larger: a hundred
 * robots are refused for what single ones may take. Smaller: a step that does not end takes longer.
 */
#define RB_WORK_DOFS 100.0

/* Gap that counts as closed, in units of the extent of the model [1]. Rounding of positions is some
 * 1e-16 of it. Larger: bodies hover by this much. Smaller: rounding of the gap, divided by the
 * step, drives bodies that rest. */
#define RB_GAP_ZERO 1e-13

/* Overlap made by steps that is repaired, by their accuracy, in units of the extent of the smaller
 * moving body of the pair [1]. Larger: curved surfaces may overlap by this much. Smaller: more
 * repairs without visible effect. */
#define RB_DEEP_STANDARD 1e-6
#define RB_DEEP_STRICT   1e-9
#define RB_DEEP_FAST     1e-4

/* The same where no pair is meant, in units of the extent of the model [1]. */
#define RB_GAP_DEEP 1e-9

/* Overlap, or excess of a limit, beyond which it is an error of the start, in units of the extent
 * of the model [1]. Smaller: what steps make and files round is corrected. Larger: it is kept. */
#define RB_GAP_OF_MODEL 1e-6

/* Overlap of a mechanism with itself that has no friction (F.7), in units of the extent of the
 * model [1]: hulls at a joint overlap by 1e-3 and more, points that touch and were rounded in a
 * file by less than this. Larger: joints of models whose hulls overlap a little are locked.
 * Smaller: fingers that touch slip through each other for a rounded digit. */
#define RB_GAP_INNER 1e-5

/* What such overlap may grow by in all, in units of the extent of the model [1] (F.8). Hinges
 * turned by 1.5708 in a file tilt faces that slide in each other by 3.7e-6. Larger: the growth is
 * seen. Smaller: such hinges are wedged, and impulses are 3e5 times what they hold. */
#define RB_GAP_GROWTH 2e-7

/* Share of its path by which a geom may leave it before pairs are searched again at the end of a
 * step [1]. Larger: more pairs are examined that do not meet. Smaller: curvature and impulses leave
 * it, and all pairs are searched. */
#define RB_NEAR_MORE 1.0

/* Share of the overlap that the second and later repairs of a chain may leave [1]; a step
 * with more is halved. Larger: repairs continue that do not end. Smaller: steps are halved where
 * one more repair would do. */
#define RB_REPAIR_GAIN 0.1

/* Ratio of masses in an island above which a step is halved before all methods of the solver are
 * tried [1]. Smaller: towers of ordinary boxes are halved where pyramids would do. Larger: single
 * problems of ten boxes take many seconds. */
#define RB_UNEVEN 1e4

/* Share of the tolerance above which a cone problem is solved again [1] (S.28).
 * Smaller: good answers are solved twice. */
#define RB_SHARP 0.1

/* Distance from its place in the round before beyond which a contact has run, in units of the
 * extent of the model [1] (S.12). Smaller: repairs have two rows where one would do. Larger: small
 * bodies that lie line to line are repaired without end. */
#define RB_PLACE_RAN 1e-3

/* Closure error made by a step that is repaired, in units of the overlap that it may make anywhere
 * in the model [1]. Newton's repair squares the error: one that meets this one often meets
 * rounding. Larger: mechanisms drift apart by this much in a step. */
#define RB_LOOP_OPEN 1e-2

/* Closure error up to which loops are part of smooth motion, unless steps may leave a tenth of it
 * or more, what that leaves of it, and with which it is content where it gets no further, in units
 * of the extent of the model [1] (S.43). CLOSED larger: errors of the start are taken off by a jolt
 * within the step. MISS smaller: rounding of long chains is chased. TINY larger: loops drift. */
#define RB_LOOP_CLOSED 1e-9
#define RB_LOOP_MISS   1e-13
#define RB_LOOP_TINY   1e-12

/* MISS where actuators drive the model and accuracy is not strict [1]: a hundredth of what a step
 * may open loops by at `standard`, of which the next step takes its share off. Larger: the velocity
 * has errors that are larger than those of the step. Smaller: one motion more in each step. */
#define RB_LOOP_MISS_DRIVEN 1e-10

/* Tolerance of the motions on the way there, as a share of what the one before missed, in units of
 * what the last one may miss and of its tolerance [1]. Larger: motions that miss by more. */
#define RB_LOOP_ROUGH 0.01

/* Length below which a step with closed loops is not divided for the sake of its energy, in units
 * of the step [1]. Smaller: dead centres, where parts do no better, cost thousands of them. */
#define RB_LOOP_SHORTEST 0.07

/* Velocity left to a row of a loop that is closed, relative to those of its parts [1]. */
#define RB_LOOP_MOVES 1e-10

/* Change of dry friction, of its bound, that is left where a joint reverses, and the share of the
 * change before that it may be (S.50) [1]. GAIN larger: a joint that hardly moves after its
 * reversal costs tens of motions. Smaller: it is left to rows, of first order. */
#define RB_SLIDE_STANDS 1e-9
/* STANDS where actuators drive the model and accuracy is not strict: that of its rows [1]. */
#define RB_SLIDE_STANDS_DRIVEN 1e-6
#define RB_SLIDE_GAIN          0.25

/* What overlap of the model may grow by in a step, in units of the extent of the model [1]:
 * rounding. Larger: it is seen after an hour. Smaller: such overlap is repaired for rounding. */
#define RB_GAP_GROW 1e-11

/* Least overlap that steps may make, in units of RB_GAP_ZERO [1]. Smaller: what is repaired for a
 * body of a thousandth of the model is rounding. */
#define RB_DEEP_LEAST 10.0

/* Change of the new position at which the fixed point of a nonlinear step ends, in units of the
 * extent of the model [1]. Larger: Table 1 of Stewart and Trinkle is missed. */
#define RB_STANDS 1e-10

/* Share of the compliance of a row that loops must leave it to count as movable [1]. Rounding of
 * the elimination leaves up to 1e-13 after long chains. Larger: stiff mechanisms lose contacts. */
#define RB_IMMOVABLE 1e-11

/* Velocity of such a row, relative to the largest of its island, that is rounding [1]. Larger:
 * mechanisms that jam are called solved. */
#define RB_IMMOVABLE_SPEED 1e-7

/* Compliance of a contact along its face, over that across it, below which its bodies cannot move
 * along each other [1] (F.22): the square of a normal that is off by 1e-7. Larger: joints with
 * gears of 1e7 lose their friction. */
#define RB_IMMOVABLE_ALONG 1e-14

/* Least compliance of a joint in a loop, relative to its compliance without the loop, that its
 * scale in a cone problem is taken from [1]. Smaller: at a dead centre tolerances are those of a
 * joint that hardly moves, and other rows create energy within them. Larger: joints of a leg with
 * loops differ by 1e6, and redundant contacts look like light ones. */
#define RB_JOINT_HELD 1e-3

/* Share of the closure error of loops that one step takes off [1]. Larger: models that start with
 * open loops are torn together and gain energy. Smaller: errors of the start last longer. */
#define RB_LOOP_SHARE 0.2

/* Share of a missed closure error that a repair may leave [1]; Newton's repair squares it, and what
 * leaves more is no matter of repairs. Smaller: loops that open fast are kept open. Larger: rows
 * that contradict each other are repaired eight times in every step. */
#define RB_LOOP_GAIN 0.5

/* Pivot of a row of loops, times their number, below which others decide it, and the closure error,
 * in units of the extent, that it then has, or what steps leave (S.40) [1]. REPEATS smaller: points
 * of one axis with the digits of a file ask for huge motions. Larger: loops that begin open lose
 * rows that they need while they pass a dead centre. DISAGREES smaller: rounding of closed loops
 * counts. */
#define RB_LOOP_REPEATS   1e-6
#define RB_LOOP_DISAGREES 1e-10

/* By how much limits and contacts are relaxed in a step whose loops leave no other answer, in units
 * of what steps may make [1]. A linkage at its dead centre amplifies rounding of one joint ten
 * thousand times in another. Larger: the gaps at the end are refused. Smaller: the noise is
 * not covered. */
#define RB_YIELD 0.25

/* The same for overlap of the model, in units of what it may grow by [1]. */
#define RB_YIELD_OVERLAP 0.5

/* The same for limits that the start is beyond, in units of that [1]: a linkage that is stretched
 * while a joint is beyond its limit cannot move. Smaller: it is jammed. */
#define RB_YIELD_ERROR 1e-3

/* Defect of v = 0, relative to the impulses that balance each other, at which an island rests [1].
 * A slope 1e-6 rad steeper than the friction angle has 1e-6. Larger: very slow creep is stopped.
 * Smaller: rounding keeps stacks moving. */
#define RB_REST_DEFECT 1e-12

/* The same below which a search for impulses that balance better begins, and its part in units of
 * the residual of the step [1]: the larger of both counts. They must lie in their cones, so that a
 * larger value costs time only. */
#define RB_REST_NEAR     1e-7
#define RB_REST_RESIDUAL 10.0

/* Share by which an impulse may be outside its cone [1]: rounding of impulses on the boundary. */
#define RB_CONE_EDGE 1e-12

/* Gap at which a contact takes part in an impact, in units of the extent of the model [1]. Larger:
 * impacts one after the other become one. Smaller: corners that land together do not. */
#define RB_TOUCH 1e-11

/* Gap at which a part of a step may end for an impact, either sign, in units of the size of the
 * model [1]: half of what touches. Larger: the impact is not seen. Smaller: more values of f. */
#define RB_ROOT (0.5 * RB_TOUCH)

/* Energy created by an impact that is rounding, relative to the work of its impulses [1]. Larger:
 * energy creeps in over many impacts. Smaller: elastic impacts are damped by rounding. */
#define RB_IMPACT_ROUNDING 1e-12

/* Contacts of an island up to which a step solves for the answer of uniform compliance. Larger:
 * piles, where the path to that answer takes up to a thousand factorisations. */
#define RB_UNIQUE_CONTACTS 100

/* The same for steppers that solve an island many times in a step. More: ten dominos that lean on
 * each other, 40 contacts, take twenty seconds for each second. */
#define RB_UNIQUE_OFTEN 8

/* Pairs of geoms that may touch, up to which a model lists them and what is known of each is kept
 * from call to call [1], and geoms up to which they are counted. Larger: states of heaps become
 * large, and a search among boxes is quicker. Smaller: hands and humanoids are searched anew. */
#define RB_MEET_MOST  4096
#define RB_MEET_GEOMS 1000

/* Geoms up to which the gaps of all pairs are kept while nothing is near [1]. Larger: pairs are as
 * many as the square of it, and in long chains two are near in most steps. */
#define RB_CLEAR_GEOMS 20

/* Overlap that counts within a step, and distance between two checks of it, as a share of the radii
 * inside of geoms [1] (S.30). Larger: corners pass through corners. Smaller: more checks. */
#define RB_THROUGH_SHARE 0.25

/* Gap that counts as closed in islands of more than RB_UNIQUE_CONTACTS, in units of the extent of
 * the model [1]. What rolls leaves gaps of 1e-8 m; rings of bodies that hold each other cannot
 * close them all, and impulses grow along a self-stress until something slips. Larger: heaps hover
 * by this much. Smaller: their problems become hard without visible effect. */
#define RB_GAP_FLAT 1e-8

/* Speed that impulses may add to a pair before it is seen, where there are more than
 * RB_UNIQUE_CONTACTS constraints, in units of the typical speed of links [1]. Larger: more rows
 * that push nothing. Smaller: a repair in most steps of a heap. */
#define RB_REACH_SHARE 0.5

/* Error of the work of restitution, relative to that of the law, at which it counts as met [1].
 * Larger: e is missed by half of this. Smaller: more problems per impact. */
#define RB_LAW_TOL 1e-10

/* Steps of free fall whose speed an impact must exceed to bounce in a fixed step [1]. A body that
 * rests arrives with the speed of one. Larger: small bounces are lost. Smaller: bodies at rest hop.
 */
#define RB_BOUNCE_STEPS 2.0

/* Distance at which bodies of `impulse` collide, in units of the radius of the smallest geom that
 * moves [1]. Larger: bodies hover by half of it. Smaller: more gap queries before each impact, and
 * contacts of curved shapes leave the shell between ticks. */
#define RB_SHELL_SHARE 2e-4

/* Longest time between ticks, at which contacts that last get their impulses [s]. Larger: bodies at
 * rest hop higher, g t^2 / 8, and slide in longer chords. Smaller: more events. */
#define RB_TICK 2e-3

/* The same where mechanisms take part [s]: between ticks their contacts bend away from their rows
 * by the third power of it, 40 nm with servos that press with 90 weights. Larger: they overlap by
 * micrometres. Smaller: more problems. */
#define RB_TICK_DRIVEN 5e-4

/* Surfaces slower than this acceleration times the step did not slide: the static coefficient acts
 * [m/s^2]. Larger: a body that begins to slide slowly is stopped again. Smaller: rounding ends the
 * sticking of contacts on moving bodies. */
#define RB_SLIP_RATE 1e-6

/* Rotation of a body in a step from which on its rows are taken at the middle of it as well [rad].
 * Larger: friction of what pivots follows one or two steps late. Smaller: two problems where one
 * would do. */
#define RB_MIDDLE_TURN 1e-4

/* Rotation in a step from which on the pose in its middle is not used [rad]: a body that hits a
 * point hard rotates around it, and half of that may be beyond a thin plate. Larger: it is then
 * seen from there, and passes through. Smaller: slowly tumbling bodies are seen as at the start. */
#define RB_MIDDLE_MOST 0.5

/* Rotation of a link in a step from which on a tree is moved by the midpoint rule with its impulses
 * [rad]: what smooth terms miss without them is this share of what the impulses change. Larger:
 * chains make energy. Smaller: robots that walk take twice the time. */
#define RB_MIDPOINT_TURN 0.01

/* Difference of the velocities of the midpoint rule and of the rows, relative to the largest, at
 * which iterations end (S.53) [1]. Larger: smooth terms create energy. Smaller: more iterations. */
#define RB_IMPULSE_TOL 1e-5

/* The same where actuators drive the model and accuracy is not strict: they add and remove far
 * more energy [1]. Larger: robots end elsewhere than with RB_IMPULSE_TOL by as much as shorter
 * steps would change. Smaller: needless iterations, half of the time of a robot that walks. */
#define RB_IMPULSE_TOL_DRIVEN 0.1

/* Share of it at which they end at once, and at which they end with rows whose impulses were not
 * tried by the rule (S.54) [1]. Larger: chains in contact gain or lose energy by the sum of what is
 * left. Smaller: one problem, or one turn, that only confirms. */
#define RB_IMPULSE_MET       0.01
#define RB_IMPULSE_PREDICTED 0.1

/* Change of the velocity by impulses, relative to the largest, from which on the energy of a
 * carried tree is checked however slowly its links rotate [1]. Larger: impacts are not reported in
 * full. Smaller: two evaluations more in steps that have nothing to report. */
#define RB_IMPULSE_IMPACT 0.1

/* The same where they end without it: modes that alternate. Larger: energy is made. Smaller: steps
 * are halved [1]. */
#define RB_IMPULSE_LOOSE 1e-3

/* Defect that iterations may have after the fourth, and the share of it after each further one [1].
 * Larger: iterations that wander are followed to their end, and the step is halved all the same.
 * Smaller: steps are halved that would have converged. */
#define RB_IMPULSE_DIVERGES 1e-2
#define RB_IMPULSE_GAIN     0.31622776601683794

/* Tolerance of the motion without contact where a chain is in contact and will be carried: its
 * impulses are found by iterations that start from it [1]. Larger: more iterations. Smaller:
 * needless evaluations. */
#define RB_IMPULSE_ROUGH 1e-4

/* The same where actuators drive the model and accuracy is not strict: extrapolation from the steps
 * before is good enough to begin the iterations with [1]. */
#define RB_IMPULSE_ROUGH_DRIVEN 1e-2

/* Tolerance of the midpoint rule within an iteration, relative to that of iterations (S.53) [1].
 * Larger: iterations are disturbed. Smaller: evaluations are wasted. */
#define RB_IMPULSE_SMOOTH 0.1

/* Residual of what holds rows in place (S.52), relative to what it was [1]. Larger: more repairs.
 * Smaller: conjugate gradients that change nothing. */
#define RB_HOLD_TOL 1e-9

/* The same in all iterations but the last, of models that actuators drive and that have no loops
 * [1]. Larger: more iterations. Smaller: conjugate gradients for what the next one changes anyway.
 */
#define RB_HOLD_TOL_ROUGH 1e-4

/* Share of a step by which a sum of steps may miss a control instant [1]. Larger: controls come a
 * step early. Smaller: the rounding of long runs makes them come a step late. */
#define RB_INSTANT_SLACK 1e-6

/* `hybrid`: a pair leaves the constraints at this multiple of the speed at which it came to them
 * [1]. Larger: what a shock shakes loose is caught again without a bounce. 1: pairs at the limit
 * shift in every step. */
#define RB_SHIFT_RATIO 2.0

#endif
