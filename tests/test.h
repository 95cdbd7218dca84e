/* The unit-test header: cmocka underneath, our own words on top.
 *
 *     TEST(dot_of_unit_vectors)
 *     {
 *         for (uint64_t seed = 1; seed <= 50; seed++) {
 *             TEST_SEED(seed);                         // printed if a check below fails
 *             CHECK_NEAR(dot_of_random(seed), 1.0, 1e-14);
 *         }
 *     }
 *
 *     TEST_MAIN(RUN(dot_of_unit_vectors), RUN(...))
 *
 * The list in TEST_MAIN is explicit; a TEST left out of it is an unused static function and does
 * not compile in CI. Arguments of the program filter by name: `test_dense lu` runs the tests whose
 * name contains "lu", `test_dense --list` lists them. A failed check ends its test. */
#ifndef RB_TEST_H
#define RB_TEST_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rattleback/base.h"

/* CTest is told that this exit status means "every test was skipped". */
enum { TEST_EXIT_SKIPPED = 77, TEST_MAX_COUNT = 256 };

/* What the running test has set; one process runs one test at a time. */
static uint64_t test_seed_value;
static int test_seed_is_set;
static int test_skip_count;

#define TEST(name)                                                                                 \
    static void name##_body(void);                                                                 \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        test_seed_is_set = 0;                                                                      \
        name##_body();                                                                             \
    }                                                                                              \
    static void name##_body(void)

#define RUN(name) cmocka_unit_test(name)

#define TEST_MAIN(...)                                                                             \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct CMUnitTest all[] = { __VA_ARGS__ };                                    \
        return test_main(argc, argv, all, sizeof all / sizeof all[0]);                             \
    }

/* From here to the end of the test, failures name this seed. */
#define TEST_SEED(seed) (test_seed_is_set = 1, test_seed_value = (uint64_t)(seed))

#define CHECK(cond)           test_check((cond) != 0, #cond, __FILE__, __LINE__)
#define CHECK_INT(a, b)       test_check_int((a), (b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_STR(a, b)       test_check_str((a), (b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_CONTAINS(a, b)  test_check_contains((a), (b), __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tol) test_check_near((a), (b), (tol), #a " ~ " #b, __FILE__, __LINE__)
#define SKIP(...)             (test_skip_say(__VA_ARGS__), skip())

#if defined(__GNUC__)
#define TEST_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TEST_PRINTF(fmt, args)
#endif

TEST_PRINTF(3, 4)
static inline void test_fail(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    print_error("%s:%d: %s\n", file, line, text);
    if (test_seed_is_set) print_error("    with seed %" PRIu64 "\n", test_seed_value);
    _fail(file, line);
}

TEST_PRINTF(1, 2)
static inline void test_skip_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("skipped: ", stdout);
    vprintf(format, args);
    fputc('\n', stdout);
    va_end(args);
    test_skip_count++;
}

static inline void test_check(int ok, const char *what, const char *file, int line)
{
    if (!ok) test_fail(file, line, "CHECK(%s)", what);
}

static inline void test_check_int(long long a, long long b, const char *what, const char *file,
                                  int line)
{
    if (a != b) test_fail(file, line, "%s, but %lld != %lld", what, a, b);
}

static inline void test_check_str(const char *a, const char *b, const char *what, const char *file,
                                  int line)
{
    int equal = a && b ? strcmp(a, b) == 0 : a == b;
    if (!equal) {
        test_fail(file, line, "%s, but \"%s\" != \"%s\"", what, a ? a : "(null)", b ? b : "(null)");
    }
}

static inline void test_check_contains(const char *text, const char *part, const char *file,
                                       int line)
{
    if (!text || !strstr(text, part)) {
        test_fail(file, line, "\"%s\" is not in \"%s\"", part, text ? text : "(null)");
    }
}

/* Equal infinities are near; NaN is near nothing, itself included. */
static inline void test_check_near(double a, double b, double tol, const char *what,
                                   const char *file, int line)
{
    int near = a == b || fabs(a - b) <= tol;
    if (!near) {
        test_fail(file, line, "%s, but %.17g and %.17g differ by %.3g > %.3g", what, a, b,
                  fabs(a - b), tol);
    }
}

