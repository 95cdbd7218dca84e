/* Tendons: joint terms of fixed ones, paths of spatial ones, and the dofs that their lengths depend
 * on. A dof that carries the whole path does not change its length, and is left out. */
#include "model/build.h"

#include <limits.h>

#include "base/arena.h"
#include "math/quat.h"
#include "math/trig.h"
#include "model/path.h"

static int body_of_wrap(const rb_build *b, const rb_wrap_def *wrap)
{
    if (wrap->type == RB_WRAP_SITE) return RB_DEFS(b, site, SITE)[wrap->object].body;
    return RB_DEFS(b, geom, GEOM)[wrap->object].body;
}

/* Counts for each body how many points of the path it carries; returns the number of points. */
static int count_path_points(const rb_build *b, const rb_tendon_def *def, int *carried)
{
    int points = 0;
    memset(carried, 0, (size_t)b->m->nbody * sizeof *carried);
    for (int i = 0; i < def->npath; i++) {
        if (def->path[i].type == RB_WRAP_PULLEY) continue;
        int body = body_of_wrap(b, &def->path[i]);
        for (; body > 0; body = RB_DEFS(b, body, BODY)[body].parent) carried[body]++;
        points++;
    }
    return points;
}

int rb_tendon_moving_dofs(const rb_build *b, const rb_tendon_def *def, int *carried,
                          const int *first, int *out)
{
    static const int joint_nv[] = { [RB_JOINT_FREE] = 6, [RB_JOINT_BALL] = 3, 1, 1 };
    int points = count_path_points(b, def, carried), count = 0;
    for (int body = 1; body < b->m->nbody; body++) {
        if (carried[body] == 0 || carried[body] == points) continue;
        for (int j = b->joints.start[body]; j < b->joints.start[body + 1]; j++) {
            int n = joint_nv[RB_DEFS(b, joint, JOINT)[b->joints.order[j]].type];
            for (int i = 0; i < n && out; i++) out[count + i] = first[j] + i;
            count += n;
        }
    }
    return count;
}

rb_status rb_size_tendons(rb_build *b)
{
    rb_model *m = b->m;
    size_t wraps = 0, paths = 0, rows = 0;
    int *carried = b->carried = rb_push(b->scratch, int, m->nbody);
    if (!carried) return rb_build_nomem(b);
    for (int t = 0; t < m->ntendon; t++) {
        const rb_tendon_def *def = RB_DEFS(b, tendon, TENDON) + t;
        wraps += (size_t)def->njoint;
        paths += (size_t)def->npath;
        rows += (size_t)(def->npath > 0 ? rb_tendon_moving_dofs(b, def, carried, NULL, NULL)
                                        : def->njoint);
        m->nspatial += def->npath > 0;
    }
    if (wraps > INT_MAX || paths > INT_MAX || rows > INT_MAX)
        return rb_fail(b->err, RB_TOO_LARGE, "too many tendons for one model");
    m->nwrap = (int)wraps;
    m->npath = (int)paths;
    m->ntendonrow = (int)rows;
    return RB_OK;
}

/* ---- fixed ones ------------------------------------------------------------------------------
 */

static void fill_terms(rb_build *b, int t, int wrap, int row)
{
    rb_model *m = b->m;
    const rb_tendon_def *def = RB_DEFS(b, tendon, TENDON) + t;
    m->tendon_adr[t] = wrap;
    m->tendon_num[t] = def->njoint;
    m->tendon_length0[t] = 0.0;
    m->tendon_rownum[t] = def->njoint;
    for (int i = 0; i < def->njoint; i++) {
        int j = b->joints.at[def->joint[i]];
        m->wrap_jnt[wrap + i] = j;
        m->wrap_coef[wrap + i] = def->coef[i];
        m->tendon_dof[row + i] = m->jnt_dofadr[j];
        m->tendon_coef[row + i] = def->coef[i];
        m->tendon_length0[t] += def->coef[i] * m->qpos0[m->jnt_qadr[j]];
    }
    if (def->njoint != 1) return;

    /* of one joint: coef^2 on its dof (D.22); of more see (D.24) */
    int dof = m->tendon_dof[row];
    if (dof < m->nv) m->dof_armature[dof] += def->coef[0] * def->coef[0] * def->armature;
}

static void fill_numbers(rb_model *m, int t, const rb_tendon_def *def)
{
    m->tendon_limited[t] = def->limited != 0;
    m->tendon_stiffness[t] = def->stiffness;
    m->tendon_damping[t] = def->damping;
    m->tendon_frictionloss[t] = def->frictionloss;
    m->tendon_armature[t] = def->armature;
    m->tendon_force_limited[t] = def->force_limited != 0;
    for (int i = 0; i < 2; i++) {
        double rest = def->springlength[i];
        m->tendon_range[2 * t + i] = def->range[i];
        m->tendon_spring[2 * t + i] = isnan(rest) ? m->tendon_length0[t] : rest;
        m->tendon_stiffness_poly[2 * t + i] = def->stiffness_poly[i];
        m->tendon_damping_poly[2 * t + i] = def->damping_poly[i];
        m->tendon_force_range[2 * t + i] = def->force_range[i];
    }
}

