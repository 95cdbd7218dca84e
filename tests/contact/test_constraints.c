/* Rows of constraints against finite differences, islands and materials by hand, and steps in which
 * every allocation fails in turn. */
#include "base/arena.h"
#include "contact/contact.h"
#include "step_support.h"

enum { MAX_V = 40, MAX_Q = 48, MAX_CONTACTS = 64 };

/* ---- a set --------------------------------------------------------------------------------------
 */

typedef struct rows {
    int ncontact;
    rb_contact contacts[MAX_CONTACTS];
    rb_constraints set;
} rows;

/* Rows at the present state, with everything within a long reach. */
static void open_rows(scene *s, double h, double dv, rows *r)
{
    rb_error err = { 0 };
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    CHECK_INT(rb_collide(s->m, s->d, h, dv, MAX_CONTACTS, r->contacts, &r->ncontact, &err), RB_OK);
    CHECK_INT(rb_constraints_build(s->m, s->d, &s->o, h, dv, r->contacts, r->ncontact, NULL,
                                   &r->set),
              RB_OK);
}

static void dense_row(const rb_constraints *set, const rb_constraint *c, int r, int nv, double *J)
{
    memset(J, 0, (size_t)nv * sizeof *J);
    for (int k = 0; k < c->ndof; k++)
        J[set->dof[c->dof + k]] += set->J[c->block + (ptrdiff_t)r * c->ndof + k];
}

static const rb_constraint *find(const rb_constraints *set, int kind, int a, int b)
{
    for (int i = 0; i < set->n; i++) {
        const rb_touch_id *id = &set->c[i].id;
        if ((int)id->kind == kind && id->a == a && id->b == b) return &set->c[i];
    }
    return NULL;
}

/* ---- rows ---------------------------------------------------------------------------------------
 */

#define HEAD  "<mujoco><option timestep='0.002'/><worldbody>"
#define FLOOR "<geom type='plane' size='5 5 1'/>"

/* Two spheres meet between two arms, with a ball joint, limits and a tendon. */
static const char *const mixed = HEAD FLOOR
    "<body pos='0 0 1'><joint name='a' type='hinge' axis='0 1 0' limited='true' "
    "range='-100 100'/><geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.04'/>"
    "<body pos='0.4 0 0'><joint name='b' type='slide' axis='0.6 0 0.8'/>"
    "<geom type='sphere' size='0.1' mass='0.7'/></body></body>"
    "<body pos='0.7 0.03 1.02'><joint name='c' type='ball' limited='true' "
    "range='0 40'/><geom type='sphere' size='0.12' pos='-0.05 0 0.01' mass='0.4'/></body>"
    "<body pos='-1 0 0.3'><freejoint/><geom type='sphere' size='0.2'/></body>"
    "</worldbody><tendon><fixed limited='true' range='-0.4 0.5'><joint joint='a' "
    "coef='0.5'/><joint joint='b' coef='-2'/></fixed></tendon></mujoco>";

static scene mixed_scene(void)
{
    scene s = scene_text(mixed);
    s.d->q[0] = 0.07;
    s.d->q[1] = -0.03;
    double quat[4] = { 0.96, 0.1, -0.2, 0.15 };
    memcpy(s.d->q + 2, quat, sizeof quat);
    rb_normalize(s.m, s.d->q);
    return s;
}

/* The gap of the constraint with the same identity after q (+) h v. */
static double gap_after(scene *s, const double *q, const double *v, double h, const rb_touch_id *id)
{
    rows r;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_integrate(s->m, q, v, h, s->d->q);
    open_rows(s, 10.0, 10.0, &r);
    double gap = NAN;
    for (int i = 0; i < r.set.n; i++) {
        const rb_touch_id *at = &r.set.c[i].id;
        if (at->kind == id->kind && at->a == id->a && at->b == id->b && at->c == id->c)
            gap = r.set.c[i].gap;
    }
    rb_arena_reset(s->d->arena, mark);
    return gap;
}

