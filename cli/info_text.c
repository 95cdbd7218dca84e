/* `rattleback info` for people: the tree, then the rest of the model by kind. */
#include "info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 64, WIDEST_TREE = 44, DEEPEST_DRAWN = 16 };

/* The children of each body as linked lists, in the order of the model. */
typedef struct family {
    int *first, *next, *depth; /* (nbody), -1: none */
} family;

static void family_free(family *f)
{
    free(f->first);
    free(f->next);
    free(f->depth);
}

static int family_make(family *f, const rb_model *m)
{
    size_t n = (size_t)m->nbody;
    f->first = malloc(n * sizeof *f->first);
    f->next = malloc(n * sizeof *f->next);
    f->depth = calloc(n, sizeof *f->depth);
    if (!f->first || !f->next || !f->depth) return 0;
    for (int b = 0; b < m->nbody; b++) f->first[b] = f->next[b] = -1;
    for (int b = m->nbody - 1; b > 0; b--) {
        f->next[b] = f->first[m->body_parent[b]];
        f->first[m->body_parent[b]] = b;
    }
    for (int b = 1; b < m->nbody; b++) f->depth[b] = f->depth[m->body_parent[b]] + 1;
    return 1;
}

/* The body after b in a walk that visits children first; -1 at the end. */
static int successor(const family *f, const rb_model *m, int b)
{
    if (f->first[b] >= 0) return f->first[b];
    while (b > 0 && f->next[b] < 0) b = m->body_parent[b];
    return b > 0 ? f->next[b] : -1;
}

/* ---- text --------------------------------------------------------------------------------------
 */

