/* Drops on file, in their order, so that a run that was killed continues where the file ends. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "poses/poses.h"

#define FORMAT                                                                                     \
    "# rattleback poses 1, settings %016" PRIx64 "\ndrop,pose,outcome,time,steps,retries\n"

static int refuse(const char *path, int line, const char *text)
{
    if (line)
        fprintf(stderr, "%s:%d: %s\n", path, line, text);
    else
        fprintf(stderr, "%s: %s\n", path, text);
    return 0;
}

static void put(FILE *out, const rb_drop *drops, int from, int upto)
{
    for (int k = from; k < upto; k++)
        fprintf(out, "%d,%d,%s,%.17g,%d,%d\n", k, drops[k].pose, rb_drop_word(drops[k].outcome),
                drops[k].time, drops[k].steps, drops[k].retries);
}

/* One line of the file, without its end. */
static int parse(const char *line, int k, int npose, rb_drop *out)
{
    char word[16];
    int number, used = 0;
    if (sscanf(line, "%d,%d,%15[a-z],%lf,%d,%d%n", &number, &out->pose, word, &out->time,
               &out->steps, &out->retries, &used) != 6)
        return 0;
    if (line[used] != '\0' || number != k || out->pose < -1 || out->pose >= npose) return 0;
    int outcome = 0;
    while (outcome < RB_DROP_OUTCOMES && strcmp(word, rb_drop_word((rb_drop_outcome)outcome)) != 0)
        outcome++;
    out->outcome = (rb_drop_outcome)outcome;
    int has_pose = outcome < RB_DROP_UNSETTLED;
    return outcome < RB_DROP_OUTCOMES && has_pose == (out->pose >= 0);
}

/* Reads what is there; *good is where the last whole line ends. */
static int read_drops(const poses_record *r, const char *head, int npose, rb_drop *drops, int room,
                      int *n, long *good)
{
    char line[256];
    size_t length = strlen(head);
    char first[256] = { 0 };
    int count = 0;
    *n = 0;
    *good = 0;
    size_t got = fread(first, 1, length, r->file);
    if (got == 0) return 1;
    if (memcmp(first, head, got) != 0)
        return refuse(r->path, 1,
                      "not the record of this run (other part, settings or program): expected "
                      "the same command line, or a new file");
    if (got < length) return 1; /* killed while writing its first lines */
    *good = (long)length;
    while (fgets(line, sizeof line, r->file)) {
        size_t end = strlen(line);
        if (line[end - 1] != '\n') break; /* the last line, cut off */
        line[end - 1] = '\0';
        rb_drop read;
        if (!parse(line, count, npose, &read))
            return refuse(r->path, count + 3,
                          "expected a drop as \"number,pose,outcome,time,steps,retries\""
                          " in order: the file was changed");
        if (count < room) drops[(*n)++] = read;
        count++;
        *good += (long)end;
    }
    return ferror(r->file) ? refuse(r->path, 0, "cannot be read") : 1;
}

int poses_record_open(poses_record *r, const char *path, uint64_t settings, int npose,
                      rb_drop *drops, int room, int *n)
{
    char head[256];
    long good = 0;
    *r = (poses_record){ .path = path };
    *n = 0;
    snprintf(head, sizeof head, FORMAT, settings);
    int at = open(path, O_RDWR | O_CREAT, 0666);
    if (at >= 0 && !(r->file = fdopen(at, "r+"))) close(at);
    if (!r->file) return refuse(path, 0, strerror(errno));
    int ok = 1;
    if (flock(at, LOCK_EX | LOCK_NB) != 0) ok = refuse(path, 0, "another run is writing to it");
    ok = ok && read_drops(r, head, npose, drops, room, n, &good);
    if (ok && (ftruncate(at, good) != 0 || fseek(r->file, 0, SEEK_END) != 0))
        ok = refuse(path, 0, strerror(errno));
    if (ok && good == 0) ok = fputs(head, r->file) >= 0 && fflush(r->file) == 0;
    r->written = *n;
    if (ok) return 1;
    fclose(r->file);
    r->file = NULL;
    return 0;
}

int poses_record_append(poses_record *r, const rb_drop *drops, int upto)
{
    if (!r->file || upto <= r->written) return 1;
    put(r->file, drops, r->written, upto);
    r->written = upto;
    return fflush(r->file) == 0 ? 1 : refuse(r->path, 0, strerror(errno));
}

int poses_record_close(poses_record *r)
{
    if (!r->file) return 1;
    int ok = fclose(r->file) == 0;
    r->file = NULL;
    return ok ? 1 : refuse(r->path, 0, strerror(errno));
}

int poses_write_csv(const char *path, const rb_drop *drops, int n)
{
    FILE *out = fopen(path, "w");
    if (!out) return refuse(path, 0, strerror(errno));
    fputs("drop,pose,outcome,time,steps,retries\n", out);
    put(out, drops, 0, n);
    int failed = fflush(out) != 0 || ferror(out);
    if (fclose(out) != 0) failed = 1;
    return failed ? refuse(path, 0, "not everything could be written") : 1;
}
