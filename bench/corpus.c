/* Makes a corpus problem out of a seed: draws what the options leave open, makes the scene, its
 * rows and the chosen form. */
#include "corpus.h"

#include "corpus_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_BITS      5 /* contacts up to 2^(SIZE_BITS + 1) = 64                   */
#define MAX_CONTACTS   5000
#define MAX_DENSE      512 /* contacts of a problem that is made dense                */
#define MAX_DIRECTIONS 64

typedef struct form_entry {
    const char *name;
    rb_status (*fill)(rb_corpus_problem *);
    int directions; /* default number of friction directions                     */
    int joints;     /* 1: with ball joints                                       */
    int gaps;       /* 1: position level                                         */
    int dense;      /* 1: needs W                                                */
} form_entry;

static const form_entry forms[RB_CORPUS_FORMS] = {
    { "cone", form_cone, 0, 0, 0, 1 },
    { "cone-bsr", form_cone_bsr, 0, 0, 0, 0 },
    { "cone-op", form_cone_operator, 0, 0, 0, 0 },
    { "cone-2d", form_cone_2d, 0, 0, 0, 1 },
    { "st4-v", form_stewart_trinkle, 4, 0, 0, 1 },
    { "st8-v", form_stewart_trinkle, 8, 0, 0, 1 },
    { "st4-p", form_stewart_trinkle, 4, 0, 1, 1 },
    { "st8-p", form_stewart_trinkle, 8, 0, 1, 1 },
    { "phantom", form_phantom, 0, 0, 1, 1 },
    { "box", form_box, 0, 0, 0, 1 },
    { "mixed-st", form_stewart_trinkle, 4, 1, 0, 1 },
    { "mixed-box", form_box, 0, 1, 0, 1 },
};

static const char *const families[RB_CORPUS_FAMILIES] = { "stack", "wedge", "grasp", "pile",
                                                          "chain" };

const char *rb_corpus_family_name(int family)
{
    return family >= 0 && family < RB_CORPUS_FAMILIES ? families[family] : NULL;
}

const char *rb_corpus_form_name(int form)
{
    return form >= 0 && form < RB_CORPUS_FORMS ? forms[form].name : NULL;
}

int rb_corpus_family_find(const char *name)
{
    for (int i = 0; i < RB_CORPUS_FAMILIES; i++)
        if (strcmp(families[i], name) == 0) return i;
    return -1;
}

int rb_corpus_form_find(const char *name)
{
    for (int i = 0; i < RB_CORPUS_FORMS; i++)
        if (strcmp(forms[i].name, name) == 0) return i;
    return -1;
}

rb_corpus_opts rb_corpus_opts_default(void)
{
    return (rb_corpus_opts){ .family = -1, .form = -1 };
}

/* Options with everything filled in. The seed decides what they leave open; a stream of its own
 * keeps the scene the same whether the form was asked for or drawn. */
static rb_status draw_opts(uint64_t seed, rb_corpus_opts *o)
{
    rb_rng rng = rb_rng_make(rb_hash(RB_HASH_INIT, &seed, sizeof seed));
    int family = (int)(rb_rng_next(&rng) % RB_CORPUS_FAMILIES);
    int form = (int)(rb_rng_next(&rng) % RB_CORPUS_FORMS);
    int bits = (int)(rb_rng_next(&rng) % (SIZE_BITS + 1));
    int contacts = (int)ldexp(rb_rng_uniform(&rng, 1.0, 2.05), bits);

    if (o->family < 0) o->family = family;
    if (o->form < 0) o->form = form;
    if (o->contacts == 0) o->contacts = contacts > 64 ? 64 : contacts;
    if (o->family >= RB_CORPUS_FAMILIES || o->form >= RB_CORPUS_FORMS) return RB_BAD_INPUT;
    if (o->directions == 0) o->directions = forms[o->form].directions;
    int most = forms[o->form].dense ? MAX_DENSE : MAX_CONTACTS;
    if (o->contacts < 0 || o->contacts > most) return RB_BAD_INPUT;
    if (o->directions % 2 != 0 || o->directions < 0 || o->directions > MAX_DIRECTIONS)
        return RB_BAD_INPUT;
    if (!(o->perturb >= 0.0) || o->perturb >= 1.0) return RB_BAD_INPUT;
    return RB_OK;
}

/* Scene, order of contacts, rows and W of out->opts. */
static rb_status make_rows(rb_corpus_problem *out)
{
    const rb_corpus_opts *o = &out->opts;
    const form_entry *form = &forms[o->form];
    out->rows = corpus_take(&out->blocks, 1, sizeof *out->rows);
    if (!out->rows) return RB_NOMEM;
    scene *s = &out->rows->s;
    rb_status status = scene_make(s, out->seed, o->family, o->contacts, form->joints);
    if (status != RB_OK) return status;

    out->nc = s->ncon;
    out->order = corpus_take(&out->blocks, (size_t)s->ncon, sizeof *out->order);
    out->mu = corpus_take(&out->blocks, (size_t)s->ncon, sizeof *out->mu);
    if (!out->order || !out->mu) return RB_NOMEM;
    if (o->perturb > 0.0) scene_perturb(s, o->perturb);
    scene_permute(s, o->permute, out->order);
    for (int c = 0; c < s->ncon; c++) out->mu[c] = s->contact[c].mu;

    status = rows_make(out->rows, out->order, &out->blocks);
    if (status != RB_OK || !form->dense) return status;
    size_t m = (size_t)out->rows->nrow;
    out->W = corpus_take(&out->blocks, m * m, sizeof *out->W);
    if (!out->W) return RB_NOMEM;
    rows_dense(out->rows, (int)m, out->W);
    return RB_OK;
}

