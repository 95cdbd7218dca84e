/* What the files of the URDF reader share. A robot is read in four steps: the names and the tree
 * (urdf_tree.c), then link by link in the order of the tree the body (urdf_link.c), its joint
 * (urdf_joint.c) and its geoms (urdf_geom.c), and what does not touch what (urdf_filter.c). */
#ifndef RATTLEBACK_SRC_IO_URDF_READ_H
#define RATTLEBACK_SRC_IO_URDF_READ_H

#include "io/urdf.h"

/* Leaves the function with the first status that is not RB_OK. */
#define RB_URDF_TRY(call)                                                                          \
    do {                                                                                           \
        rb_status try_status = (call);                                                             \
        if (try_status != RB_OK) return try_status;                                                \
    } while (0)

/* Order of the words in urdf_tree.c. */
typedef enum rb_urdf_type {
    RB_URDF_REVOLUTE = 0,
    RB_URDF_CONTINUOUS,
    RB_URDF_PRISMATIC,
    RB_URDF_FIXED,
    RB_URDF_FLOATING,
    RB_URDF_PLANAR,
    RB_URDF_SPHERICAL
} rb_urdf_type;

typedef struct rb_urdf_link {
    const rb_xml_node *node;
    const char *name;
    int joint;          /* that moves it, -1: the root                                       */
    int first, last;    /* joints to its children in file order, -1: none                    */
    int body;           /* in the spec, -1: not placed yet                                   */
    int fixed_to_world; /* by fixed joints alone                                             */
    int impossible;     /* its inertia has a negative principal moment                       */
} rb_urdf_link;

typedef struct rb_urdf_joint {
    const rb_xml_node *node;
    const char *name;
    rb_urdf_type type;
    int parent, child; /* links                                                                 */
    int next;          /* next joint of the same parent, -1: none                               */
    int index;         /* in the spec where it has one coordinate, else -1                      */
} rb_urdf_joint;

/* name -> index by open addressing. */
typedef struct rb_urdf_table {
    int *slot; /* -1: free */
    size_t room;
} rb_urdf_table;

/* Distinct warnings of a file; further ones are counted in the last. */
enum { RB_URDF_MAX_WARNED = 64 };

typedef struct rb_urdf {
    rb_spec *spec;
    rb_xml_doc *doc;
    const rb_load_opts *opts;
    rb_io_search search;
    rb_error *err; /* never NULL */

    int nlink, njoint, root;
    rb_urdf_link *link;
    rb_urdf_joint *joint;
    int *order; /* links as they are placed (nlink) */
    rb_urdf_table links, joints;

    const char *warned[RB_URDF_MAX_WARNED];
    int nwarned;
} rb_urdf;

/* ---- urdf.c ---- */

rb_where rb_urdf_where(const rb_xml_node *node);

/* Keeps a warning, the first with that `element` only. */
rb_status rb_urdf_warn(rb_urdf *r, const rb_xml_node *node, const char *element, int physics,
                       const char *text);

/* Warns of the children of `node` that are not in `known`, as "PREFIXname"; macros are refused. */
rb_status rb_urdf_warn_children(rb_urdf *r, const rb_xml_node *node, const char *known,
                                const char *prefix);

/* <origin xyz rpy> inside `node`; the identity where there is none. */
rb_status rb_urdf_origin(rb_urdf *r, const rb_xml_node *node, rb_pose *pose);

/* RB_OK for the index of an added element, else the status of the refusal in r->err. */
rb_status rb_urdf_added(const rb_urdf *r, int index);

/* 1: the root is fixed: no free base is wanted, or the link is only a name for the world, without
 * mass and shape, and what hangs on it is free by joints of the file. */
int rb_urdf_root_is_fixed(const rb_urdf *r, const rb_urdf_link *root);

/* ---- the steps ---- */

/* -1: none; after rb_urdf_tree */
int rb_urdf_find_link(const rb_urdf *r, const char *name);
int rb_urdf_find_joint(const rb_urdf *r, const char *name);

rb_status rb_urdf_tree(rb_urdf *r);              /* links, joints, root, order        */
rb_status rb_urdf_add_body(rb_urdf *r, int l);   /* pose, mass, inertia               */
rb_status rb_urdf_check_inertia(rb_urdf *r);     /* of bodies that move together      */
rb_status rb_urdf_add_joints(rb_urdf *r, int l); /* the joints above the body of l    */
rb_status rb_urdf_add_mimic(rb_urdf *r, int j);  /* when all joints are there         */
rb_status rb_urdf_add_geoms(rb_urdf *r, int l);  /* collisions, visuals               */
rb_status rb_urdf_add_excludes(rb_urdf *r);      /* urdf_filter.c */

#endif
