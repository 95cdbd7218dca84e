/* The quantities of `rattleback compute`. Forces follow one rule:
 *     M qacc + bias = tau + passive (+ actuation where the state has "ctrl")
 * fd solves it for qacc, id for tau. Constraints and contacts are in neither; loops has the former.
 */
#include "compute.h"
#include "compute_gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *vector(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

static double *matrix(int rows, int cols)
{
    return calloc((size_t)rows * (size_t)cols + 1, sizeof(double));
}

/* ---- forces ------------------------------------------------------------------------------------
 */

static rb_status put_mass(computation *c, const char *name)
{
    double *M = matrix(c->m->nv, c->m->nv);
    if (!M) return RB_NOMEM;
    rb_mass(c->m, c->d);
    rb_mass_dense(c->m, c->d, M);
    json_matrix(&c->out, name, M, c->m->nv, c->m->nv);
    free(M);
    return RB_OK;
}

static rb_status put_bias(computation *c, const char *name)
{
    rb_bias(c->m, c->d);
    json_vector(&c->out, name, c->d->c, c->m->nv);
    return RB_OK;
}

static rb_status put_passive(computation *c, const char *name)
{
    rb_passive(c->m, c->d);
    json_vector(&c->out, name, c->d->passive, c->m->nv);
    return RB_OK;
}

static rb_status put_actuation(computation *c, const char *name)
{
    rb_actuation(c->m, c->d);
    json_begin(&c->out, name);
    json_vector(&c->out, "force", c->d->actuation, c->m->nv);
    json_vector(&c->out, "actuator_force", c->d->act_force, c->m->nout);
    json_vector(&c->out, "activation_rate", c->d->act_dot, c->m->na);
    json_end(&c->out);
    return RB_OK;
}

/* tau += sign (passive + actuation) */
static void add_own_forces(computation *c, double sign, double *tau)
{
    int driven = c->state && c->state->ctrl;
    rb_passive(c->m, c->d);
    if (driven) rb_actuation(c->m, c->d);
    for (int i = 0; i < c->m->nv; i++)
        tau[i] += sign * (c->d->passive[i] + (driven ? c->d->actuation[i] : 0.0));
}

static rb_status put_forward(computation *c, const char *name)
{
    int nv = c->m->nv;
    double *tau = vector(nv), *qacc = vector(nv);
    rb_status status = tau && qacc ? RB_OK : RB_NOMEM;
    if (status == RB_OK) {
        memcpy(tau, c->d->tau, (size_t)nv * sizeof *tau);
        add_own_forces(c, 1.0, tau);
        status = rb_forward(c->m, c->d, tau, qacc);
    }
    if (status == RB_OK) json_vector(&c->out, name, qacc, nv);
    free(tau);
    free(qacc);
    return status;
}

static rb_status put_inverse(computation *c, const char *name)
{
    double *tau = vector(c->m->nv);
    if (!tau) return RB_NOMEM;
    rb_inverse(c->m, c->d, c->state ? c->state->qacc : NULL, tau);
    add_own_forces(c, -1.0, tau);
    json_vector(&c->out, name, tau, c->m->nv);
    free(tau);
    return RB_OK;
}

/* ---- points ------------------------------------------------------------------------------------
 */

/* Articulated inertias, once per state. */
static rb_status factor(computation *c)
{
    if (!c->factored) c->factor_status = rb_aba_factor(c->m, c->d, NULL, &c->bad_dof);
    c->factored = 1;
    return c->factor_status;
}

static rb_status put_compliance(computation *c, const char *name)
{
    int rows = 3 * c->npoint;
    double *W = matrix(rows, rows);
    rb_status status = W ? factor(c) : RB_NOMEM;
    if (status == RB_OK) {
        rb_upsilon(c->m, c->d);
        status = rb_compliance(c->m, c->d, c->npoint, c->points, W);
    }
    if (status == RB_OK) json_matrix(&c->out, name, W, rows, rows);
    free(W);
    return status;
}

