/* Geoms and meshes as they are shown: those of the model, then what is only seen. */
#ifndef RB_SHOW_SCENE_H
#define RB_SHOW_SCENE_H

#include "rattleback/show.h"

/* One geom of the scene: its model, its index there, and that of its mesh or height field in the
 * lists of the scene (-1: none). */
typedef struct scene_geom {
    const rb_model *m;
    int geom, asset;
} scene_geom;

/* What a scene shows. */
typedef struct scene {
    const rb_model *m;
    const rb_model *assets; /* whose meshes and height fields are listed */
    int ngeom;
    scene_geom *geom; /* (ngeom) */
    double *pose;     /* of bodies at the reference configuration (nbody x 7) */
} scene;

rb_status rb_show_scene_make(scene *s, const rb_model *m, const rb_model *shown); /* RB_NOMEM */
void rb_show_scene_free(scene *s);

/* Triangles of a mesh: its own, or those of its hull where it has none. vert is a pointer into the
 * model; face (nface x 3) is to be freed. */
typedef struct scene_mesh {
    int nvert, nface;
    const double *vert;
    uint32_t *face;
} scene_mesh;

rb_status rb_show_scene_mesh_make(const rb_model *m, int mesh, scene_mesh *out);

int rb_show_scene_collides(const rb_model *m, int geom);
const char *rb_show_scene_geom_word(int type);

#endif
