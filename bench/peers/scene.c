/* A scene out of an MJCF file: what rattleback reads, in terms that every engine has. */
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/rattleback.h"
#include "rattleback/load.h"

static void rotate(const double *R, const double *a, double *out)
{
    for (int i = 0; i < 3; i++) out[i] = peer_dot(R + 3 * i, a);
}

/* 1, or 0 where the joints of the link are of a kind that the comparison does not have. */
static int take_joint(const rb_model *m, const rb_data *d, int link, peer_body *b)
{
    const double *R = d->link_R + 9 * link;
    int first = m->link_jntadr[link], count = m->link_jntnum[link], j = first + count - 1;
    int type = m->jnt_type[j];
    if (type == RB_JOINT_FREE) {
        b->joint = PEER_FREE;
        return count == 1;
    }
    if (type != RB_JOINT_HINGE || (count != 1 && count != 3)) return 0;
    b->joint = count == 3 ? PEER_PLANAR : PEER_HINGE;
    b->rate = d->v[m->jnt_dofadr[j]];
    rotate(R, m->jnt_axis + 3 * j, b->axis);
    rotate(R, m->jnt_pos + 3 * j, b->anchor);
    for (int i = 0; i < 3; i++) b->anchor[i] += d->link_p[3 * link + i];
    return 1;
}

static int take_body(const rb_model *m, const rb_data *d, int link, peer_body *b)
{
    const double *I = m->link_inertia + 6 * link, *c = d->link_c + 3 * link;
    if (fabs(I[3]) + fabs(I[4]) + fabs(I[5]) > 1e-12 * (I[0] + I[1] + I[2])) return 0;
    b->mass = m->link_mass[link];
    memcpy(b->inertia, I, sizeof b->inertia);
    memcpy(b->w, d->link_w + 3 * link, sizeof b->w);
    peer_cross(b->w, c, b->v);
    for (int i = 0; i < 3; i++) {
        b->pos[i] = d->link_p[3 * link + i] + c[i];
        b->v[i] += d->link_v[3 * link + i];
    }
    peer_quat_of(d->link_R + 9 * link, b->quat);
    b->parent = m->link_parent[link] - 1;
    return take_joint(m, d, link, b);
}

static int take_geom(const rb_model *m, int k, peer_geom *g)
{
    switch (m->geom_type[k]) {
    case RB_GEOM_PLANE:
        g->shape = PEER_PLANE;
        break;
    case RB_GEOM_SPHERE:
        g->shape = PEER_SPHERE;
        break;
    case RB_GEOM_CAPSULE:
        g->shape = PEER_CAPSULE;
        break;
    case RB_GEOM_BOX:
        g->shape = PEER_BOX;
        break;
    default:
        return 0;
    }
    int link = m->geom_link[k];
    g->body = link - 1;
    g->mu = m->geom_material[k].friction;
    memcpy(g->size, m->geom_size + 3 * k, sizeof g->size);
    memcpy(g->quat, m->geom_quat + 4 * k, sizeof g->quat);
    for (int i = 0; i < 3; i++)
        g->pos[i] = m->geom_pos[3 * k + i] - (link > 0 ? m->link_com[3 * link + i] : 0.0);
    return m->link_body[link] == m->geom_body[k];
}

static void take_servos(const rb_model *m, peer_scene *s)
{
    for (int a = 0; a < m->nu; a++) {
        peer_body *b = &s->body[m->jnt_link[m->act_target[a]] - 1];
        b->kp = m->act_gain[3 * a];
        b->kd = -m->act_bias[3 * a + 2];
        s->servos = 1;
    }
}

/* Do geoms of two bodies that are not the world's touch at all? */
static int bodies_collide(const rb_model *m)
{
    for (int a = 0; a < m->ngeom; a++)
        for (int b = 0; b < m->ngeom; b++)
            if (m->geom_link[a] > 0 && m->geom_link[b] > 0 && m->geom_link[a] != m->geom_link[b] &&
                (m->geom_contype[a] & m->geom_conaffinity[b]))
                return 1;
    return 0;
}

static double time_of(const rb_model *m)
{
    int k = rb_model_find(m, RB_KIND_CUSTOM, "rb.time");
    return k >= 0 && m->custom_num[k] == 1 ? m->custom_data[m->custom_adr[k]] : 1.0;
}

static int describe(const rb_model *m, const rb_data *d, peer_scene *s)
{
    s->h = m->option.timestep;
    s->T = time_of(m);
    memcpy(s->gravity, m->option.gravity, sizeof s->gravity);
    s->nbody = m->nlink - 1;
    s->ngeom = m->ngeom;
    s->body = calloc((size_t)s->nbody + 1, sizeof *s->body);
    s->geom = calloc((size_t)s->ngeom + 1, sizeof *s->geom);
    if (!s->body || !s->geom) return 0;
    for (int i = 0; i < s->nbody; i++) {
        if (!take_body(m, d, i + 1, &s->body[i])) return 0;
        s->articulated |= s->body[i].joint == PEER_HINGE;
    }
    for (int k = 0; k < s->ngeom; k++)
        if (!take_geom(m, k, &s->geom[k])) return 0;
    take_servos(m, s);
    s->self_collide = bodies_collide(m);
    return 1;
}

static void name_of(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot) *dot = '\0';
}

peer_scene *peer_scene_read(const char *path)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read(path, NULL, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_data *d = m ? rb_data_new(m, NULL) : NULL;
    peer_scene *s = d ? calloc(1, sizeof *s) : NULL;
    int known = 0;
    if (s) {
        s->path = path;
        name_of(path, s->name, sizeof s->name);
        if (m->nkey > 0) rb_data_reset_key(m, d, 0);
        rb_kinematics(m, d);
        rb_velocity(m, d);
        known = describe(m, d, s);
    }
    if (!known) {
        fprintf(stderr, "%s:%d: %s\n", path, err.line,
                err.text[0] ? err.text : "not a scene of this comparison");
        peer_scene_free(s);
        s = NULL;
    }
    rb_data_free(d);
    if (m) rb_model_free(m, NULL);
    rb_spec_free(spec);
    return s;
}

void peer_scene_free(peer_scene *s)
{
    if (!s) return;
    free(s->body);
    free(s->geom);
    free(s);
}
