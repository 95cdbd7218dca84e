/* `rattleback compute --what toi`: the next impact of a model. */
#include "compute.h"

#include "rattleback/impact.h"

static void put_pair(computation *c, const rb_impact_time *next)
{
    char name[128];
    const rb_toi *toi = &next->toi;
    json_text(&c->out, "geom1", rb_model_name(c->m, RB_KIND_GEOM, next->geom1, name, sizeof name));
    json_text(&c->out, "geom2", rb_model_name(c->m, RB_KIND_GEOM, next->geom2, name, sizeof name));
    json_number(&c->out, "gap", toi->at.gap);
    json_vector(&c->out, "normal", toi->at.normal, 3);
    json_vector(&c->out, "pos1", toi->at.pos1, 3);
    json_vector(&c->out, "pos2", toi->at.pos2, 3);
}

rb_status compute_put_toi(computation *c, const char *name)
{
    static const char *const words[] = { "none", "hit", "overlap", "grazes", "unfinished" };
    rb_impact_time next;
    rb_status status = rb_impact_predict(c->m, c->d, c->horizon, &next, &c->err);
    if (status != RB_OK) return status;
    json_begin(&c->out, name);
    json_text(&c->out, "outcome", words[next.toi.outcome]);
    if (next.toi.outcome == RB_TOI_NONE)
        json_null(&c->out, "time");
    else
        json_number(&c->out, "time", next.toi.time);
    json_number(&c->out, "horizon", c->horizon);
    json_int(&c->out, "pairs", next.pairs);
    json_int(&c->out, "overlaps", next.overlaps);
    if (next.toi.outcome != RB_TOI_NONE) put_pair(c, &next);
    json_end(&c->out);
    return RB_OK;
}
