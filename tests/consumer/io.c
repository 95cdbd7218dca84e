/* Reads a problem from a line of JSON and solves it: links rattleback_io and Jansson. */
#include <stdio.h>
#include <string.h>
#include <rattleback/io.h>

int main(void)
{
    const char *line = "{\"name\": \"one\", \"M\": [[4]], \"q\": [-2]}";
    rb_problem_entry *entry = NULL;
    rb_error err = { 0 };
    if (rb_problem_parse(RB_FORMAT_LCP, line, strlen(line), 1, NULL, &entry, &err) != RB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    double z = 0.0;
    rb_status status = rb_solve(&entry->problem, &opts, &z, &info);
    printf("%s: %s, z = %g\n", entry->name, rb_status_text(status), z);
    rb_problem_entry_free(entry);
    return status == RB_OK && info.outcome == RB_SOLVED && z == 0.5 ? 0 : 1;
}