/* The folder of the reference data: RATTLEBACK_SHARED, else `shared` beside the repository. */
static inline const char *test_shared_dir(void)
{
    const char *dir = getenv("RATTLEBACK_SHARED");
    return dir && *dir ? dir : RB_SHARED_DIR;
}

/* Path of a file in that folder; skips the running test where the file is not there. The text is
 * overwritten by the next call. */
static inline const char *test_shared(const char *file)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_shared_dir(), file);
    FILE *probe = fopen(path, "rb");
    if (!probe) SKIP("no reference data at %s (set RATTLEBACK_SHARED)", path);
    if (probe) fclose(probe);
    return path;
}

/* An allocator that counts and refuses request number `fail_at` (1 = the first, 0 = none).
 *
 *     for (long k = 1;; k++) {
 *         test_memory memory = { .fail_at = k };
 *         rb_alloc alloc = test_alloc(&memory);
 *         ... call with &alloc ...
 *         CHECK_INT(memory.live, 0);                   // nothing leaked on the failing path
 *         if (memory.requests < k) break;              // the call got through: all paths seen
 *     } */
typedef struct test_memory {
    long fail_at;  /* in                                     */
    long requests; /* out: allocations and resizes asked for */
    long live;     /* out: blocks not yet released           */
} test_memory;

static inline void *test_memory_alloc(void *ctx, size_t size)
{
    test_memory *memory = ctx;
    if (++memory->requests == memory->fail_at) return NULL;
    void *block = malloc(size ? size : 1);
    if (block) memory->live++;
    return block;
}

static inline void *test_memory_resize(void *ctx, void *block, size_t size)
{
    test_memory *memory = ctx;
    if (!block) return test_memory_alloc(ctx, size);
    if (++memory->requests == memory->fail_at) return NULL;
    return realloc(block, size ? size : 1);
}

static inline void test_memory_release(void *ctx, void *block)
{
    test_memory *memory = ctx;
    if (block) memory->live--;
    free(block);
}

static inline rb_alloc test_alloc(test_memory *memory)
{
    return (rb_alloc){ test_memory_alloc, test_memory_resize, test_memory_release, memory };
}

/* How many random configurations a campaign asks for (RATTLEBACK_PAIRS), and after which seed they
 * begin (RATTLEBACK_SEED). */
static inline int test_count(int usual)
{
    const char *text = getenv("RATTLEBACK_PAIRS");
    int n = text ? atoi(text) : 0;
    return n > 0 ? n : usual;
}

static inline int test_first_seed(void)
{
    const char *text = getenv("RATTLEBACK_SEED");
    return 1 + (text ? atoi(text) : 0);
}

static inline int test_selected(int argc, char **argv, const char *name)
{
    if (argc < 2) return 1;
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i])) return 1;
    }
    return 0;
}

static inline int test_main(int argc, char **argv, const struct CMUnitTest *all, size_t count)
{
    struct CMUnitTest chosen[TEST_MAX_COUNT];
    size_t chosen_count = 0;
    int list_only = argc == 2 && strcmp(argv[1], "--list") == 0;

    if (count > TEST_MAX_COUNT) {
        fprintf(stderr, "more than %d tests: raise TEST_MAX_COUNT\n", TEST_MAX_COUNT);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        if (list_only)
            puts(all[i].name);
        else if (test_selected(argc, argv, all[i].name))
            chosen[chosen_count++] = all[i];
    }
    if (list_only) return 0;
    if (chosen_count == 0) {
        fprintf(stderr, "no test has such a name; --list shows them\n");
        return 2;
    }

    /* the output of a test that aborts is still complete */
    setvbuf(stdout, NULL, _IOLBF, 0);
    int failed = _cmocka_run_group_tests(argv[0], chosen, chosen_count, NULL, NULL);
    if (failed) return 1;
    return (size_t)test_skip_count == chosen_count ? TEST_EXIT_SKIPPED : 0;
}

#endif