/* Rows of all points: velocities under the name itself, angular velocities beside it. */
static rb_status put_jacobian(computation *c, const char *name)
{
    int nv = c->m->nv, rows = 3 * c->npoint;
    size_t half = 3 * (size_t)nv;
    double *J = matrix(6, nv), *linear = matrix(rows, nv), *angular = matrix(rows, nv);
    rb_status status = J && linear && angular ? RB_OK : RB_NOMEM;
    for (int k = 0; k < c->npoint && status == RB_OK; k++) {
        rb_jacobian(c->m, c->d, c->points[k].body, c->points[k].pos, J);
        memcpy(angular + (size_t)k * half, J, half * sizeof *J);
        memcpy(linear + (size_t)k * half, J + half, half * sizeof *J);
    }
    if (status == RB_OK) {
        json_matrix(&c->out, name, linear, rows, nv);
        json_matrix(&c->out, "jacobian_angular", angular, rows, nv);
    }
    free(J);
    free(linear);
    free(angular);
    return status;
}

static rb_status put_points(computation *c, const char *name)
{
    char buffer[64];
    json_begin_list(&c->out, name);
    for (int k = 0; k < c->npoint; k++) {
        double v[6], a[6];
        const rb_point *p = &c->points[k];
        rb_point_velocity(c->m, c->d, p->body, p->pos, v);
        rb_jacobian_bias(c->m, c->d, p->body, p->pos, a);
        json_begin(&c->out, NULL);
        json_text(&c->out, "body",
                  rb_model_name(c->m, RB_KIND_BODY, p->body, buffer, sizeof buffer));
        json_vector(&c->out, "pos", p->pos, 3);
        json_vector(&c->out, "velocity", v + 3, 3);
        json_vector(&c->out, "angular_velocity", v, 3);
        json_vector(&c->out, "bias", a + 3, 3);
        json_vector(&c->out, "angular_bias", a, 3);
        json_end(&c->out);
    }
    json_end_list(&c->out);
    return RB_OK;
}

/* ---- energy, momentum, frames ------------------------------------------------------------------
 */

static rb_status put_tendons(computation *c, const char *name)
{
    const rb_model *m = c->m;
    int nv = m->nv, n = m->ntendon;
    double *length = vector(n), *rate = vector(n), *J = matrix(n, nv);
    rb_status status = length && rate && J ? RB_OK : RB_NOMEM;
    for (int t = 0; t < n && status == RB_OK; t++) {
        int at = m->tendon_rowadr[t];
        const double *row = m->tendon_pathnum[t] > 0 ? c->d->ten_J : m->tendon_coef;
        length[t] = rb_tendon_length(m, c->d, t);
        rate[t] = rb_tendon_rate(m, c->d, t);
        for (int i = at; i < at + m->tendon_rownum[t]; i++)
            if (m->tendon_dof[i] < nv) J[(ptrdiff_t)t * nv + m->tendon_dof[i]] += row[i];
    }
    if (status == RB_OK) {
        json_begin(&c->out, name);
        json_vector(&c->out, "length", length, n);
        json_vector(&c->out, "velocity", rate, n);
        json_matrix(&c->out, "jacobian", J, n, nv);
        json_end(&c->out);
    }
    free(length);
    free(rate);
    free(J);
    return status;
}

static rb_status put_energy(computation *c, const char *name)
{
    double kinetic = rb_energy_kinetic(c->m, c->d), potential = rb_energy_potential(c->m, c->d);
    json_begin(&c->out, name);
    json_number(&c->out, "kinetic", kinetic);
    json_number(&c->out, "potential", potential);
    json_number(&c->out, "total", kinetic + potential);
    json_end(&c->out);
    return RB_OK;
}

static rb_status put_com(computation *c, const char *name)
{
    double com[3];
    rb_center_of_mass(c->m, c->d, com);
    json_vector(&c->out, name, com, 3);
    return RB_OK;
}

static rb_status put_momentum(computation *c, const char *name)
{
    double com[3], p[3], L[3];
    rb_momentum(c->m, c->d, com, p, L);
    json_begin(&c->out, name);
    json_vector(&c->out, "com", com, 3);
    json_vector(&c->out, "linear", p, 3);
    json_vector(&c->out, "angular", L, 3);
    json_end(&c->out);
    return RB_OK;
}

/* Rotation (row major) to a quaternion with w >= 0: the largest of w x y z is found first, so that
 * nothing small is divided by [Shepperd 1978]. */