TEST(normal_rows_are_the_gradient_of_the_gap)
{
    scene s = mixed_scene();
    double q[MAX_Q], J[MAX_V], v[MAX_V];
    int kinds[4] = { 0 };
    memcpy(q, s.d->q, (size_t)s.m->nq * sizeof *q);
    rows r;
    open_rows(&s, 10.0, 10.0, &r);
    for (int i = 0; i < r.set.n; i++) {
        const rb_constraint *c = &r.set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT) continue;
        kinds[c->kind]++;
        dense_row(&r.set, c, 0, s.m->nv, J);
        for (int j = 0; j < s.m->nv; j++) {
            memset(v, 0, sizeof v);
            v[j] = 1.0;
            double h = 1e-5, up = gap_after(&s, q, v, h, &c->id);
            double slope = (up - gap_after(&s, q, v, -h, &c->id)) / (2.0 * h);
            CHECK_NEAR(J[j], slope, 1e-8);
        }
    }
    CHECK(kinds[RB_CONSTRAINT_CONTACT] >= 3);
    CHECK_INT(kinds[RB_CONSTRAINT_LIMIT], 5); /* hinge 2, ball 1, tendon 2 */
    scene_free(&s);
}

/* Gaps of limits by hand: the ball has turned by 2 atan(|v| / w), the tendon is 0.5 a - 2 b. */
TEST(gaps_of_ball_and_tendon_limits)
{
    scene s = mixed_scene();
    rows r;
    open_rows(&s, 10.0, 10.0, &r);
    double norm = sqrt(0.1 * 0.1 + 0.2 * 0.2 + 0.15 * 0.15), length = 0.5 * 0.07 + 2.0 * 0.03;
    const rb_constraint *ball = find(&r.set, RB_CONSTRAINT_LIMIT, 2, 0);
    CHECK(ball && find(&r.set, RB_CONSTRAINT_LIMIT, 4, 0) &&
          find(&r.set, RB_CONSTRAINT_LIMIT, 4, 1));
    CHECK_NEAR(ball->gap, 40.0 / 180.0 * 3.141592653589793 - 2.0 * atan2(norm, 0.96), 1e-14);
    CHECK_NEAR(find(&r.set, RB_CONSTRAINT_LIMIT, 4, 0)->gap, length + 0.4, 1e-15);
    CHECK_NEAR(find(&r.set, RB_CONSTRAINT_LIMIT, 4, 1)->gap, 0.5 - length, 1e-15);
    scene_free(&s);
}

/* The witness point of one side in the plane of the closest contact that is beside it in the list,
 * between the same two links and with the same normal (F.6). */
static void acting_point(const scene *s, const rows *r, int i, int side, double x[3])
{
    const rb_contact *own = &r->contacts[i], *closest = own;
    for (int way = -1; way <= 1; way += 2) {
        for (int j = i; j >= 0 && j < r->set.ncontact; j += way) {
            const rb_contact *c = &r->contacts[j];
            if (s->m->geom_link[c->geom1] != s->m->geom_link[own->geom1] ||
                s->m->geom_link[c->geom2] != s->m->geom_link[own->geom2] ||
                memcmp(c->at.normal, own->at.normal, sizeof c->at.normal) != 0)
                break;
            if (c->at.gap < closest->at.gap) closest = c;
        }
    }
    const double *at = side ? own->at.pos2 : own->at.pos1, *n = own->at.normal;
    const double *plane = side ? closest->at.pos2 : closest->at.pos1;
    double above = 0.0;
    for (int a = 0; a < 3; a++) above += n[a] * (at[a] - plane[a]);
    for (int a = 0; a < 3; a++) x[a] = at[a] - above * n[a];
}

