#include "run/jam.h"

static int kept(const rb_step_info *info)
{
    return info->njam < RB_JAM_MAX ? info->njam : RB_JAM_MAX;
}

static const char *kind_of(const rb_jam_part *part)
{
    static const char *const kinds[] = { "contact", "limit", "dry friction", "equality" };
    return kinds[part->id.kind];
}

/* The two geoms of a contact, or the joint, tendon or equality; buffers for names that are made. */
static void names_of(const rb_model *m, const rb_jam_part *part, const char *name[2],
                     char buffer[2][128])
{
    int a = part->id.a;
    name[1] = NULL;
    if (part->id.kind == 0) {
        name[0] = rb_geom_title(m, a, buffer[0], sizeof buffer[0]);
        name[1] = rb_geom_title(m, part->id.b, buffer[1], sizeof buffer[1]);
    } else if (part->id.kind == 1) {
        name[0] = a < m->njnt
                      ? rb_model_name(m, RB_KIND_JOINT, a, buffer[0], sizeof buffer[0])
                      : rb_model_name(m, RB_KIND_TENDON, a - m->njnt, buffer[0], sizeof buffer[0]);
    } else {
        name[0] = rb_model_name(m, RB_KIND_EQUALITY, a, buffer[0], sizeof buffer[0]);
    }
}

void jam_print(FILE *out, const rb_model *m, const rb_step_info *info)
{
    fprintf(out, "the self-stress, largest impulse 1:\n");
    for (int i = 0; i < kept(info); i++) {
        const rb_jam_part *part = &info->jam[i];
        const char *name[2];
        char buffer[2][128];
        names_of(m, part, name, buffer);
        fprintf(out, "  %.3f  %s %s%s%s", part->p[0], kind_of(part), name[0], name[1] ? " " : "",
                name[1] ? name[1] : "");
        if (part->id.kind == 0)
            fprintf(out, "  at %.6g %.6g %.6g", part->pos[0], part->pos[1], part->pos[2]);
        putc('\n', out);
    }
    if (info->njam > RB_JAM_MAX) fprintf(out, "  and %d more\n", info->njam - RB_JAM_MAX);
}

void jam_json(json *j, const rb_model *m, const rb_step_info *info)
{
    json_begin_list(j, "jam");
    for (int i = 0; i < kept(info); i++) {
        const rb_jam_part *part = &info->jam[i];
        const char *name[2];
        char buffer[2][128];
        names_of(m, part, name, buffer);
        json_begin(j, NULL);
        json_text(j, "kind", kind_of(part));
        json_text(j, "first", name[0]);
        if (name[1]) json_text(j, "second", name[1]);
        json_vector(j, "impulse", part->p, part->nrow);
        if (part->id.kind == 0) {
            json_vector(j, "position", part->pos, 3);
            json_matrix(j, "frame", part->frame, 3, 3);
        }
        json_end(j);
    }
    json_end_list(j);
}
