/* What the tests of the two problem readers share. */
#ifndef RB_TESTS_IO_SUPPORT_H
#define RB_TESTS_IO_SUPPORT_H

#include "test.h"

#include "rattleback/io.h"

/* A line that must be refused: status and a part of the sentence. */
typedef struct bad_line {
    const char *text;
    rb_status status;
    const char *sentence;
} bad_line;

static inline rb_problem_entry *parse(rb_problem_format format, const char *text)
{
    rb_problem_entry *entry = NULL;
    rb_error err = { 0 };
    rb_status status = rb_problem_parse(format, text, strlen(text), 7, NULL, &entry, &err);
    if (status != RB_OK) test_fail(__FILE__, __LINE__, "%s: %s", text, err.text);
    rb_error check = { 0 };
    if (rb_problem_check(&entry->problem, &check) != RB_OK)
        test_fail(__FILE__, __LINE__, "%s: the check refuses it: %s", text, check.text);
    return entry;
}

/* Refused with that status and sentence, at the line given, with nothing left allocated; and the
 * same status where nobody asks for the sentence. */
static inline void check_refused_bytes(rb_problem_format format, const char *bytes, size_t size,
                                       rb_status status, const char *sentence)
{
    test_memory memory = { 0 };
    rb_alloc alloc = test_alloc(&memory);
    rb_problem_entry *entry = NULL;
    rb_error err = { 0 };
    rb_status got = rb_problem_parse(format, bytes, size, 7, &alloc, &entry, &err);
    if (got != status || !strstr(err.text, sentence))
        test_fail(__FILE__, __LINE__, "%.200s\n    %s: \"%s\"\n    wanted %s: \"%s\"", bytes,
                  rb_status_text(got), err.text, rb_status_text(status), sentence);
    CHECK_INT(err.status, status);
    CHECK_INT(err.line, 7);
    CHECK(entry == NULL);
    CHECK_INT(memory.live, 0);
    CHECK_INT(rb_problem_parse(format, bytes, size, 7, &alloc, &entry, NULL), status);
    CHECK_INT(memory.live, 0);
}

static inline void check_refused(rb_problem_format format, const bad_line *lines, size_t count)
{
    for (size_t k = 0; k < count; k++)
        check_refused_bytes(format, lines[k].text, strlen(lines[k].text), lines[k].status,
                            lines[k].sentence);
}

/* A file with these bytes; its path, to be removed by the caller. */
static inline const char *write_file(const char *bytes, size_t size)
{
    static char path[] = "test_io.XXXXXX";
    strcpy(path, "test_io.XXXXXX");
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, size, file) == size);
    CHECK_INT(fclose(file), 0);
    return path;
}

/* What the writer writes, in one string to be freed. */
static inline char *written(const rb_problem *p, const char *name)
{
    FILE *file = tmpfile();
    CHECK(file != NULL);
    rb_error err = { 0 };
    rb_status status = rb_problem_write_json(file, name, p, NULL, &err);
    if (status != RB_OK) test_fail(__FILE__, __LINE__, "writing failed: %s", err.text);
    long size = ftell(file);
    CHECK(size > 0);
    char *text = calloc((size_t)size + 1, 1);
    CHECK(text != NULL);
    rewind(file);
    CHECK(fread(text, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    return text;
}

/* Every allocation of a parse fails in turn: RB_NOMEM each time, and nothing is left. */
static inline void check_parse_without_memory(rb_problem_format format, const char *text)
{
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_problem_entry *entry = NULL;
        rb_error err = { 0 };
        rb_status status = rb_problem_parse(format, text, strlen(text), 1, &alloc, &entry, &err);
        CHECK_INT(status, memory.requests < k ? RB_OK : RB_NOMEM);
        if (status == RB_NOMEM) CHECK_CONTAINS(err.text, "out of memory");
        rb_problem_entry_free(entry);
        CHECK_INT(memory.live, 0);
        if (status == RB_OK) break;
    }
}

static inline void check_same_bits(const double *a, const double *b, size_t count)
{
    CHECK((a == NULL) == (b == NULL));
    if (a) CHECK(memcmp(a, b, count * sizeof *a) == 0);
}

#endif