/* Tangential rows: the relative velocity of the two points that are acted on, from their motion. */
TEST(tangent_rows_are_the_motion_of_the_points)
{
    scene s = mixed_scene();
    const double h = 1e-6;
    double q[MAX_Q], v[MAX_V], u[256];
    memcpy(q, s.d->q, (size_t)s.m->nq * sizeof *q);
    for (int j = 0; j < s.m->nv; j++) v[j] = s.d->v[j] = 0.3 * ((j * 5) % 7) - 0.8;
    rows r;
    open_rows(&s, 10.0, 10.0, &r);
    rb_constraints_velocity(&r.set, v, u);
    for (int i = 0; i < r.set.ncontact; i++) {
        const rb_constraint *c = &r.set.c[i];
        double moved[3] = { 0.0 };
        for (int side = 0; side < 2; side++) {
            int geom = side ? c->id.b : c->id.a;
            double at[3], local[3], x[3];
            acting_point(&s, &r, i, side, at);
            rb_integrate(s.m, q, v, 0.0, s.d->q);
            rb_kinematics(s.m, s.d);
            rb_frames(s.m, s.d);
            for (int a = 0; a < 3; a++) {
                local[a] = 0.0;
                for (int b = 0; b < 3; b++) {
                    local[a] +=
                        s.d->geom_R[9 * geom + 3 * b + a] * (at[b] - s.d->geom_p[3 * geom + b]);
                }
            }
            for (int end = -1; end <= 1; end += 2) {
                rb_integrate(s.m, q, v, end * h, s.d->q);
                rb_kinematics(s.m, s.d);
                rb_frames(s.m, s.d);
                for (int a = 0; a < 3; a++) {
                    x[a] = s.d->geom_p[3 * geom + a];
                    for (int b = 0; b < 3; b++)
                        x[a] += s.d->geom_R[9 * geom + 3 * a + b] * local[b];
                    moved[a] += (side ? 1.0 : -1.0) * end * x[a] / (2.0 * h);
                }
            }
        }
        for (int k = 0; k < 3; k++) {
            const double *axis = r.set.frame + 9 * i + 3 * k;
            double along = axis[0] * moved[0] + axis[1] * moved[1] + axis[2] * moved[2];
            CHECK_NEAR(u[c->row + k], along, 1e-8);
        }
    }
    scene_free(&s);
}

/* W of an island against J M^-1 J' with M^-1 applied column by column. */
TEST(compliance_of_an_island)
{
    scene s = mixed_scene();
    rows r;
    open_rows(&s, 10.0, 10.0, &r);
    rb_mass(s.m, s.d);
    CHECK_INT(rb_mass_factor(s.m, s.d), RB_OK);
    int nv = s.m->nv, seen = 0;
    for (int k = 0; k < r.set.nisland; k++) {
        rb_island is;
        CHECK_INT(rb_island_open(s.m, s.d, &r.set, k, 0.002, s.d->arena, &is), RB_OK);
        CHECK_INT(is.W.form, RB_DENSE);
        for (int a = 0; a < is.n; a++) {
            for (int ra = 0; ra < is.c[a]->nrow; ra++) {
                double x[MAX_V], J[MAX_V];
                dense_row(&r.set, is.c[a], ra, nv, x);
                rb_mass_solve(s.m, s.d, x);
                for (int b = 0; b < is.n; b++) {
                    for (int rb = 0; rb < is.c[b]->nrow; rb++, seen++) {
                        double sum = 0.0;
                        dense_row(&r.set, is.c[b], rb, nv, J);
                        for (int j = 0; j < nv; j++) sum += J[j] * x[j];
                        int at = is.row[a] + ra, to = is.row[b] + rb;
                        CHECK_NEAR(is.W.dense[at * is.nrow + to], sum,
                                   1e-11 * fmax(1.0, fabs(sum)));
                        CHECK(is.W.dense[at * is.nrow + to] == is.W.dense[to * is.nrow + at]);
                    }
                }
            }
        }
    }
    CHECK(seen > 100);
    scene_free(&s);
}

