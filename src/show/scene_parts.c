/* What a scene is made of. */
#include <stdlib.h>
#include <string.h>

#include "rattleback/dynamics.h"
#include "show/quantise.h"
#include "show/scene.h"

const char *rb_show_scene_geom_word(int type)
{
    static const char *const words[] = { "plane",     "hfield",   "sphere", "capsule",
                                         "ellipsoid", "cylinder", "box",    "mesh" };
    return words[type];
}

/* An explicit pair lets geoms collide, whatever their masks are. */
int rb_show_scene_collides(const rb_model *m, int geom)
{
    if (m->geom_contype[geom] || m->geom_conaffinity[geom]) return 1;
    for (int p = 0; p < m->npair; p++) {
        int its = m->pair_geom1[p] == geom || m->pair_geom2[p] == geom;
        if (its && !m->pair_only_material[p] && !m->pair_never[p]) return 1;
    }
    return 0;
}

/* ---- meshes -------------------------------------------------------------------------------------
 */

static rb_status own_faces(const rb_model *m, int mesh, scene_mesh *out)
{
    const int *face = m->mesh_face + 3 * (ptrdiff_t)m->mesh_faceadr[mesh];
    out->nvert = m->mesh_vertnum[mesh];
    out->nface = m->mesh_facenum[mesh];
    out->vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    out->face = malloc((3 * (size_t)out->nface + 1) * sizeof *out->face);
    if (!out->face) return RB_NOMEM;
    for (ptrdiff_t i = 0; i < 3 * (ptrdiff_t)out->nface; i++) out->face[i] = (uint32_t)face[i];
    return RB_OK;
}

/* Polygons of the hull as fans. */
static rb_status hull_faces(const rb_model *m, int mesh, scene_mesh *out)
{
    int first = m->mesh_hullfaceadr[mesh], count = m->mesh_hullfacenum[mesh], n = 0;
    for (int f = first; f < first + count; f++) n += m->hull_loopnum[f] - 2;
    out->nvert = m->mesh_hullvertnum[mesh];
    out->nface = n;
    out->vert = m->hull_vert + 3 * (ptrdiff_t)m->mesh_hullvertadr[mesh];
    out->face = malloc((3 * (size_t)n + 1) * sizeof *out->face);
    if (!out->face) return RB_NOMEM;
    uint32_t *at = out->face;
    for (int f = first; f < first + count; f++) {
        const int *loop = m->hull_loop + m->hull_loopadr[f];
        for (int k = 1; k + 1 < m->hull_loopnum[f]; k++) {
            *at++ = (uint32_t)loop[0];
            *at++ = (uint32_t)loop[k];
            *at++ = (uint32_t)loop[k + 1];
        }
    }
    return RB_OK;
}

rb_status rb_show_scene_mesh_make(const rb_model *m, int mesh, scene_mesh *out)
{
    *out = (scene_mesh){ 0 };
    return m->mesh_facenum[mesh] > 0 ? own_faces(m, mesh, out) : hull_faces(m, mesh, out);
}

/* ---- geoms --------------------------------------------------------------------------------------
 */

/* The same asset in another reading of the model, by its name. */
static int same_asset(const rb_model *from, int geom, const rb_model *to)
{
    char name[4096 + 256];
    int asset = from->geom_asset[geom];
    if (asset < 0 || from == to) return asset;
    rb_kind kind = from->geom_type[geom] == RB_GEOM_MESH ? RB_KIND_MESH : RB_KIND_HFIELD;
    return rb_model_find(to, kind, rb_model_name(from, kind, asset, name, sizeof name));
}

static int is_seen_only(const rb_model *m, int geom)
{
    return m->geom_contype[geom] == 0 && m->geom_conaffinity[geom] == 0;
}

static void list_geoms(scene *s, const rb_model *shown)
{
    for (int g = 0; g < s->m->ngeom; g++)
        s->geom[s->ngeom++] = (scene_geom){ s->m, g, same_asset(s->m, g, s->assets) };
    for (int g = 0; shown && g < shown->ngeom; g++)
        if (is_seen_only(shown, g))
            s->geom[s->ngeom++] = (scene_geom){ shown, g, shown->geom_asset[g] };
}

static rb_status place_bodies(scene *s)
{
    const rb_model *m = s->m;
    rb_data *d = rb_data_new(m, NULL);
    if (!d) return RB_NOMEM;
    rb_kinematics(m, d);
    rb_frames(m, d);
    for (int b = 0; b < m->nbody; b++) {
        memcpy(s->pose + 7 * b, d->body_p + 3 * b, 3 * sizeof(double));
        rb_show_quantise_quat(d->body_R + 9 * b, s->pose + 7 * b + 3);
    }
    rb_data_free(d);
    return RB_OK;
}

/* A reading that has other bodies, or lacks an asset, is not shown. */
static int fits(const rb_model *m, const rb_model *shown)
{
    if (!shown || shown->nbody != m->nbody) return 0;
    for (int g = 0; g < m->ngeom; g++)
        if (m->geom_asset[g] >= 0 && same_asset(m, g, shown) < 0) return 0;
    return 1;
}

rb_status rb_show_scene_make(scene *s, const rb_model *m, const rb_model *shown)
{
    if (!fits(m, shown)) shown = NULL;
    *s = (scene){ .m = m, .assets = shown ? shown : m };
    size_t most = (size_t)m->ngeom + (shown ? (size_t)shown->ngeom : 0);
    s->geom = malloc((most + 1) * sizeof *s->geom);
    s->pose = malloc(7 * (size_t)m->nbody * sizeof *s->pose);
    rb_status status = s->geom && s->pose ? place_bodies(s) : RB_NOMEM;
    if (status == RB_OK)
        list_geoms(s, shown);
    else
        rb_show_scene_free(s);
    return status;
}

void rb_show_scene_free(scene *s)
{
    free(s->geom);
    free(s->pose);
    s->geom = NULL;
    s->pose = NULL;
}
