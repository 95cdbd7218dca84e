/* <camera>: nothing to simulate, but frames that sensors look from. Those that sensors name become
 * sites. */
#include "io/mjcf.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

rb_status rb_mjcf_add_camera(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    rb_mjcf_site frame = { .orient = rb_mjcf_orient_default() };
    rb_site_def def = rb_site_default();
    const char *name = rb_xml_get(node, "name"), *mode = rb_xml_get(node, "mode");
    if (!name || r->replica || (mode && strcmp(mode, "fixed") != 0)) return RB_OK;
    RB_TRY(rb_xml_numbers(node, "pos", 3, 3, frame.pos, NULL, r->err));
    RB_TRY(rb_mjcf_read_orient(r, node, &frame.orient));
    rb_mjcf_camera *camera = rb_xml_take(r->top->doc, 1, sizeof *camera);
    if (!camera) return rb_mjcf_nomem(r, node);
    rb_copy3(frame.pos, def.pose.pos);
    RB_TRY(rb_mjcf_resolve_orient(r, node, &frame.orient, def.pose.quat));
    rb_mjcf_compose(&place->frame, &def.pose, &def.pose);
    *camera = (rb_mjcf_camera){ node, place->body, def.pose, -1 };
    return rb_mjcf_map_put(r, RB_MJCF_CAMERAS, name, camera);
}

rb_status rb_mjcf_camera_site(rb_mjcf *r, const rb_xml_node *node, const char *attr, int *site)
{
    const char *name;
    *site = -1;
    RB_TRY(rb_xml_need(node, attr, &name, r->err));
    rb_mjcf_camera *camera = rb_mjcf_map_get(r, RB_MJCF_CAMERAS, name);
    if (!camera) return RB_OK;
    if (camera->site < 0) {
        rb_site_def def = rb_site_default();
        def.where = rb_mjcf_where(camera->node);
        def.body = camera->body;
        def.pose = camera->pose;
        camera->site = rb_spec_add_site(r->spec, &def, r->err);
        RB_TRY(rb_mjcf_added(r, camera->site));
    }
    *site = camera->site;
    return RB_OK;
}

/* A class that says something about cameras: their pictures may depend on it. */
static int has_classes(const rb_xml_node *node)
{
    for (const rb_xml_node *child = node->child; child; child = child->next) {
        if (!rb_xml_is(child, "default")) continue;
        if (rb_xml_child(child, "camera") || has_classes(child)) return 1;
    }
    return 0;
}

int rb_mjcf_camera_picture(const rb_mjcf *r, const char *name, double picture[4])
{
    const rb_mjcf_camera *camera = rb_mjcf_map_get(r, RB_MJCF_CAMERAS, name);
    rb_error err = { 0 };
    double size[2] = { 1.0, 1.0 }, fovy = 45.0, sensor[2] = { 0.0, 0.0 }, focal[2] = { 0.01, 0.01 };
    int by_pixel = 0;
    if (!camera || has_classes(r->doc->root)) return 0;
    const rb_xml_node *node = camera->node;
    const char *projection = rb_xml_get(node, "projection");
    if (projection && strcmp(projection, "perspective") != 0) return 0;
    if (rb_xml_numbers(node, "resolution", 2, 2, size, NULL, &err) != RB_OK ||
        rb_xml_number(node, "fovy", &fovy, &err) != RB_OK ||
        rb_xml_numbers(node, "sensorsize", 2, 2, sensor, NULL, &err) != RB_OK ||
        rb_xml_numbers(node, "focal", 2, 2, focal, NULL, &err) != RB_OK ||
        rb_xml_numbers(node, "focalpixel", 2, 2, picture, &by_pixel, &err) != RB_OK)
        return 0;
    picture[2] = 0.5 * size[0];
    picture[3] = 0.5 * size[1];
    int physical = sensor[0] > 0.0 && sensor[1] > 0.0;
    if (physical && by_pixel) return 1;
    for (int a = 0; a < 2 && physical; a++) picture[a] = focal[a] / sensor[a] * size[a];
    if (!physical) picture[0] = picture[1] = picture[3] / tan(fovy * PI / 360.0);
    return 1;
}
