/* Random scenes as MJCF text, from a seed: what the campaign of steps runs, and what a user can
 * keep as a file and run again. */
#ifndef RB_BENCH_STEPS_SCENE_H
#define RB_BENCH_STEPS_SCENE_H

#include <stddef.h>
#include <stdint.h>

typedef enum steps_family {
    STEPS_STACK = 0, /* boxes on boxes, mass ratios up to 1e4, some off centre               */
    STEPS_WEDGE,     /* bodies between two walls that lean towards each other                */
    STEPS_SLOPE,     /* bodies on a floor that leans, near the friction angle or far from it */
    STEPS_PILE,      /* boxes, capsules and spheres that fall on each other                  */
    STEPS_CHAIN,     /* articulated chains that fall to the floor                            */
    STEPS_CREATURE,  /* random trees with all kinds of joints, limits, springs, motors; limbs
                        that overlap at the start do not collide                             */
    STEPS_LOOP,      /* closed linkages with feet on the floor                               */
    STEPS_TANGLE,    /* creatures whose overlapping limbs do collide: many are jammed for good
                        reason, so that this family is run only where it is asked for        */
    STEPS_FAMILIES
} steps_family;

const char *steps_family_name(int family);
int steps_family_find(const char *name); /* -1: none */

enum { STEPS_DRAWN = STEPS_TANGLE }; /* families that a seed draws from */
enum { STEPS_SCENE_MAX = 64 * 1024 };

/* Writes the scene of a seed; family -1: drawn from the seed. Returns the family, -1: no room. */
int steps_scene_write(uint64_t seed, int family, char *text, size_t size);

#endif
