/* Solves w = W z + q, z >= 0, w >= 0, z.w = 0 by hand: W = [2 1; 1 2], q = (-5, -6) has the
 * solution z = (4/3, 7/3), w = 0. */
#include <math.h>
#include <stdio.h>
#include <rattleback/rattleback.h>

int main(void)
{
    const double W[] = { 2.0, 1.0, 1.0, 2.0 }, q[] = { -5.0, -6.0 };
    rb_problem problem = { .kind = RB_LCP, .n = 2, .W = { .dense = W }, .q = q };
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    double z[2] = { 0.0, 0.0 };

    rb_status status = rb_solve(&problem, &opts, z, &info);
    printf("%s: z = %.6f %.6f, residual %.1e\n", rb_status_text(status), z[0], z[1],
           info.cert.residual);
    int right = fabs(z[0] - 4.0 / 3.0) < 1e-12 && fabs(z[1] - 7.0 / 3.0) < 1e-12;
    return status == RB_OK && info.outcome == RB_SOLVED && right ? 0 : 1;
}
