/* `rattleback impact`: single frictional impacts given as JSON lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "clock.h"
#include "commands.h"
#include "json.h"
#include "report.h"

/* After this many bad lines of a file, the rest is only counted. */
enum { MOST_MESSAGES = 20, NAME_WIDTH = 28 };

static const char *const laws[] = { "poisson", "newton", "stronge" };

typedef struct impact_run {
    int law, json, repeat, help;
    int impacts, bad, uncertified, compared;
    double worst; /* largest relative difference from the impulses of the files */
    double seconds;
    int exit_status;
} impact_run;

static void worsen(impact_run *r, int exit_status)
{
    if (exit_status > r->exit_status) r->exit_status = exit_status;
}

/* ---- one impact --------------------------------------------------------------------------------
 */

typedef struct impact_answer {
    const rb_impact_entry *entry;
    rb_impact in;
    rb_impact_result out;
    rb_impact_certificate cert;
    int certified;
    double impulse[3], u_before[3], u_after[3]; /* world axes, signs of the file */
    rb_impact_body body[2];                     /* after                         */
    double difference;                          /* from the file, relative       */
    double seconds;
} impact_answer;

static double length3(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void to_world(const double R[9], const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

/* The file's body 1 gets the impulse: it is body 2 of the library. */
static rb_status resolve(const impact_run *r, impact_answer *a)
{
    const rb_impact_entry *e = a->entry;
    double R[9];
    rb_impact_frame(e->n, R);
    a->in = (rb_impact){ .mu = e->mu, .e = e->e, .law = (rb_restitution_law)r->law };
    if (e->law >= 0) a->in.law = (rb_restitution_law)e->law;
    rb_impact_bodies(&e->body[1], &e->body[0], R, &a->in);

    rb_status status = RB_OK;
    for (int k = 0; k < r->repeat && status == RB_OK; k++) {
        double begin = wall_seconds();
        status = rb_impact_solve(&a->in, &a->out);
        double seconds = wall_seconds() - begin;
        if (k == 0 || seconds < a->seconds) a->seconds = seconds;
    }
    if (status != RB_OK) return status;

    a->certified = rb_impact_certify(&a->in, &a->out, &a->cert);
    to_world(R, a->out.p, a->impulse);
    to_world(R, a->in.u, a->u_before);
    to_world(R, a->out.u, a->u_after);
    double other[3], off[3];
    for (int i = 0; i < 3; i++) {
        other[i] = -a->impulse[i];
        off[i] = a->impulse[i] - e->impulse[i];
    }
    memcpy(a->body, e->body, sizeof a->body);
    rb_impact_push(&a->body[0], a->impulse);
    rb_impact_push(&a->body[1], other);
    double size = length3(e->impulse);
    a->difference = size > 0.0 ? length3(off) / size : length3(off);
    return RB_OK;
}

static const char *why(rb_status status)
{
    if (status == RB_SINGULAR)
        return "no impulse stops the approach: both bodies are fixed, or friction holds the point "
               "against them; expected a body that can give way";
    if (status == RB_UNSOLVED) return "the path did not end within its budget of steps";
    return rb_status_text(status);
}

static void print_json(const impact_answer *a)
{
    json j = { .out = stdout };
    json_begin(&j, NULL);
    json_text(&j, "name", a->entry->name);
    json_text(&j, "status", a->certified ? "solved" : "failed");
    json_text(&j, "law", laws[a->in.law]);
    json_vector(&j, "impulse_on_1", a->impulse, 3);
    json_number(&j, "pn", a->out.p[0]);
    json_number(&j, "pn_compression", a->out.pn_c);
    json_begin_list(&j, "phases");
    for (int k = 0; k < a->out.nphase; k++)
        json_text(&j, NULL, rb_impact_phase_name(a->out.phase[k]));
    json_end_list(&j);
    json_vector(&j, "u_before", a->u_before, 3);
    json_vector(&j, "u_after", a->u_after, 3);
    json_number(&j, "dE", a->out.energy);
    for (int k = 0; k < 2; k++) {
        json_vector(&j, k ? "v2" : "v1", a->body[k].v, 3);
        json_vector(&j, k ? "w2" : "w1", a->body[k].w, 3);
    }
    json_int(&j, "jamb", a->out.jamb);
    json_int(&j, "steps", a->out.steps);
    json_number(&j, "cone", a->cert.cone);
    json_number(&j, "approach", a->cert.approach);
    json_number(&j, "law_error", a->cert.law);
    json_number(&j, "energy_relative", a->cert.energy);
    if (a->entry->has_answer) json_number(&j, "difference", a->difference);
    json_number(&j, "time_us", 1e6 * a->seconds);
    json_end(&j);
}

static void print_row(const impact_answer *a)
{
    char phases[256] = "";
    size_t used = 0;
    for (int k = 0; k < a->out.nphase && used < sizeof phases; k++)
        used += (size_t)snprintf(phases + used, sizeof phases - used, "%s%s", k ? ", " : "",
                                 rb_impact_phase_name(a->out.phase[k]));
    report_name(stdout, a->entry->name, NAME_WIDTH);
    printf(" %12.6g %12.6g %12.6g %11.4g ", a->impulse[0], a->impulse[1], a->impulse[2],
           a->out.energy);
    if (a->entry->has_answer)
        printf("%8.1e ", a->difference);
    else
        printf("%8s ", "-");
    printf("%s%s\n", phases, a->certified ? "" : "  NOT CERTIFIED");
}

static void take(impact_run *r, const char *file, const rb_impact_entry *entry)
{
    impact_answer a = { .entry = entry };
    rb_status status = resolve(r, &a);
    if (r->impacts++ == 0 && !r->json)
        printf("%-*s %12s %12s %12s %11s %8s phases\n", NAME_WIDTH, "impact", "impulse x", "y", "z",
               "energy", "file");
    if (status != RB_OK) {
        progress_clear();
        fprintf(stderr, "%s:%d: %s: %s\n", file, entry->line, entry->name, why(status));
        worsen(r, status == RB_UNSOLVED ? EXIT_UNCERTIFIED : EXIT_BAD_INPUT);
        return;
    }
    if (!a.certified) {
        r->uncertified++;
        worsen(r, EXIT_UNCERTIFIED);
    }
    if (entry->has_answer) {
        r->compared++;
        r->worst = fmax(r->worst, a.difference);
    }
    r->seconds += a.seconds;
    progress_clear();
    if (r->json)
        print_json(&a);
    else
        print_row(&a);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void take_file(impact_run *r, const char *path)
{
    rb_error err = { 0 };
    rb_impact_reader *reader = rb_impact_open(path, NULL, &err);
    if (!reader) {
        report_error(&err);
        worsen(r, EXIT_BAD_INPUT);
        return;
    }

    const char *shown = strcmp(path, "-") == 0 ? "stdin" : path;
    int bad = 0, before = r->impacts;
    while (!ferror(stdout)) {
        rb_impact_entry entry;
        int more;
        rb_status status = rb_impact_next(reader, &entry, &more, &err);
        if (status != RB_OK) {
            if (bad++ < MOST_MESSAGES) report_error(&err);
            worsen(r, EXIT_BAD_INPUT);
            continue;
        }
        if (!more) break;
        take(r, shown, &entry);
        progress_show(rb_impact_progress(reader), r->impacts);
    }
    r->bad += bad;
    progress_clear();
    if (bad > MOST_MESSAGES) fprintf(stderr, "%s: %d more bad lines\n", shown, bad - MOST_MESSAGES);
    if (!bad && r->impacts == before) {
        fprintf(stderr, "%s: no impact in it; expected one JSON object per line\n", shown);
        worsen(r, EXIT_BAD_INPUT);
    }
    rb_impact_close(reader);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int set_law(void *to, const char *text)
{
    impact_run *r = to;
    for (int k = 0; k < 3; k++)
        if (strcmp(text, laws[k]) == 0) {
            r->law = k;
            return 1;
        }
    fprintf(stderr,
            "rattleback impact: --restitution-law %s: expected poisson, newton or stronge\n", text);
    return 0;
}

static int set_json(void *to, const char *text)
{
    impact_run *r = to;
    (void)text;
    return r->json = 1;
}

static int set_repeat(void *to, const char *text)
{
    impact_run *r = to;
    char *end;
    long count = strtol(text, &end, 10);
    if (end != text && *end == '\0' && count >= 1 && count <= 1000000) {
        r->repeat = (int)count;
        return 1;
    }
    fprintf(stderr, "rattleback impact: --repeat %s: expected an integer 1 .. 1000000\n", text);
    return 0;
}

static int set_help(void *to, const char *text)
{
    impact_run *r = to;
    (void)text;
    return r->help = 1;
}

static const char help[] =
    "usage: rattleback impact [options] FILE...\n"
    "\n"
    "Resolves single impacts of two rigid bodies with Coulomb friction, one JSON object per line:\n"
    "  {\"name\",\"im1\",\"iI1\",\"r1\",\"v1\",\"w1\",\"im2\",\"iI2\",\"r2\",\"v2\",\"w2\",\"n\","
    "\"mu\",\"e\"}\n"
    "  im: 1/mass, 0 = fixed; iI: inverse inertia, world axes; r: contact point minus centre of\n"
    "  mass; v, w: velocities before; n: unit normal from body 2 to body 1. \"law\" may name the\n"
    "  law of one line, \"impulse_on_1\" a known answer to compare with.\n"
    "\n"
    "  -                       as FILE: standard input\n"
    "  --restitution-law LAW   poisson, newton or stronge (poisson)\n"
    "  --repeat N              solve N times, report the shortest time (1)\n"
    "  --json                  one JSON object per answer\n"
    "\n"
    "exit status: 0 every answer is certified, 1 some answer is not, 2 bad usage or input\n"
    "\n"
    "example: rattleback impact scenes/problems/impact.jsonl\n";

static const argument table[] = {
    { "--restitution-law", 1, set_law }, { "--repeat", 1, set_repeat }, { "--json", 0, set_json },
    { "--help", 0, set_help },           { "-h", 0, set_help },         { NULL, 0, NULL },
};

int cmd_impact(int argc, char **argv)
{
    impact_run r = { .law = RB_POISSON, .repeat = 1 };
    arguments a = { .command = "impact", .table = table, .options = &r };
    if (!arguments_parse(&a, argc, argv)) return EXIT_BAD_INPUT;
    if (r.help) {
        fputs(help, stdout);
        return EXIT_CERTIFIED;
    }
    if (a.nfile == 0) {
        fprintf(stderr, "rattleback impact: expected a file, or - for standard input; see "
                        "rattleback impact --help\n");
        return EXIT_BAD_INPUT;
    }
    for (int k = 0; k < a.nfile && !ferror(stdout); k++) take_file(&r, argv[k]);
    if (r.impacts && !r.json) {
        printf("%d impacts, %d not certified, %.2f us each", r.impacts, r.uncertified,
               1e6 * r.seconds / r.impacts);
        if (r.compared)
            printf("; %d impulses of the files met to %.1e relative", r.compared, r.worst);
        printf("\n");
        if (r.bad) printf("%d bad lines were left out: see the messages\n", r.bad);
    }
    return r.exit_status;
}