enum { CHAIN = 40 };

/* Spheres on hinges about two axes, which touch the floor only. */
static scene long_chain(void)
{
    static char text[200 * CHAIN + 400];
    char *at = text;
    at += sprintf(at, "<mujoco><default><geom conaffinity='0'/></default><worldbody>"
                      "<geom type='plane' size='9 9 1' conaffinity='1'/>");
    for (int k = 0; k < CHAIN; k++)
        at +=
            sprintf(at,
                    "<body pos='0.1 0 %s'><joint axis='0 %d %d'/><geom pos='0.1 0 0' size='.04'/>",
                    k == 0 ? "0.5" : "0", k % 3 > 0, k % 3 == 0);
    for (int k = 0; k < CHAIN; k++) at += sprintf(at, "</body>");
    sprintf(at, "</worldbody></mujoco>");
    return scene_text(text);
}

/* Where the geom that can move is touched. */
static rb_point touched(const scene *s, const rb_contact *c)
{
    rb_point point = { .body = s->m->geom_body[c->geom2] };
    memcpy(point.pos, c->at.pos2, sizeof point.pos);
    return point;
}

/* W of a long chain by the factor of M, and by the recursion that knows no M (D.17), in the frames
 * of the contacts. */
TEST(compliance_of_a_chain_by_two_methods)
{
    scene s = long_chain();
    static rows r;
    static rb_point points[CHAIN];
    static double W[9 * CHAIN * CHAIN];
    rb_rng rng = rb_rng_make(7);
    for (int j = 0; j < s.m->nv; j++) s.d->q[j] += rb_rng_uniform(&rng, -0.01, 0.01);
    open_rows(&s, 10.0, 10.0, &r);
    rb_mass(s.m, s.d);
    CHECK_INT(rb_mass_factor(s.m, s.d), RB_OK);
    rb_island is;
    CHECK_INT(r.set.nisland, 1);
    CHECK_INT(rb_island_open(s.m, s.d, &r.set, 0, 0.001, s.d->arena, &is), RB_OK);
    CHECK_INT(is.n, CHAIN);
    for (int a = 0; a < is.n; a++) points[a] = touched(&s, &r.contacts[is.c[a]->object]);
    CHECK_INT(rb_aba_factor(s.m, s.d, NULL, NULL), RB_OK);
    rb_upsilon(s.m, s.d);
    CHECK_INT(rb_compliance(s.m, s.d, is.n, points, W), RB_OK);
    int ld = 3 * is.n;
    for (int i = 0; i < ld * ld; i++) {
        int a = i / ld / 3, b = i % ld / 3;
        const double *e = r.set.frame + 9 * is.c[a]->object + 3 * (i / ld % 3);
        const double *f = r.set.frame + 9 * is.c[b]->object + 3 * (i % ld % 3);
        double sum = 0.0;
        for (int k = 0; k < 9; k++)
            sum += e[k / 3] * W[(3 * a + k / 3) * ld + 3 * b + k % 3] * f[k % 3];
        CHECK_NEAR(is.W.dense[i], sum, 1e-10);
    }
    scene_free(&s);
}

/* ---- islands ------------------------------------------------------------------------------------
 */

#define BALL(x, z)                                                                                 \
    "<body pos='" x " 0 " z "'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"

/* Trees 0 and 3 touch each other, 1 and 4 the floor, 2 nothing; the floor connects nobody. */
TEST(islands_by_hand)
{
    scene s = scene_text(HEAD FLOOR BALL("0", "1") BALL("1", "0.1") BALL("2", "2") BALL("0.2", "1")
                             BALL("4", "0.1") "</worldbody></mujoco>");
    rows r;
    open_rows(&s, 1e-6, 1.0, &r);
    CHECK_INT(r.set.n, 3);
    CHECK_INT(r.set.nisland, 3);
    const int expected[5] = { 0, 1, -1, 0, 2 };
    for (int t = 0; t < 5; t++) CHECK_INT(r.set.tree_island[t], expected[t]);
    for (int k = 0; k <= 3; k++) CHECK_INT(r.set.island_start[k], k);
    for (int k = 0; k < 3; k++) CHECK_INT(r.set.c[r.set.island_order[k]].island, k);
    scene_free(&s);
}