static void quat_of(const double *R, double q[4])
{
    double t[4] = { R[0] + R[4] + R[8], R[0], R[4], R[8] };
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (t[i] > t[k]) k = i;
    if (k == 0) {
        q[0] = 1.0 + t[0];
        q[1] = R[7] - R[5];
        q[2] = R[2] - R[6];
        q[3] = R[3] - R[1];
    } else {
        int x = k - 1, y = k % 3, z = (k + 1) % 3;
        q[0] = R[3 * z + y] - R[3 * y + z];
        q[1 + x] = 1.0 + R[4 * x] - R[4 * y] - R[4 * z];
        q[1 + y] = R[3 * y + x] + R[3 * x + y];
        q[1 + z] = R[3 * z + x] + R[3 * x + z];
    }
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (q[0] < 0.0) norm = -norm;
    for (int i = 0; i < 4; i++) q[i] /= norm;
}

static rb_status put_frames(computation *c, const char *name)
{
    char buffer[64];
    json_begin(&c->out, name);
    for (int b = 1; b < c->m->nbody; b++) {
        const double *R = c->d->body_R + 9 * b;
        double quat[4];
        quat_of(R, quat);
        json_begin(&c->out, rb_model_name(c->m, RB_KIND_BODY, b, buffer, sizeof buffer));
        json_vector(&c->out, "pos", c->d->body_p + 3 * b, 3);
        json_vector(&c->out, "quat", quat, 4);
        json_matrix(&c->out, "rot", R, 3, 3);
        json_end(&c->out);
    }
    json_end(&c->out);
    return RB_OK;
}

/* ---- loops -------------------------------------------------------------------------------------
 */

static rb_status put_rows(computation *c, const rb_rows *rows)
{
    double *J = matrix(rows->n, c->m->nv);
    if (!J) return RB_NOMEM;
    for (int i = 0; i < rows->n; i++)
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++)
            J[(size_t)i * (size_t)c->m->nv + (size_t)rows->dof[k]] += rows->J[k];
    json_vector(&c->out, "error", rows->error, rows->n);
    json_vector(&c->out, "bias", rows->bias, rows->n);
    json_matrix(&c->out, "jacobian", J, rows->n, c->m->nv);
    free(J);
    return RB_OK;
}

/* The acceleration that keeps the rows; lambda has one number per row. */
static rb_status put_constrained(computation *c, int nrow)
{
    int nv = c->m->nv;
    rb_loop_info info = { 0 };
    double *tau = vector(nv), *qacc = vector(nv), *lambda = vector(nrow);
    rb_status status = tau && qacc && lambda ? RB_OK : RB_NOMEM;
    if (status == RB_OK) {
        memcpy(tau, c->d->tau, (size_t)nv * sizeof *tau);
        add_own_forces(c, 1.0, tau);
        status = rb_forward_loops(c->m, c->d, tau, qacc, lambda, &info);
    }
    if (status == RB_OK) {
        json_int(&c->out, "rows", info.rows);
        json_int(&c->out, "rank", info.rank);
        json_number(&c->out, "residual", info.residual);
        json_vector(&c->out, "qacc", qacc, nv);
        json_vector(&c->out, "force", lambda, nrow);
    }
    free(tau);
    free(qacc);
    free(lambda);
    return status;
}

static rb_status put_loops(computation *c, const char *name)
{
    rb_rows rows;
    rb_status status = factor(c);
    if (status == RB_OK) status = rb_loop_rows(c->m, c->d, &rows);
    if (status != RB_OK) return status;
    json_begin(&c->out, name);
    status = put_constrained(c, rows.n);

    /* the rows live in scratch memory that the solve has used since */
    if (status == RB_OK) status = rb_loop_rows(c->m, c->d, &rows);
    if (status == RB_OK) status = put_rows(c, &rows);
    json_end(&c->out);
    return status;
}

/* ---- contact forces from accelerations ---------------------------------------------------------
 */

/* y >= 0, y != 0, M'y <= 0, q.y < 0: then y.(M z + q) < 0 for all z >= 0, and there is no solution
 * (Farkas). Lemke's rays of accelerations have this although they are none of copositive matrices:
 * rb_ray_check requires M y >= 0. */
