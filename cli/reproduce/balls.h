/* The four balls: what their parts share. */
#ifndef RATTLEBACK_CLI_REPRODUCE_BALLS_H
#define RATTLEBACK_CLI_REPRODUCE_BALLS_H

#include "reproduce/reproduce.h"

#define BALLS_SCENE "contact/four_balls.xml"

enum { NBALL = 4 };

/* Figure 6: impulses through the line of balls in the step of the collision. */
void reproduce_cascade(reproduce *r, const char *options);

#endif