/* A spring without a length of its own rests at the reference configuration. */
void rb_fill_tendons(rb_build *b)
{
    rb_model *m = b->m;
    int wrap = 0, path = 0, row = 0;
    for (int t = 0; t < m->ntendon; t++) {
        const rb_tendon_def *def = RB_DEFS(b, tendon, TENDON) + t;
        m->tendon_pathadr[t] = path;
        m->tendon_pathnum[t] = def->npath;
        m->tendon_rowadr[t] = row;
        fill_terms(b, t, wrap, row);
        if (def->npath > 0)
            m->tendon_rownum[t] =
                rb_tendon_moving_dofs(b, def, b->carried, m->jnt_dofadr, m->tendon_dof + row);
        fill_numbers(m, t, def);
        wrap += def->njoint;
        path += def->npath;
        row += m->tendon_rownum[t];
    }
}

/* ---- spatial ones ----------------------------------------------------------------------------
 */

/* A point of a body, in the frame of its link. */
static int to_link(const rb_model *m, int body, const double pos[3], double out[3])
{
    rb_rot(m->body_link_rot + 9 * body, pos, out);
    rb_add3(out, m->body_link_pos + 3 * body, out);
    return m->body_link[body];
}

static void fill_point(rb_build *b, const rb_wrap_def *def, rb_path *path)
{
    rb_model *m = b->m;
    *path = (rb_path){ .type = (int)def->type, .side_link = -1, .divisor = def->divisor };
    if (def->type == RB_WRAP_PULLEY) return;
    path->object = def->object;
    if (def->type == RB_WRAP_SITE) {
        int s = def->object;
        path->link = to_link(m, m->site_body[s], m->site_pos + 3 * s, path->pos);
        return;
    }
    int g = path->object = b->geoms.at[def->object], body = m->geom_body[g];
    double R[9];
    path->link = to_link(m, body, m->geom_pos + 3 * g, path->pos);
    rb_quat_to_rot(m->geom_quat + 4 * g, R);
    rb_mul33(m->body_link_rot + 9 * body, R, path->rot);
    path->cylinder = m->geom_type[g] == RB_GEOM_CYLINDER;
    path->radius = m->geom_size[3 * g];
    if (def->side < 0) return;
    path->side_link = to_link(m, m->site_body[def->side], m->site_pos + 3 * def->side, path->side);
}

/* Moves the frame p, R of a link by the distance of its joint from the reference. */
static void move_joint(const rb_model *m, int j, double x, double p[3], double R[9])
{
    const double *axis = m->jnt_axis + 3 * j, *anchor = m->jnt_pos + 3 * j;
    double r[3], half[4], turn[9], s, c;
    if (m->jnt_type[j] == RB_JOINT_SLIDE) {
        rb_rot(R, axis, r);
        rb_axpy3(x, r, p);
        return;
    }
    rb_rot(R, anchor, r);
    rb_add3(p, r, p);
    rb_sincos(0.5 * x, &s, &c);
    half[0] = c;
    for (int i = 0; i < 3; i++) half[1 + i] = s * axis[i];
    rb_quat_to_rot(half, turn);
    rb_mul33(R, turn, R);
    rb_rot(R, anchor, r);
    rb_sub3(p, r, p);
}

/* Frames of the links at the reference configuration, or where springs of joints are at rest. */
static void place_links(const rb_model *m, int rest, double *link_p, double *link_R)
{
    for (int k = 0; k < m->nlink; k++) {
        double *p = link_p + 3 * k, *R = link_R + 9 * k, turn[9];
        int up = m->link_parent[k];
        rb_quat_to_rot(m->link_quat + 4 * k, turn);
        rb_copy3(m->link_pos + 3 * k, p);
        memcpy(R, turn, sizeof turn);
        if (up >= 0) {
            rb_rot(link_R + 9 * up, m->link_pos + 3 * k, p);
            rb_add3(p, link_p + 3 * up, p);
            rb_mul33(link_R + 9 * up, turn, R);
        }
        for (int i = 0; i < m->link_jntnum[k] && rest; i++) {
            int j = m->link_jntadr[k] + i, type = m->jnt_type[j];
            if (type != RB_JOINT_HINGE && type != RB_JOINT_SLIDE) continue;
            double x = m->jnt_springref[j] - m->jnt_ref[j];
            if (x != 0.0) move_joint(m, j, x, p, R);
        }
    }
}

rb_status rb_fill_paths(rb_build *b)
{
    rb_model *m = b->m;
    if (m->nspatial == 0) return RB_OK;
    double *link_p = rb_push(b->scratch, double, 3 * (size_t)m->nlink);
    double *link_R = rb_push(b->scratch, double, 9 * (size_t)m->nlink);
    if (!link_p || !link_R) return rb_build_nomem(b);
    for (int rest = 0; rest < 2; rest++) {
        place_links(m, rest, link_p, link_R);
        for (int t = 0; t < m->ntendon; t++) {
            const rb_tendon_def *def = RB_DEFS(b, tendon, TENDON) + t;
            if (def->npath == 0) continue;
            for (int i = 0; i < def->npath && !rest; i++)
                fill_point(b, &def->path[i], m->path + m->tendon_pathadr[t] + i);
            double length = rb_path_walk(m, t, link_p, link_R, NULL, NULL);
            if (!rest) m->tendon_length0[t] = length;
            for (int i = 0; i < 2 && rest; i++) {
                if (isnan(def->springlength[i])) m->tendon_spring[2 * t + i] = length;
            }
        }
    }
    return RB_OK;
}
