/* Threads of the caller that help with one problem. They belong to an arena, as the meter does, so
 * that kernels deep inside find them. Shares of the work are fixed and sums have a fixed order:
 * the same bits for any number of members. */
#ifndef RB_BASE_TEAM_H
#define RB_BASE_TEAM_H

enum { RB_TEAM_MOST = 16 }; /* members that get a share */

typedef struct rb_team {
    int workers;
    void (*run)(void *ctx, void (*task)(void *work, int k), void *work);
    void *ctx;
} rb_team;

/* team may be NULL: one. */
static inline int rb_team_size(const rb_team *team)
{
    if (!team || team->workers < 1) return 1;
    return team->workers < RB_TEAM_MOST ? team->workers : RB_TEAM_MOST;
}

/* task(work, k) for k = 0 .. size - 1 and maybe some beyond, in any order, at the same time. */
static inline void rb_team_run(const rb_team *team, void (*task)(void *work, int k), void *work)
{
    if (rb_team_size(team) > 1)
        team->run(team->ctx, task, work);
    else
        task(work, 0);
}

#endif
