/* What the answer to an impact is worth, from the impulse alone: nothing here is shared with the
 * code that found it. */
#include <math.h>

#include "rattleback/impact.h"

static double length3(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Whether a point that is reported as held is: some impulse in the cone does not move it. t
 * minimises (1, t) K (1, t)', with a trace of compliance where K_tt has none. */
static int is_held(const rb_impact *in)
{
    const double *K = in->K;
    double trace = RB_IMPACT_TOL * (K[4] + K[8]);
    double a = K[4] + trace, b = K[8] + trace, c = 0.5 * (K[5] + K[7]), det = a * b - c * c;
    double t1 = -(b * K[1] - c * K[2]) / det, t2 = -(a * K[2] - c * K[1]) / det;
    double moves = K[0] + K[1] * t1 + K[2] * t2;
    double slack = 1e-7 * K[0] + 2.0 * trace * (t1 * t1 + t2 * t2); /* the trace shows in it */
    return moves <= slack && sqrt(t1 * t1 + t2 * t2) <= in->mu * (1.0 + 1e-6);
}

/* How far the end is from what the law says (I.8), relative to its terms. */
static double law_error(const rb_impact *in, const rb_impact_result *out, double u_n)
{
    double error, size;
    if (out->held && is_held(in)) return 0.0;
    switch (in->law) {
    case RB_NEWTON:
        error = u_n + in->e * in->u[0];
        size = length3(in->u);
        break;
    case RB_STRONGE:
        error = out->W - (1.0 - in->e * in->e) * out->W_c;
        size = -out->W_c;
        break;
    default:
        error = out->rounds > 1 ? 0.0 : out->p[0] - (1.0 + in->e) * out->pn_c;
        size = out->p[0];
    }
    return size > 0.0 ? fabs(error) / size : fabs(error);
}

int rb_impact_certify(const rb_impact *in, const rb_impact_result *out, rb_impact_certificate *cert)
{
    *cert = (rb_impact_certificate){ 0 };
    const double *p = out->p;
    double size = length3(p), speed = length3(in->u), u[3], created = 0.0, terms = 0.0;
    for (int i = 0; i < 3; i++) {
        const double *row = in->K + 3 * i;
        u[i] = in->u[i] + row[0] * p[0] + row[1] * p[1] + row[2] * p[2];
        created += 0.5 * p[i] * (in->u[i] + u[i]);
        terms += fabs(p[i]) * (fabs(in->u[i]) + fabs(u[i]));
    }
    if (size == 0.0) {
        cert->approach = speed > 0.0 ? fmax(0.0, -in->u[0]) / speed : 0.0;
        return cert->approach == 0.0;
    }

    double tangent = sqrt(p[1] * p[1] + p[2] * p[2]);
    cert->cone = fmax(0.0, tangent - in->mu * p[0]) / size;
    cert->approach = fmax(0.0, -u[0]) / speed;
    cert->law = law_error(in, out, u[0]);
    cert->energy = created / terms;
    return size <= 1e300 && cert->cone <= RB_IMPACT_TOL && cert->approach <= RB_IMPACT_TOL &&
           cert->law <= RB_IMPACT_TOL && (in->law == RB_NEWTON || cert->energy <= RB_IMPACT_TOL);
}