/* What the next step searches by bisection must be sorted. */
TEST(touches_are_ascending)
{
    scene s = mixed_scene();
    s.d->q[6 + 2] = 0.2; /* the free ball lies on the floor */
    for (int i = 0; i < 50; i++) {
        scene_step(&s);
        for (int k = 1; k < s.d->ntouch; k++) {
            const rb_touch_id *x = &s.d->touch[k - 1].id, *y = &s.d->touch[k].id;
            const long long a[4] = { x->kind, x->a, x->b, x->c },
                            b[4] = { y->kind, y->a, y->b, y->c };
            int at = 0;
            while (at < 3 && a[at] == b[at]) at++;
            CHECK(a[at] < b[at]);
        }
    }
    CHECK(s.d->ntouch > 0);
    scene_free(&s);
}

/* ---- materials ----------------------------------------------------------------------------------
 */

static const char *const materials = HEAD
    "<geom name='f' type='plane' size='5 5 1' friction='0.5 0.01 0.002'/>"
    "<body><freejoint/><geom name='g' type='sphere' size='0.1' friction='0.3 0.02 0.001' "
    "condim='4'/></body><body><freejoint/><geom name='p' type='sphere' size='0.1' "
    "friction='0.2 0 0' priority='1' condim='1'/></body>"
    "<body><freejoint/><geom name='e' type='sphere' size='0.1'/></body></worldbody>"
    "<contact><pair geom1='e' geom2='f' friction='0.9 0.9 0.03 0.004 0.004' condim='6'/></contact>"
    "<custom><numeric name='rb.restitution/f' data='0.1'/>"
    "<numeric name='rb.restitution/p' data='0.3'/>"
    "<numeric name='rb.friction_static/g' data='0.4'/></custom></mujoco>";

TEST(material_of_a_pair)
{
    scene s = scene_text(materials);
    int f = rb_model_find(s.m, RB_KIND_GEOM, "f"), g = rb_model_find(s.m, RB_KIND_GEOM, "g");
    int p = rb_model_find(s.m, RB_KIND_GEOM, "p"), e = rb_model_find(s.m, RB_KIND_GEOM, "e");
    CHECK(f >= 0 && g >= 0 && p >= 0 && e >= 0);
    rb_material x;
    int owner;

    /* the larger of each; who has no static coefficient holds by the kinetic one: 0.5, not 0.4 */
    CHECK_INT(rb_pair_material(s.m, f, g, &s.o, &x, &owner), 4);
    CHECK(x.friction == 0.5 && x.friction_torsion == 0.02 && x.friction_roll == 0.002);
    CHECK(x.friction_static == 0.5 && x.restitution == 0.1);

    /* priority decides on friction and condim, restitution is the larger */
    CHECK_INT(rb_pair_material(s.m, f, p, &s.o, &x, &owner), 1);
    CHECK(x.friction == 0.2 && x.friction_static == 0.2 && x.restitution == 0.3);

    /* the explicit pair outweighs, in either order */
    for (int order = 0; order < 2; order++) {
        CHECK_INT(rb_pair_material(s.m, order ? e : f, order ? f : e, &s.o, &x, &owner), 6);
        CHECK(x.friction == 0.9 && x.friction_static == 0.9 && x.friction_torsion == 0.03);
        CHECK(x.friction_roll == 0.004 && x.restitution == 0.1);
    }

    /* options outweigh all */
    s.o.friction = 0.7;
    s.o.restitution = 0.0;
    rb_pair_material(s.m, f, e, &s.o, &x, &owner);
    CHECK(x.friction == 0.7 && x.friction_static == 0.7 && x.restitution == 0.0);
    scene_free(&s);
}

