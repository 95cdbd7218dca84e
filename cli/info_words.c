#include "info.h"

const char info_friction_rule[] =
    "the larger of the two; that of the geom with the higher priority, of a <pair>, or --friction "
    "where there is one";

static const char *word(const char *const *words, int count, int k)
{
    return k >= 0 && k < count ? words[k] : "unknown";
}

const char *info_joint_word(int type)
{
    static const char *const words[] = { "free", "ball", "slide", "hinge" };
    return word(words, 4, type);
}

const char *info_geom_word(int type)
{
    static const char *const words[] = { "plane",     "hfield",   "sphere", "capsule",
                                         "ellipsoid", "cylinder", "box",    "mesh" };
    return word(words, 8, type);
}

static int is_in_pair(const rb_model *m, int geom)
{
    for (int i = 0; i < m->npair; i++) {
        int there = m->pair_geom1[i] == geom || m->pair_geom2[i] == geom;
        if (there && !m->pair_only_material[i]) return 1;
    }
    return 0;
}

const char *info_mesh_word(const rb_model *m, int geom)
{
    if (!m->geom_contype[geom] && !m->geom_conaffinity[geom] && !is_in_pair(m, geom))
        return "nothing";
    return m->geom_triangles[geom] ? "surface" : "hull";
}

const char *info_equality_word(int type)
{
    static const char *const words[] = { "connect", "weld", "joint", "tendon", "hinge", "slide" };
    return word(words, 6, type);
}

const char *info_transmission_word(int transmission)
{
    static const char *const words[] = { "joint", "jointinparent", "tendon",
                                         "site",  "slidercrank",   "body" };
    return word(words, 6, transmission);
}

rb_kind info_equality_kind(int type)
{
    if (type == RB_EQ_JOINT) return RB_KIND_JOINT;
    return type == RB_EQ_TENDON ? RB_KIND_TENDON : RB_KIND_BODY;
}

rb_kind info_transmission_kind(int transmission)
{
    if (transmission == RB_TRN_TENDON) return RB_KIND_TENDON;
    if (transmission == RB_TRN_BODY) return RB_KIND_BODY;
    int site = transmission == RB_TRN_SITE || transmission == RB_TRN_SLIDER_CRANK;
    return site ? RB_KIND_SITE : RB_KIND_JOINT;
}