static int proves_no_solution(const rb_problem *problem, const double *y)
{
    int n = problem->n;
    double q_y = 0.0, size = 0.0, length = 0.0;
    for (int i = 0; i < n; i++) {
        if (y[i] < 0.0) return 0;
        length = fmax(length, y[i]);
        q_y += problem->q[i] * y[i];
        size += fabs(problem->q[i]) * y[i];
    }
    for (int j = 0; j < n; j++) {
        double sum = 0.0, terms = 0.0;
        for (int i = 0; i < n; i++) {
            double term = problem->W.dense[(size_t)i * (size_t)n + (size_t)j] * y[i];
            sum += term;
            terms += fabs(term);
        }
        if (sum > 1e-12 * terms) return 0;
    }
    return length > 0.0 && q_y < -1e-9 * size;
}

/* Solved by Lemke's method, and the problem itself, as `rattleback lcp` reads it. */
static int put_problem(void *ctx, const char *name, const rb_problem *problem)
{
    static const char *const words[] = { "failed", "solved", "ray" };
    computation *c = ctx;
    int n = problem->n;
    (void)name;
    double *z = vector(n), *ray = vector(n);
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { .ray = ray };
    opts.solver = rb_solver_find("lemke");
    int ok = z && ray && (n == 0 || rb_solve(problem, &opts, z, &info) == RB_OK);
    if (ok) {
        json_int(&c->out, "n", n);
        json_matrix(&c->out, "M", problem->W.dense, n, n);
        json_vector(&c->out, "q", problem->q, n);
        int none = info.outcome != RB_SOLVED && proves_no_solution(problem, ray);
        json_text(&c->out, "status", n == 0 ? "solved" : none ? "ray" : words[info.outcome]);
        json_number(&c->out, "residual", info.cert.relative);
        json_vector(&c->out, "z", z, n);
        if (none) {
            json_vector(&c->out, "ray", ray, n);
            json_text(&c->out, "proof", "no solution: ray'M <= 0, ray.q < 0");
        }
    }
    free(z);
    free(ray);
    return !ok;
}

static rb_status put_acceleration(computation *c, const char *name)
{
    rb_error err = { 0 };
    rb_step_opts opts = rb_step_opts_default();
    rb_problem_sink sink = { put_problem, c };
    json_begin(&c->out, name);
    rb_status status = rb_acceleration_problem(c->m, c->d, &opts, &sink, &err);
    if (status != RB_OK)
        json_text(&c->out, "error", err.text[0] ? err.text : rb_status_text(status));
    json_end(&c->out);
    return RB_OK;
}

/* ---- table -------------------------------------------------------------------------------------
 */

const quantity compute_quantities[] = {
    { "mass", "mass matrix, armature included, nv x nv", put_mass },
    { "bias", "Coriolis, centrifugal and gravity forces, nv", put_bias },
    { "fd", "forward dynamics: qacc from tau", put_forward },
    { "id", "inverse dynamics: tau from qacc", put_inverse },
    { "compliance", "J M^-1 J' of the velocities of the points, 3k x 3k", put_compliance },
    { "jacobian", "of the points, 3k x nv, and jacobian_angular", put_jacobian },
    { "energy", "kinetic, potential, total", put_energy },
    { "frames", "pos, quat and rot of every body", put_frames },
    { "com", "centre of mass", put_com },
    { "momentum", "linear, and angular about the centre of mass", put_momentum },
    { "passive", "springs, dampers, gravity compensation, nv", put_passive },
    { "actuation", "forces of the actuators", put_actuation },
    { "tendons", "lengths, velocities and Jacobian of the tendons", put_tendons },
    { "points", "positions, velocities and velocity-product accelerations", put_points },
    { "loops", "rows of the equalities, and qacc that keeps them", put_loops },
    { "acceleration", "forces of contacts from accelerations, or why there are none",
      put_acceleration },
    { "toi", "the next impact: free bodies fly, joints keep their velocities", compute_put_toi },
    { "gaps", "distance, normal and points of every pair of geoms that may touch",
      compute_put_gaps },
    { "rays", "what the rays of --ray hit first: geom, distance, point, normal", compute_put_rays },
    { "distance", "between the geoms or bodies of --between", compute_put_distance },
    { "contacts", "forces of the contacts in one step from the state", compute_put_contacts },
    { "sensors", "values of the sensors of the model, before any constraint has pushed",
      compute_put_sensors },
    { NULL, NULL, NULL },
};

const quantity *compute_find(const char *name, size_t length)
{
    for (const quantity *q = compute_quantities; q->name; q++)
        if (strlen(q->name) == length && memcmp(q->name, name, length) == 0) return q;
    return NULL;
}