/* Without friction across its grain a block slides there as on ice, and holds along it. */
TEST(no_friction_across_the_grain)
{
    const char *const text = "<mujoco><option timestep='0.001' gravity='%s -9.81'/><worldbody>"
                             "<geom type='plane' size='5 5 1' friction='0.1'/>"
                             "<body pos='0 0 0.1'><freejoint/><geom name='g' type='box' "
                             "size='0.1 0.1 0.1' friction='0.6'/></body></worldbody><custom>"
                             "<numeric name='rb.friction_across/g' data='0'/>"
                             "<numeric name='rb.grain/g' data='1 0 0'/></custom></mujoco>";
    const char *const names[] = { "cone", "anitescu-potra" };
    for (int k = 0; k < 4; k++) {
        char buffer[1024];
        snprintf(buffer, sizeof buffer, text, k % 2 ? "0 1" : "1 0");
        scene s = scene_text(buffer);
        s.o.formulation = rb_formulation_find(names[k / 2]);
        scene_run(&s, 0.1);
        CHECK_NEAR(s.d->v[0], 0.0, 1e-12);
        CHECK_NEAR(s.d->v[1], k % 2 ? 0.1 : 0.0, 1e-12);
        scene_free(&s);
    }
}

/* ---- limits in steps ----------------------------------------------------------------------------
 */

/* A ball joint hit fast turns to its limit and no further, whatever the axis. */
TEST(a_ball_joint_stops_at_its_limit)
{
    const char *const text =
        "<mujoco><option timestep='0.002'/><worldbody><body pos='0 0 1'>"
        "<joint type='ball' limited='true' range='0 60'/>"
        "<geom type='capsule' fromto='0 0 0 0.1 0.05 -0.4' size='0.05'/></body>"
        "</worldbody></mujoco>";
    for (int k = 0; k < 4; k++) {
        scene s = scene_text(text);
        double most = 0.0;
        for (int j = 0; j < 3; j++) s.d->v[j] = 6.0 * (j == k) + 3.0 * (k == 3) + 1.0;
        for (int i = 0; i < 500; i++) {
            scene_step(&s);
            double *q = s.d->q, norm = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
            most = fmax(most, 2.0 * atan2(norm, fabs(q[0])));
        }
        double limit = 3.141592653589793 / 3.0;
        CHECK(most > 0.9 * limit);
        CHECK(most <= limit + 1e-6 * s.m->extent); /* of all steps together (S.17) */
        scene_free(&s);
    }
}

/* Two slides coupled by a tendon that may not lengthen: they stop together. */
TEST(a_tendon_stops_at_its_limit)
{
    scene s =
        scene_text("<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
                   "<body><joint name='a' type='slide' axis='1 0 0'/><geom type='sphere' "
                   "size='0.1' mass='1'/></body><body pos='0 3 0'><joint name='b' "
                   "type='slide' axis='1 0 0'/><geom type='sphere' size='0.1' mass='3'/></body>"
                   "</worldbody><tendon><fixed limited='true' range='-1 0.5'><joint joint='a' "
                   "coef='1'/><joint joint='b' coef='-1'/></fixed></tendon></mujoco>");
    s.d->v[0] = 2.0;
    scene_run(&s, 1.0);
    CHECK_NEAR(s.d->v[0], 0.5, 1e-12); /* momentum is kept */
    CHECK_NEAR(s.d->v[1], 0.5, 1e-12);
    CHECK_NEAR(s.d->q[0] - s.d->q[1], 0.5, 1e-12);
    scene_free(&s);
}

/* ---- memory -------------------------------------------------------------------------------------
 */

