/* The state of a campaign as text: a header that names the options, then the numbers of each tally
 * in the order of the struct, counts in decimal and the worst residuals in hexadecimal. */
#include "corpus_campaign.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC "rattleback-campaign 1"

/* Everything that decides the numbers; two runs with the same header may be joined. */
static void describe(const campaign_opts *o, char *header, size_t size)
{
    snprintf(header, size,
             MAGIC "\nfirst %" PRIu64 " family %d form %d contacts %d solver %s tol %a %a "
                   "perturb %a sample %d unique %d\n",
             o->first, o->corpus.family, o->corpus.form, o->corpus.contacts, o->solver->name,
             o->tol_lcp, o->tol_cone, o->perturb, o->sample, o->unique_every);
}

/* The counts of a tally lie before `worst`, one after the other. */
#define TALLY_COUNTS (offsetof(campaign_tally, worst) / sizeof(uint64_t))

rb_status campaign_save(const campaign_opts *o, const campaign_result *r, FILE *file)
{
    char header[512];
    describe(o, header, sizeof header);
    fprintf(file, "%sdone %" PRIu64 "\n", header, r->done);
    for (int f = 0; f < RB_CORPUS_FAMILIES; f++)
        for (int k = 0; k < RB_CORPUS_FORMS; k++) {
            uint64_t counts[TALLY_COUNTS];
            memcpy(counts, &r->tally[f][k], sizeof counts);
            for (size_t i = 0; i < TALLY_COUNTS; i++) fprintf(file, "%" PRIu64 " ", counts[i]);
            fprintf(file, "%a %a\n", r->tally[f][k].worst[0], r->tally[f][k].worst[1]);
        }
    return ferror(file) ? RB_FILE : RB_OK;
}

rb_status campaign_load(const campaign_opts *o, campaign_result *r, FILE *file)
{
    char wanted[512], header[512];
    describe(o, wanted, sizeof wanted);
    size_t length = strlen(wanted);
    memset(r, 0, sizeof *r);
    if (fread(header, 1, length, file) != length || memcmp(header, wanted, length) != 0)
        return RB_BAD_INPUT;
    if (fscanf(file, "done %" SCNu64, &r->done) != 1) return RB_BAD_INPUT;
    for (int f = 0; f < RB_CORPUS_FAMILIES; f++)
        for (int k = 0; k < RB_CORPUS_FORMS; k++) {
            uint64_t counts[TALLY_COUNTS];
            double *worst = r->tally[f][k].worst;
            for (size_t i = 0; i < TALLY_COUNTS; i++)
                if (fscanf(file, "%" SCNu64, &counts[i]) != 1) return RB_BAD_INPUT;
            memcpy(&r->tally[f][k], counts, sizeof counts);
            if (fscanf(file, "%la %la", &worst[0], &worst[1]) != 2) return RB_BAD_INPUT;
        }
    return RB_OK;
}