rb_status rb_corpus_make(uint64_t seed, const rb_corpus_opts *opts, rb_corpus_problem *out)
{
    memset(out, 0, sizeof *out);
    out->seed = seed;
    out->opts = opts ? *opts : rb_corpus_opts_default();
    rb_status status = draw_opts(seed, &out->opts);
    if (status != RB_OK) return status;
    const form_entry *form = &forms[out->opts.form];
    out->velocity_level = !form->gaps;
    out->solvable = 1; /* gaps are never negative and walls never move: see corpus_lcp.c */
    snprintf(out->name, sizeof out->name, "%s-%s:%06llu", families[out->opts.family], form->name,
             (unsigned long long)seed);

    status = make_rows(out);
    if (status == RB_OK) status = form->fill(out);
    if (status != RB_OK) rb_corpus_free(out);
    return status;
}

rb_status rb_corpus_perturb(const rb_corpus_problem *p, double relative, rb_corpus_problem *out)
{
    rb_corpus_opts opts = p->opts;
    opts.perturb = relative;
    return rb_corpus_make(p->seed, &opts, out);
}

rb_status rb_corpus_permute(const rb_corpus_problem *p, uint64_t seed, rb_corpus_problem *out)
{
    rb_corpus_opts opts = p->opts;
    opts.permute = seed;
    return rb_corpus_make(p->seed, &opts, out);
}

/* Friction impulses of Stewart-Trinkle: the sum of the directions. */
static void sum_directions(const rb_corpus_problem *p, const double *beta, double *impulse)
{
    double dir[2 * MAX_DIRECTIONS];
    int nd = p->opts.directions;
    directions(nd, dir);
    for (int c = 0; c < p->nc; c++)
        for (int d = 0; d < nd; d++) {
            impulse[3 * c + 1] += beta[c * nd + d] * dir[2 * d];
            impulse[3 * c + 2] += beta[c * nd + d] * dir[2 * d + 1];
        }
}

/* Impulses of all rows, in this problem's own order: contacts, then joints. */
static void own_impulses(const rb_corpus_problem *p, const double *z, double *impulse)
{
    int nc = p->nc, nrow = p->rows->nrow, form = p->opts.form;
    for (int i = 0; i < nrow; i++) impulse[i] = 0.0;
    if (p->problem.kind == RB_CONE) {
        int dim = p->problem.dim;
        for (int c = 0; c < nc; c++) memcpy(impulse + 3 * c, z + dim * c, (size_t)dim * sizeof *z);
    } else if (form == RB_CORPUS_BOX || form == RB_CORPUS_MIXED_BOX) {
        memcpy(impulse, z, (size_t)nrow * sizeof *z);
    } else {
        int joints = nrow - 3 * nc;
        if (form == RB_CORPUS_PHANTOM)
            phantom_friction(p, z, impulse);
        else
            sum_directions(p, z + nc, impulse);
        for (int c = 0; c < nc; c++) impulse[3 * c] = z[c];
        memcpy(impulse + 3 * nc, z + p->problem.n - joints, (size_t)joints * sizeof *z);
    }
}

/* From this problem's order of contacts to the scene's. */
static void restore_order(const rb_corpus_problem *p, const double *own, double *out)
{
    for (int c = 0; c < p->nc; c++) memcpy(out + 3 * p->order[c], own + 3 * c, 3 * sizeof *out);
}

rb_status rb_corpus_impulses(const rb_corpus_problem *p, const double *z, double *impulse)
{
    double *own = malloc((size_t)p->rows->nrow * sizeof *own);
    if (!own) return RB_NOMEM;
    own_impulses(p, z, own);
    restore_order(p, own, impulse);
    free(own);
    return RB_OK;
}

rb_status rb_corpus_velocities(const rb_corpus_problem *p, const double *z, double *velocity)
{
    int n = 3 * p->nc, nrow = p->rows->nrow;
    double *own = malloc((size_t)(nrow + n + 6 * p->rows->s.nbody) * sizeof *own);
    if (!own) return RB_NOMEM;
    double *u = own + nrow, *body = u + n;
    own_impulses(p, z, own);
    rows_velocity(p->rows, own, n, body, u);
    restore_order(p, u, velocity);
    free(own);
    return RB_OK;
}

double rb_corpus_speed(const rb_corpus_problem *p)
{
    double speed = GRAVITY * p->rows->s.h;
    for (int i = 0; i < p->rows->nrow; i++) speed = fmax(speed, fabs(p->rows->q[i]));
    return speed;
}