/* A name without control characters. */
static const char *plain_name(const rb_model *m, rb_kind kind, int i, char buffer[NAME_ROOM])
{
    char own[NAME_ROOM];
    snprintf(buffer, NAME_ROOM, "%s", rb_model_name(m, kind, i, own, sizeof own));
    for (char *c = buffer; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    return buffer;
}

static void put_plain(FILE *out, const char *text)
{
    for (; *text; text++) putc((unsigned char)*text < 0x20 || *text == 0x7F ? '?' : *text, out);
}

/* "|  |  +- name": returns the width. Below DEEPEST_DRAWN the depth is a number. */
static int put_branch(FILE *out, const family *f, const rb_model *m, int b)
{
    int width = 0, depth = f->depth[b];
    char buffer[NAME_ROOM];
    if (depth > DEEPEST_DRAWN) {
        width += fprintf(out, "%*s(%d) ", 3 * (DEEPEST_DRAWN - 1), "", depth);
    } else if (depth > 0) {
        int line[DEEPEST_DRAWN + 1], at = depth;
        for (int a = b; a > 0; a = m->body_parent[a]) line[at--] = f->next[a] >= 0;
        for (int k = 1; k < depth; k++) width += fprintf(out, line[k] ? "|  " : "   ");
        width += fprintf(out, "+- ");
    }
    const char *name = b ? plain_name(m, RB_KIND_BODY, b, buffer) : "world";
    return width + fprintf(out, "%s", name);
}

static void put_joint(FILE *out, const rb_model *m, int k)
{
    char buffer[NAME_ROOM];
    int type = m->jnt_type[k], dof = m->jnt_dofadr[k];
    int ndof = type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
    fprintf(out, "%s %s", info_joint_word(type), plain_name(m, RB_KIND_JOINT, k, buffer));
    if (m->jnt_limited[k])
        fprintf(out, " [%.4g, %.4g] %s", m->jnt_range[2 * k], m->jnt_range[2 * k + 1],
                type == RB_JOINT_SLIDE ? "m" : "rad");
    if (ndof == 1)
        fprintf(out, "  dof %d", dof);
    else
        fprintf(out, "  dofs %d-%d", dof, dof + ndof - 1);
}

/* "  2 mesh, 1 box" */
static void put_geom_counts(FILE *out, const rb_model *m, int b)
{
    int count[RB_GEOM_MESH + 1] = { 0 };
    for (int g = 0; g < m->body_geomnum[b]; g++) count[m->geom_type[m->body_geomadr[b] + g]]++;
    const char *separator = "   ";
    for (int t = 0; t <= RB_GEOM_MESH; t++) {
        if (count[t]) fprintf(out, "%s%d %s", separator, count[t], info_geom_word(t));
        if (count[t]) separator = ", ";
    }
}

static void put_body(FILE *out, const family *f, const rb_model *m, int b)
{
    int width = put_branch(out, f, m, b);
    if (b > 0)
        fprintf(out, "%*s%10.5g kg", width < WIDEST_TREE ? WIDEST_TREE - width : 1, "",
                m->body_mass[b]);
    if (b > 0 && m->body_mocap[b] >= 0)
        fputs("   mocap", out);
    else if (b > 0 && m->body_jntnum[b] == 0)
        fputs("   fixed", out);
    for (int k = 0; k < m->body_jntnum[b]; k++) {
        if (k) fprintf(out, "\n%*s", WIDEST_TREE + 13, "");
        fputs("   ", out);
        put_joint(out, m, m->body_jntadr[b] + k);
    }
    put_geom_counts(out, m, b);
    putc('\n', out);
}

/* How each mesh that can touch something does so. */
static void put_meshes(FILE *out, const rb_model *m)
{
    int visual = 0, printed = 0;
    for (int g = 0; g < m->ngeom; g++) {
        if (m->geom_type[g] != RB_GEOM_MESH) continue;
        const char *as = info_mesh_word(m, g);
        int mesh = m->geom_asset[g], triangles = m->geom_triangles[g];
        char geom[NAME_ROOM], body[NAME_ROOM], file[NAME_ROOM];
        if (!*plain_name(m, RB_KIND_GEOM, g, geom)) snprintf(geom, sizeof geom, "%d", g);
        if (as[0] == 'n') {
            visual++;
            continue;
        }
        fprintf(out, "%s  geom %s of %s, mesh %s: %s, %d %s\n", printed++ ? "" : "\nmeshes\n", geom,
                m->geom_body[g] ? plain_name(m, RB_KIND_BODY, m->geom_body[g], body) : "world",
                plain_name(m, RB_KIND_MESH, mesh, file), as,
                triangles ? m->mesh_facenum[mesh] : m->mesh_hullvertnum[mesh],
                triangles ? "triangles" : "vertices");
    }
    if (visual && printed) fprintf(out, "  %d more touch nothing\n", visual);
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

/* Where it has several, their names too. */
static void put_controls(FILE *out, const rb_model *m, int actuator)
{
    char buffer[NAME_ROOM];
    int n = m->act_ctrlnum[actuator];
    for (int k = 0; k < n; k++) {
        int c = m->act_ctrladr[actuator] + k;
        const double *range = m->act_ctrl_range + 2 * c;
        if (n > 1) fprintf(out, "  %s", strrchr(rb_control_name(m, c, buffer, NAME_ROOM), ':') + 1);
        if (m->act_ctrl_limited[c])
            fprintf(out, "%s[%.4g, %.4g]", n > 1 ? " " : "  control ", range[0], range[1]);
    }
}

static void put_actuators(FILE *out, const rb_model *m)
{
    char buffer[NAME_ROOM];
    if (m->nu) fputs("\nactuators\n", out);
    for (int k = 0; k < m->nu; k++) {
        const double *gain = m->act_gain + 3 * k, *bias = m->act_bias + 3 * k;
        const char *name = plain_name(m, RB_KIND_ACTUATOR, k, buffer);
        if (!*name) snprintf(buffer, sizeof buffer, "actuator%d", k); /* as in records */
        fprintf(out, "  %-24s", name);
        fprintf(out, " on %s %s", info_transmission_word(m->act_transmission[k]),
                plain_name(m, info_transmission_kind(m->act_transmission[k]), m->act_target[k],
                           buffer));
        fprintf(out, "  gain %.4g", gain[0]);
        if (bias[1] != 0.0 || bias[2] != 0.0)
            fprintf(out, ", feedback %.4g position, %.4g velocity", bias[1], bias[2]);
        put_controls(out, m, k);
        putc('\n', out);
    }
}

static void put_equalities(FILE *out, const rb_model *m)
{
    char buffer[NAME_ROOM];
    if (m->neq) fputs("\nequalities\n", out);
    for (int k = 0; k < m->neq; k++) {
        rb_kind kind = info_equality_kind(m->eq_type[k]);
        fprintf(out, "  %-24s", plain_name(m, RB_KIND_EQUALITY, k, buffer));
        fprintf(out, " %s %s", info_equality_word(m->eq_type[k]),
                plain_name(m, kind, m->eq_obj1[k], buffer));
        if (m->eq_obj2[k] >= 0) fprintf(out, " - %s", plain_name(m, kind, m->eq_obj2[k], buffer));
        fputs(m->eq_active[k] ? "\n" : "  inactive\n", out);
    }
}

static void put_tendons(FILE *out, const rb_model *m)
{
    char buffer[NAME_ROOM];
    if (m->ntendon) fputs("\ntendons\n", out);
    for (int k = 0; k < m->ntendon; k++) {
        fprintf(out, "  %-24s", plain_name(m, RB_KIND_TENDON, k, buffer));
        for (int i = m->tendon_adr[k]; i < m->tendon_adr[k] + m->tendon_num[k]; i++)
            fprintf(out, " %+.4g %s", m->wrap_coef[i],
                    plain_name(m, RB_KIND_JOINT, m->wrap_jnt[i], buffer));
        if (m->tendon_pathnum[k] > 0) fprintf(out, " spatial, length %.4g m", m->tendon_length0[k]);
        putc('\n', out);
    }
}

/* Sliding coefficients of the geoms, and what becomes of two of them. */
static void put_friction(FILE *out, const rb_model *m)
{
    if (m->ngeom == 0) return;
    double least = m->geom_material[0].friction, most = least;
    for (int g = 1; g < m->ngeom; g++) {
        least = fmin(least, m->geom_material[g].friction);
        most = fmax(most, m->geom_material[g].friction);
    }
    fprintf(out, "\nfriction of geoms %.4g", least);
    if (most > least) fprintf(out, " to %.4g", most);
    fprintf(out, "; of a pair: %s\n", info_friction_rule);
}

/* Name, type, and what it is attached to. */
static void put_sensors(FILE *out, const rb_model *m)
{
    static const rb_kind kinds[] = { RB_NKIND,       RB_KIND_BODY,     RB_KIND_BODY,
                                     RB_KIND_GEOM,   RB_KIND_SITE,     RB_KIND_JOINT,
                                     RB_KIND_TENDON, RB_KIND_ACTUATOR, RB_KIND_BODY };
    if (m->nsensor) fputs("\nsensors\n", out);
    for (int i = 0; i < m->nsensor; i++) {
        char buffer[128], name[NAME_ROOM];
        rb_kind kind = kinds[m->sensor_object[i]];
        const char *word = rb_sensor_word((rb_sensor_type)m->sensor_type[i]);
        if (!*plain_name(m, RB_KIND_SENSOR, i, name))
            snprintf(name, sizeof name, "%s.%d", word, i); /* as in records */
        const char *of = m->sensor_index[i] < 0 || kind == RB_NKIND
                             ? ""
                             : rb_model_name(m, kind, m->sensor_index[i], buffer, sizeof buffer);
        fprintf(out, "  %-24s %-18s %s\n", name, word, of);
    }
}

static void put_keys(FILE *out, const rb_model *m)
{
    char buffer[NAME_ROOM];
    if (m->nkey) fputs("\nkeyframes\n ", out);
    for (int k = 0; k < m->nkey; k++) {
        const char *name = plain_name(m, RB_KIND_KEY, k, buffer);
        if (*name)
            fprintf(out, " %s", name);
        else
            fprintf(out, " %d", k);
    }
    if (m->nkey) putc('\n', out);
}

static void put_warnings(FILE *out, const rb_model *m)
{
    if (m->nwarning) fputs("\nread, but without effect or worth knowing\n", out);
    for (int k = 0; k < m->nwarning; k++) {
        fputs("  ", out);
        put_plain(out, m->names + m->warning_file[k]);
        fprintf(out, ":%d: ", m->warning_line[k]);
        put_plain(out, m->names + m->warning_element[k]);
        fputs(": ", out);
        put_plain(out, m->names + m->warning_text[k]);
        fputs(m->warning_physics[k] == 1 ? " (changes the motion)\n" : "\n", out);
    }
}

static void put_totals(FILE *out, const info *in)
{
    const rb_model *m = in->m;
    fprintf(out,
            "\nbodies %d, joints %d, coordinates %d, degrees of freedom %d, geoms %d, trees %d\n",
            m->nbody - 1, m->njnt, m->nq, m->nv, m->ngeom, m->ntree);
    fprintf(out, "mass %.9g kg, centre of mass %.6g %.6g %.6g m\n", m->mass, in->com[0], in->com[1],
            in->com[2]);
}

int info_text(FILE *out, const info *in)
{
    family f = { 0 };
    if (!family_make(&f, in->m)) {
        family_free(&f);
        return 0;
    }
    for (int b = 0; b >= 0; b = successor(&f, in->m, b)) put_body(out, &f, in->m, b);
    put_meshes(out, in->m);
    put_actuators(out, in->m);
    put_equalities(out, in->m);
    put_tendons(out, in->m);
    put_sensors(out, in->m);
    put_friction(out, in->m);
    put_keys(out, in->m);
    put_warnings(out, in->m);
    put_totals(out, in);
    family_free(&f);
    return 1;
}