static const char *const busy = HEAD FLOOR
    "<body name='a' pos='0 0 0.1'><freejoint/><geom type='box' size='0.2 0.1 0.1'/></body>"
    "<body name='b' pos='0.45 0.02 0.1'><freejoint/><geom type='sphere' size='0.1'/></body>"
    "<body pos='0 1 0.1'><freejoint/><geom type='capsule' size='0.1 0.2' "
    "euler='0 90 0'/></body><body pos='0.02 1 0.301'><freejoint/><geom type='sphere' "
    "size='0.1'/></body><body pos='2 0 1'><joint type='hinge' axis='0 1 0' "
    "frictionloss='0.1' limited='true' range='-1 1'/><geom type='capsule' "
    "fromto='0 0 0 0.3 0 0' size='0.04'/></body></worldbody><equality>"
    "<connect body1='a' body2='b' anchor='0.3 0.01 0.02'/></equality></mujoco>";

static void shove(scene *s)
{
    for (int j = 0; j < s->m->nv; j++) s->d->v[j] = 0.4 * ((j * 3) % 5) - 0.8;
}

/* Memory that ends: request number `fail_at` and all that follow are refused. */
static void *ending_alloc(void *ctx, size_t size)
{
    test_memory *memory = ctx;
    if (memory->fail_at > 0 && memory->requests + 1 > memory->fail_at)
        memory->fail_at = memory->requests + 1;
    return test_memory_alloc(ctx, size);
}

/* A step with memory that ends after every request in turn: out of memory, the state as before,
 * nothing lost. What the arena asks for when the step is over already may fail without harm. */
static void fail_in_turn(const char *formulation)
{
    int failed = 0;
    for (long k = 1;; k++) {
        test_memory memory = { 0 };
        rb_alloc alloc = test_alloc(&memory);
        alloc.alloc = ending_alloc;
        scene s = scene_text(busy);
        s.o.formulation = rb_formulation_find(formulation);
        rb_data_free(s.d);
        s.d = rb_data_new(s.m, &alloc);
        CHECK(s.d != NULL);
        shove(&s);
        uint64_t hash = rb_data_hash(s.d);
        memory.requests = 0;
        memory.fail_at = k;
        rb_error err = { 0 };
        rb_status status = rb_step(s.m, s.d, &s.o, NULL, &err);
        int refused = memory.requests >= k;
        memory.fail_at = 0;
        CHECK(status == RB_OK || status == RB_NOMEM);
        CHECK(status == RB_OK || refused);
        if (status == RB_NOMEM) {
            failed++;
            CHECK(rb_data_hash(s.d) == hash);
            CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_OK); /* it recovers */
        }
        CHECK(rb_data_hash(s.d) != hash);
        scene_free(&s);
        CHECK_INT(memory.live, 0);
        if (!refused) break;
        CHECK(k < 200);
    }
    CHECK(failed >= 1);
}

TEST(a_step_out_of_memory_changes_nothing)
{
    for (const rb_formulation *const *f = rb_formulations; *f; f++)
        fail_in_turn(rb_formulation_name(*f));
}

/* Several islands, loops, limits, dry friction and repairs: warm after a while. */
TEST(warm_steps_of_many_islands_allocate_nothing)
{
    for (const rb_formulation *const *f = rb_formulations; *f; f++) {
        test_memory memory = { 0 };
        rb_alloc alloc = test_alloc(&memory);
        scene s = scene_text(busy);
        s.o.formulation = *f;
        rb_data_free(s.d);
        s.d = rb_data_new(s.m, &alloc);
        CHECK(s.d != NULL);
        shove(&s);
        rb_data *start = rb_data_new(s.m, &alloc);
        CHECK(start && rb_data_copy(s.m, start, s.d) == RB_OK);
        for (int i = 0; i < 60; i++) scene_step(&s);
        long before = memory.requests;
        CHECK_INT(rb_data_copy(s.m, s.d, start), RB_OK);
        for (int i = 0; i < 60; i++) scene_step(&s);
        CHECK_INT(memory.requests, before);
        rb_data_free(start);
        scene_free(&s);
        CHECK_INT(memory.live, 0);
    }
}

