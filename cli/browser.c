/* for realpath */
#define _XOPEN_SOURCE 700

#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, MOST_WORDS = 32 };

/* ---- programs -----------------------------------------------------------------------------------
 */

/* Where PATH has a program; 0: nowhere. */
static int find_program(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(out, size, "%s", name);
        return access(out, X_OK) == 0;
    }
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(out, size, "%.*s/%s", (int)n, path, name);
        if (access(out, X_OK) == 0) return 1;
        path += n + (path[n] == ':');
    }
    return 0;
}

static int find_browser(char *out, size_t size)
{
    static const char *const names[] = { "chromium", "chromium-browser", "google-chrome-stable",
                                         "google-chrome" };
    const char *said = getenv("RB_CHROMIUM");
    if (said) return find_program(said, out, size);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (find_program(names[k], out, size)) return 1;
    return 0;
}

/* Starts a program; its input and output are these files, -1: none of ours. The process, or -1. */
static pid_t start(char **argv, int in, int out)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) return child;
    int none = open("/dev/null", O_RDWR);
    dup2(in >= 0 ? in : none, STDIN_FILENO);
    dup2(out >= 0 ? out : none, STDOUT_FILENO);
    dup2(none, STDERR_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

static int finish(pid_t child)
{
    int status = 0;
    if (child < 0) return 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- Chromium -----------------------------------------------------------------------------------
 */

typedef struct call {
    char program[PATH_SIZE], address[2 * PATH_SIZE], size[64], profile[PATH_SIZE],
        data[PATH_SIZE + 32];
    char output[PATH_SIZE + 32];
    char *argv[MOST_WORDS];
    int n;
} call;

static void word(call *c, const char *text)
{
    c->argv[c->n++] = (char *)text;
    c->argv[c->n] = NULL;
}

/* A profile of its own, so that a browser that is open is left alone. */
static int prepare(call *c, const char *page, const char *fragment, int width, int height)
{
    char full[PATH_SIZE];
    *c = (call){ 0 };
    if (!find_browser(c->program, sizeof c->program)) {
        fputs(
            "rattleback view: pictures need Chromium, which is not installed (Debian: apt install "
            "chromium); RB_CHROMIUM may name it. --html writes the page without it\n",
            stderr);
        return 0;
    }
    snprintf(c->profile, sizeof c->profile, "/tmp/rattleback-XXXXXX");
    if (!realpath(page, full) || !mkdtemp(c->profile)) {
        fprintf(stderr, "rattleback view: %s: %s\n", page, strerror(errno));
        return 0;
    }
    snprintf(c->address, sizeof c->address, "file://%s#%s", full, fragment);
    snprintf(c->size, sizeof c->size, "--window-size=%d,%d", width, height);
    snprintf(c->data, sizeof c->data, "--user-data-dir=%s", c->profile);
    word(c, c->program);
    word(c, "--headless=new");
    if (geteuid() == 0) word(c, "--no-sandbox"); /* root has none */
    word(c, "--disable-extensions");
    word(c, "--hide-scrollbars");
    word(c, "--no-first-run");
    word(c, "--disable-dev-shm-usage");
    word(c, "--use-angle=swiftshader");
    word(c, "--enable-unsafe-swiftshader");
    word(c, c->data);
    word(c, c->size);
    return 1;
}

static void clean(const call *c)
{
    char *argv[] = { "/bin/rm", "-rf", (char *)c->profile, NULL };
    finish(start(argv, -1, -1));
}

int browser_picture(const char *page, const char *fragment, int width, int height, const char *png)
{
    call c;
    struct stat made;
    if (!prepare(&c, page, fragment, width, height)) return 0;
    snprintf(c.output, sizeof c.output, "--screenshot=%s", png);
    unlink(png);
    word(&c, "--virtual-time-budget=20000");
    word(&c, c.output);
    word(&c, c.address);
    int good = finish(start(c.argv, -1, -1)) && stat(png, &made) == 0 && made.st_size > 0;
    if (!good) fprintf(stderr, "rattleback view: %s: %s made no picture\n", png, c.program);
    clean(&c);
    return good;
}

/* ---- films --------------------------------------------------------------------------------------
 */

static int digit(int c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Pictures as data:image/jpeg;base64,.. in the output of the browser. Their number. */
static int copy_pictures(FILE *from, FILE *to)
{
    static const char mark[] = "data:image/jpeg;base64,";
    int c, count = 0;
    size_t seen = 0;
    while ((c = getc(from)) != EOF) {
        seen = c == mark[seen] ? seen + 1 : c == mark[0];
        if (mark[seen]) continue;
        unsigned held = 0;
        int bits = 0, d;
        while ((c = getc(from)) != EOF && (d = digit(c)) >= 0) {
            held = held << 6 | (unsigned)d;
            if ((bits += 6) >= 8) putc((int)(held >> (bits -= 8) & 255U), to);
        }
        count++;
        seen = 0;
    }
    return count;
}

static int film(call *c, char **encoder)
{
    int pages[2], pictures[2], count = 0;
    if (pipe(pages) != 0 || pipe(pictures) != 0) return 0;
    for (int k = 0; k < 2; k++) {
        fcntl(pages[k], F_SETFD, FD_CLOEXEC);
        fcntl(pictures[k], F_SETFD, FD_CLOEXEC);
    }
    pid_t browser = start(c->argv, -1, pages[1]), ffmpeg = start(encoder, pictures[0], -1);
    close(pages[1]);
    close(pictures[0]);
    FILE *from = fdopen(pages[0], "r"), *to = fdopen(pictures[1], "w");
    if (from && to) count = copy_pictures(from, to);
    int good = from && to && fclose(to) == 0;
    if (from) fclose(from);
    good &= finish(browser);
    good &= finish(ffmpeg);
    return good ? count : 0;
}

int browser_film(const char *page, const char *fragment, int width, int height, double fps,
                 const char *mp4)
{
    call c;
    char ffmpeg[PATH_SIZE], rate[32];
    if (!find_program("ffmpeg", ffmpeg, sizeof ffmpeg)) {
        fputs("rattleback view: --mp4 needs ffmpeg, which is not installed (Debian: apt install "
              "ffmpeg)\n",
              stderr);
        return 0;
    }
    if (!prepare(&c, page, fragment, width, height)) return 0;
    word(&c, "--virtual-time-budget=600000");
    word(&c, "--dump-dom");
    word(&c, c.address);
    snprintf(rate, sizeof rate, "%g", fps);
    char *encoder[] = { ffmpeg,       "-y",
                        "-loglevel",  "error",
                        "-f",         "image2pipe",
                        "-c:v",       "mjpeg",
                        "-framerate", rate,
                        "-i",         "-",
                        "-vf",        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                        "-pix_fmt",   "yuv420p",
                        (char *)mp4,  NULL };
    int count = film(&c, encoder);
    clean(&c);
    if (count == 0) fprintf(stderr, "rattleback view: %s: no film was made\n", mp4);
    return count > 0;
}

int browser_open(const char *page)
{
    static const char *const names[] = { "xdg-open", "open" };
    char program[PATH_SIZE];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!find_program(names[k], program, sizeof program)) continue;
        char *argv[] = { program, (char *)page, NULL };
        if (finish(start(argv, -1, -1))) return 1;
    }
    fprintf(stderr, "rattleback view: open %s in a browser; there is no desktop here to do it\n",
            page);
    return 0;
}
