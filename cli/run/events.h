/* The log of events of `rattleback run --events FILE`: CSV, or JSON lines (.jsonl). */
#ifndef RATTLEBACK_CLI_EVENTS_H
#define RATTLEBACK_CLI_EVENTS_H

#include "rattleback/step.h"
#include "rattleback/model.h"

typedef struct events events;

/* NULL after a sentence. "-": standard output. */
events *events_open(const char *path, const rb_model *m);
rb_event_sink events_sink(events *e);

/* A step has ended: its events are written where it was done, and forgotten where it failed. */
void events_step(events *e, int done);

/* 1, or 0 after a sentence: not all could be written. NULL is fine. */
int events_close(events *e);

#endif