/* Spheres within each other, more pairs than the table has room for: RB_FULL says how many, nothing
 * has moved, and more room is enough. */
TEST(a_full_table_changes_nothing)
{
    char text[16384];
    int at = snprintf(text, sizeof text, HEAD), n = 40, pairs = n * (n - 1) / 2;
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='%g 0 %g'><freejoint/><geom type='sphere' size='0.1'/></body>",
                       0.002 * i, 1e-4 * i * i);
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");
    scene s = scene_text(text);
    uint64_t hash = rb_data_hash(s.d);
    rb_error err = { 0 };
    CHECK(s.d->touch_max < pairs);
    CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_FULL);
    CHECK_INT(s.info.contacts, pairs);
    CHECK(rb_data_hash(s.d) == hash);
    CHECK_INT(rb_data_reserve(s.m, &s.d, s.info.contacts), RB_OK);
    CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_OK);
    scene_free(&s);
}

/* ---- options ------------------------------------------------------------------------------------
 */

TEST(options_that_make_no_sense_are_refused)
{
    scene s = scene_text(busy);
    uint64_t hash = rb_data_hash(s.d);
    rb_step_opts bad[10];
    for (int i = 0; i < 10; i++) bad[i] = s.o;
    bad[0].h = -0.001;
    bad[1].h = NAN;
    bad[2].phantom_directions = 1;
    bad[3].phantom_share = -1.0;
    bad[4].stick_speed = NAN;
    bad[5].regularise = -1e-3;
    bad[6].max_repair = -1;
    bad[7].friction = INFINITY;
    bad[8].restitution = 1.5;
    bad[9].tol = -1e-9;
    for (int i = 0; i < 10; i++) {
        rb_error err = { 0 };
        CHECK_INT(rb_step(s.m, s.d, &bad[i], NULL, &err), RB_BAD_INPUT);
        CHECK(err.text[0] != '\0');
        CHECK(rb_data_hash(s.d) == hash);
    }
    scene_free(&s);
}

/* A cold start is a matter of the solver: where the answer is unique, the motion is the same. */
TEST(a_cold_start_keeps_the_friction_of_the_last_step)
{
    for (int k = 0; k < 2; k++) {
        double x[2];
        for (int cold = 0; cold < 2; cold++) {
            scene s = scene_text(HEAD FLOOR BALL("0", "0.1") "</worldbody></mujoco>");
            s.o.formulation = rb_formulation_find(k ? "hybrid-friction" : "box");
            s.o.cold = cold;
            s.d->v[0] = 1.0;
            s.d->v[2] = -1.0; /* the first impulse is far from the weight */
            scene_run(&s, 0.02);
            x[cold] = s.d->q[0];
            scene_free(&s);
        }
        CHECK_NEAR(x[0], x[1], 1e-10);
    }
}

TEST_MAIN(RUN(normal_rows_are_the_gradient_of_the_gap), RUN(gaps_of_ball_and_tendon_limits),
          RUN(tangent_rows_are_the_motion_of_the_points), RUN(compliance_of_an_island),
          RUN(compliance_of_a_chain_by_two_methods), RUN(islands_by_hand),
          RUN(touches_are_ascending), RUN(material_of_a_pair), RUN(no_friction_across_the_grain),
          RUN(a_ball_joint_stops_at_its_limit), RUN(a_tendon_stops_at_its_limit),
          RUN(a_step_out_of_memory_changes_nothing),
          RUN(warm_steps_of_many_islands_allocate_nothing), RUN(a_full_table_changes_nothing),
          RUN(options_that_make_no_sense_are_refused),
          RUN(a_cold_start_keeps_the_friction_of_the_last_step))
