/* Tendons with armature, and the bodies that move them. */
#include "io/tendon_branches.h"

#include <stdio.h>

/* The body that joint or path element i of a tendon belongs to; -1: none. */
static int body_of(rb_spec *spec, const rb_tendon_def *def, int i)
{
    if (def->npath == 0) return rb_spec_joint(spec, def->joint[i])->body;
    const rb_wrap_def *at = &def->path[i];
    if (at->type == RB_WRAP_SITE) return rb_spec_site(spec, at->object)->body;
    return at->type == RB_WRAP_GEOM ? rb_spec_geom(spec, at->object)->body : -1;
}

static int carries(rb_spec *spec, int low, int high)
{
    while (high != low && high > 0) high = rb_spec_body(spec, high)->parent;
    return high == low;
}

static int spans_branches(rb_spec *spec, const rb_tendon_def *def)
{
    int n = def->npath > 0 ? def->npath : def->njoint;
    for (int i = 0; i < n; i++) {
        int a = body_of(spec, def, i);
        for (int j = 0; j < i && a >= 0; j++) {
            int b = body_of(spec, def, j);
            if (b >= 0 && !carries(spec, a, b) && !carries(spec, b, a)) return 1;
        }
    }
    return 0;
}

rb_status rb_io_tendon_branches(rb_spec *spec)
{
    for (int t = 0; t < rb_spec_count(spec, RB_KIND_TENDON); t++) {
        const rb_tendon_def *def = rb_spec_tendon(spec, t);
        if (!(def->armature > 0.0) || !spans_branches(spec, def)) continue;
        char text[320];
        snprintf(text, sizeof text,
                 "armature of the tendon \"%.80s\", which links on different branches move: as in "
                 "MuJoCo a joint feels it by itself and together with those that carry it, not "
                 "together with those of another branch, and energy is not kept",
                 def->name ? def->name : "");
        rb_warning warning = {
            .where = def->where, .element = "tendon/armature", .text = text, .physics = 2
        };
        return rb_spec_warn(spec, &warning);
    }
    return RB_OK;
}
