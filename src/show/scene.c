/* The scene of a model as JSON: docs/design/viewer.md. */
#include "show/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/put.h"
#include "show/quantise.h"

enum { NAME = 4096 + 256, SHORT = 65536 };

static void put_name(put *p, const rb_model *m, rb_kind kind, int i)
{
    char name[NAME];
    rb_show_put_text(p, "name", rb_model_name(m, kind, i, name, sizeof name));
}

static void put_bodies(put *p, const scene *s)
{
    const rb_model *m = s->m;
    rb_show_put_begin(p, "bodies", '[');
    for (int b = 0; b < m->nbody; b++) {
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_BODY, b);
        rb_show_put_int(p, "parent", b == 0 ? -1 : m->body_parent[b]);
        rb_show_put_number(p, "mass", m->body_mass[b]);
        rb_show_put_vector(p, "com", m->body_com + 3 * b, 3);
        rb_show_put_int(p, "moves", m->body_link[b] != 0);
        rb_show_put_vector(p, "pos", s->pose + 7 * b, 3);
        rb_show_put_vector(p, "quat", s->pose + 7 * b + 3, 4);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_geoms(put *p, const scene *s)
{
    rb_show_put_begin(p, "geoms", '[');
    for (int i = 0; i < s->ngeom; i++) {
        const rb_model *m = s->geom[i].m;
        int g = s->geom[i].geom;
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_GEOM, g);
        rb_show_put_int(p, "body", m->geom_body[g]);
        rb_show_put_text(p, "type", rb_show_scene_geom_word(m->geom_type[g]));
        rb_show_put_vector(p, "size", m->geom_size + 3 * g, 3);
        rb_show_put_vector(p, "pos", m->geom_pos + 3 * g, 3);
        rb_show_put_vector(p, "quat", m->geom_quat + 4 * g, 4);
        rb_show_put_vector(p, "rgba", m->geom_rgba + 4 * g, 4);
        rb_show_put_int(p, "group", m->geom_group[g]);
        rb_show_put_int(p, "collides", i < s->m->ngeom && rb_show_scene_collides(m, g));
        rb_show_put_int(p, "asset", s->geom[i].asset);
        rb_show_put_int(p, "surface", m->geom_triangles[g]);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

/* ---- meshes and height fields -------------------------------------------------------------------
 */

/* 16 bits for each coordinate. */
static rb_status put_vertices(put *p, const scene_mesh *mesh, rb_scene_info *info)
{
    double lo[3], hi[3];
    uint16_t *word = malloc((3 * (size_t)mesh->nvert + 1) * sizeof *word);
    if (!word) return RB_NOMEM;
    rb_show_quantise_bounds(mesh->vert, mesh->nvert, 3, lo, hi);
    for (int i = 0; i < mesh->nvert; i++) {
        double lost =
            rb_show_quantise_point(mesh->vert + 3 * (ptrdiff_t)i, lo, hi, word + 3 * (size_t)i);
        info->lost_mesh = fmax(info->lost_mesh, lost);
    }
    rb_show_put_bounds(p, "lo", lo);
    rb_show_put_bounds(p, "hi", hi);
    info->mesh_bytes += rb_show_put_u16(p, "vert_u16", word, 3 * (size_t)mesh->nvert);
    free(word);
    return RB_OK;
}

static rb_status put_faces(put *p, const scene_mesh *mesh, rb_scene_info *info)
{
    size_t n = 3 * (size_t)mesh->nface;
    if (mesh->nvert > SHORT) {
        info->mesh_bytes += rb_show_put_u32(p, "face_u32", mesh->face, n);
        return RB_OK;
    }
    uint16_t *word = malloc((n + 1) * sizeof *word);
    if (!word) return RB_NOMEM;
    for (size_t i = 0; i < n; i++) word[i] = (uint16_t)mesh->face[i];
    info->mesh_bytes += rb_show_put_u16(p, "face_u16", word, n);
    free(word);
    return RB_OK;
}

static rb_status put_mesh(put *p, const rb_model *m, int i, rb_scene_info *info)
{
    scene_mesh mesh;
    rb_status status = rb_show_scene_mesh_make(m, i, &mesh);
    if (status != RB_OK) return status;
    rb_show_put_begin(p, NULL, '{');
    put_name(p, m, RB_KIND_MESH, i);
    rb_show_put_int(p, "nvert", mesh.nvert);
    rb_show_put_int(p, "nface", mesh.nface);
    status = put_vertices(p, &mesh, info);
    if (status == RB_OK) status = put_faces(p, &mesh, info);
    rb_show_put_end(p, '}');
    free(mesh.face);
    return status;
}

static int is_used(const scene *s, int type, int asset)
{
    for (int i = 0; i < s->ngeom; i++)
        if (s->geom[i].asset == asset && s->geom[i].m->geom_type[s->geom[i].geom] == type) return 1;
    return 0;
}

/* A mesh that no geom shows keeps its place, empty. */
static rb_status put_meshes(put *p, const scene *s, rb_scene_info *info)
{
    rb_status status = RB_OK;
    rb_show_put_begin(p, "meshes", '[');
    for (int i = 0; i < s->assets->nmesh && status == RB_OK; i++) {
        if (is_used(s, RB_GEOM_MESH, i)) {
            status = put_mesh(p, s->assets, i, info);
        } else {
            rb_show_put_begin(p, NULL, '{');
            rb_show_put_int(p, "nvert", 0);
            rb_show_put_int(p, "nface", 0);
            rb_show_put_end(p, '}');
        }
    }
    rb_show_put_end(p, ']');
    return status;
}

static rb_status put_hfields(put *p, const rb_model *m, rb_scene_info *info)
{
    rb_show_put_begin(p, "hfields", '[');
    for (int i = 0; i < m->nhfield; i++) {
        size_t n = (size_t)m->hfield_nrow[i] * (size_t)m->hfield_ncol[i];
        float *elev = malloc((n + 1) * sizeof *elev);
        if (!elev) return RB_NOMEM;
        for (size_t k = 0; k < n; k++)
            elev[k] =
                (float)(m->hfield_size[4 * i + 2] * m->hfield_elev[(size_t)m->hfield_adr[i] + k]);
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_HFIELD, i);
        rb_show_put_int(p, "nrow", m->hfield_nrow[i]);
        rb_show_put_int(p, "ncol", m->hfield_ncol[i]);
        rb_show_put_vector(p, "size", m->hfield_size + 4 * i, 4);
        info->mesh_bytes += rb_show_put_f32(p, "elev_f32", elev, n);
        rb_show_put_end(p, '}');
        free(elev);
    }
    rb_show_put_end(p, ']');
    return RB_OK;
}

/* ---- the rest -----------------------------------------------------------------------------------
 */

static void put_sites(put *p, const rb_model *m)
{
    rb_show_put_begin(p, "sites", '[');
    for (int i = 0; i < m->nsite; i++) {
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_SITE, i);
        rb_show_put_int(p, "body", m->site_body[i]);
        rb_show_put_text(p, "type", rb_show_scene_geom_word(m->site_type[i]));
        rb_show_put_vector(p, "size", m->site_size + 3 * i, 3);
        rb_show_put_vector(p, "pos", m->site_pos + 3 * i, 3);
        rb_show_put_vector(p, "quat", m->site_quat + 4 * i, 4);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_joints(put *p, const rb_model *m)
{
    static const char *const words[] = { "free", "ball", "slide", "hinge" };
    rb_show_put_begin(p, "joints", '[');
    for (int j = 0; j < m->njnt; j++) {
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_JOINT, j);
        rb_show_put_text(p, "type", words[m->jnt_type[j]]);
        rb_show_put_int(p, "body", m->jnt_body[j]);
        rb_show_put_vector(p, "pos", m->jnt_pos + 3 * j, 3);
        rb_show_put_vector(p, "axis", m->jnt_axis + 3 * j, 3);
        rb_show_put_int(p, "limited", m->jnt_limited[j]);
        rb_show_put_vector(p, "range", m->jnt_range + 2 * j, 2);
        rb_show_put_int(p, "qadr", m->jnt_qadr[j]);
        rb_show_put_int(p, "dofadr", m->jnt_dofadr[j]);
        rb_show_put_number(p, "ref", m->jnt_ref[j]);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_actuators(put *p, const rb_model *m)
{
    char name[NAME];
    rb_show_put_begin(p, "actuators", '[');
    for (int c = 0; c < m->nctrl; c++) {
        rb_show_put_begin(p, NULL, '{');
        rb_show_put_text(p, "name", rb_control_name(m, c, name, sizeof name));
        rb_show_put_int(p, "control", c);
        rb_show_put_int(p, "limited", m->act_ctrl_limited[c]);
        rb_show_put_vector(p, "range", m->act_ctrl_range + 2 * c, 2);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_rest(put *p, const rb_model *m)
{
    rb_show_put_begin(p, "tendons", '[');
    for (int t = 0; t < m->ntendon; t++) {
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_TENDON, t);
        rb_show_put_int(p, "spatial", m->tendon_pathnum[t] > 0);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
    rb_show_put_begin(p, "keys", '[');
    for (int k = 0; k < m->nkey; k++) {
        rb_show_put_begin(p, NULL, '{');
        put_name(p, m, RB_KIND_KEY, k);
        rb_show_put_number(p, "time", m->key_time[k]);
        rb_show_put_end(p, '}');
    }
    rb_show_put_end(p, ']');
}

static void put_head(put *p, const rb_model *m, const char *name)
{
    rb_show_put_text(p, "format", "rattleback scene 1");
    rb_show_put_text(p, "version", RB_VERSION);
    rb_show_put_text(p, "name", name);
    rb_show_put_number(p, "extent", m->extent);
    rb_show_put_vector(p, "gravity", m->option.gravity, 3);
    rb_show_put_number(p, "timestep", m->option.timestep);
    rb_show_put_int(p, "nq", m->nq);
    rb_show_put_int(p, "nv", m->nv);
}

rb_status rb_scene_write(FILE *out, const rb_model *m, const rb_model *shown, const char *name,
                         rb_scene_info *info)
{
    scene s;
    rb_scene_info told = { 0 };
    put p = { .out = out };
    rb_status status = rb_show_scene_make(&s, m, shown);
    if (status != RB_OK) return status;
    rb_show_put_begin(&p, NULL, '{');
    put_head(&p, m, name);
    put_bodies(&p, &s);
    put_geoms(&p, &s);
    status = put_meshes(&p, &s, &told);
    if (status == RB_OK) status = put_hfields(&p, s.assets, &told);
    put_sites(&p, m);
    put_joints(&p, m);
    put_actuators(&p, m);
    put_rest(&p, m);
    rb_show_put_number(&p, "lost_mesh", told.lost_mesh);
    rb_show_put_end(&p, '}');
    rb_show_scene_free(&s);
    if (info) *info = told;
    return status == RB_OK && ferror(out) ? RB_FILE : status;
}
