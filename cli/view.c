/* `rattleback view`: a page with the model and the engine in it; pictures and films of it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "browser.h"
#include "bundle.h"
#include "commands.h"
#include "model.h"
#include "rattleback/show.h"
#include "reproduce/reproduce.h"
#include "show.h"

enum { PATH_SIZE = 4096, MOST_FILES = 4096 };

typedef struct options {
    model_options model; /* first: the setters of model.h write to it */
    const char *html, *png, *mp4;
    int no_open;
    int has_friction;
    double time, fps, friction;
    int size[2];
    const char *camera;
} options;

/* ---- the files of a model -----------------------------------------------------------------------
 */

typedef struct files {
    int n, lost;
    char *path[MOST_FILES]; /* absolute */
} files;

/* An absolute path without "." and "..", as the readers spell it; NULL: too long. */
static char *absolute(const char *path)
{
    char joined[2 * PATH_SIZE], out[2 * PATH_SIZE] = "", here[PATH_SIZE];
    if (path[0] != '/' && !getcwd(here, sizeof here)) return NULL;
    if (snprintf(joined, sizeof joined, "%s/%s", path[0] == '/' ? "" : here, path) >=
        (int)sizeof joined)
        return NULL;
    for (char *at = strtok(joined, "/"); at; at = strtok(NULL, "/")) {
        char *last = strrchr(out, '/');
        if (strcmp(at, ".") == 0) continue;
        if (strcmp(at, "..") == 0) {
            if (last) *last = '\0';
            continue;
        }
        strcat(out, "/");
        strcat(out, at);
    }
    return strdup(out);
}

static void found(void *ctx, const char *path)
{
    files *f = ctx;
    char *full = absolute(path);
    for (int k = 0; full && k < f->n; k++) {
        if (strcmp(f->path[k], full) != 0) continue;
        free(full);
        return;
    }
    if (full && f->n < MOST_FILES)
        f->path[f->n++] = full;
    else
        f->lost = 1, free(full);
}

/* Length of the folder that holds all of them, its slash included. */
static size_t common_folder(const files *f)
{
    size_t n = strlen(f->path[0]);
    for (int k = 1; k < f->n; k++) {
        size_t same = 0;
        while (same < n && f->path[k][same] == f->path[0][same]) same++;
        n = same;
    }
    while (n > 0 && f->path[0][n - 1] != '/') n--;
    return n;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = NULL;
    *size = 0;
    if (in && fseek(in, 0, SEEK_END) == 0) {
        long length = ftell(in);
        bytes = length >= 0 ? malloc((size_t)length + 1) : NULL;
        rewind(in);
        if (bytes) *size = fread(bytes, 1, (size_t)length, in);
    }
    if (in) fclose(in);
    return bytes;
}

/* ---- the page -----------------------------------------------------------------------------------
 */

typedef struct page {
    const options *o;
    const files *f;
    size_t skip, bytes; /* common folder; bytes of the files */
    const char *missing;
} page;

static void put_file(FILE *out, page *p, const char *path, int first)
{
    size_t size;
    char *bytes = read_file(path, &size);
    if (!bytes) p->missing = path;
    fputs(first ? "{\"path\":" : ",{\"path\":", out);
    rb_put_text(out, path + p->skip);
    fputs(",\"base64\":\"", out);
    rb_put_base64(out, bytes, bytes ? size : 0);
    fputs("\"}", out);
    p->bytes += size;
    free(bytes);
}

/* Folders of packages that hold files of the model, as the page has them. */
static void put_packages(FILE *out, const page *p)
{
    int some = 0;
    fputs(",\"packages\":[", out);
    for (int k = 0; k < p->o->model.npackage; k++) {
        const char *entry = p->o->model.packages[k], *equals = strchr(entry, '=');
        char text[2 * PATH_SIZE], *folder = absolute(equals ? equals + 1 : entry);
        if (folder && strlen(folder) + 1 >= p->skip &&
            strncmp(folder, p->f->path[0], p->skip - 1) == 0) {
            const char *rest = strlen(folder) >= p->skip ? folder + p->skip : "";
            snprintf(text, sizeof text, "%.*s/%s", (int)(equals ? equals + 1 - entry : 0), entry,
                     rest);
            if (some++) putc(',', out);
            rb_put_text(out, text);
        }
        free(folder);
    }
    putc(']', out);
}

static rb_status put_model(FILE *out, void *ctx)
{
    page *p = ctx;
    const options *o = p->o;
    fputs("{\"model\":", out);
    rb_put_text(out, p->f->path[0] + p->skip);
    fputs(",\"files\":[", out);
    for (int k = 0; k < p->f->n; k++) put_file(out, p, p->f->path[k], k == 0);
    fputs("],\"options\":{", out);
    if (o->has_friction) fprintf(out, "\"mu\":\"%.17g\"", o->friction);
    putc('}', out);
    if (o->model.key) fputs(",\"key\":", out), rb_put_text(out, o->model.key);
    if (o->model.has_ground)
        fprintf(out, ",\"ground\":%.17g", o->model.ground);
    else
        fputs(",\"ground\":null", out);
    put_packages(out, p);
    fprintf(out, ",\"floating_base\":%d}", o->model.load.floating_base);
    return p->missing ? RB_FILE : RB_OK;
}

static int write_page(const options *o, const files *f, const char *html)
{
    page p = { .o = o, .f = f, .skip = common_folder(f) };
    size_t size, wasm_size;
    const char *viewer = bundle_page(&size);
    const unsigned char *wasm = bundle_wasm(&wasm_size);
    FILE *out = fopen(html, "wb");
    rb_status status =
        out ? rb_page_write(out, viewer, size, "rb-model", put_model, &p, wasm, wasm_size)
            : RB_FILE;
    if (out && fclose(out) != 0) status = RB_FILE;
    if (status != RB_OK) {
        fprintf(stderr, "%s: %s\n", p.missing ? p.missing : html,
                status == RB_FILE ? strerror(errno) : rb_status_text(status));
        return 0;
    }
    printf("%s: %d files of the model (%.3f MB), engine %.3f MB, viewer %.3f MB\n", html, f->n,
           1e-6 * (double)p.bytes, 1e-6 * (double)wasm_size, 1e-6 * (double)size);
    return 1;
}

/* ---- pictures -----------------------------------------------------------------------------------
 */

/* A replay of the run up to --time, through `rattleback run`. */
static int write_replay(const options *o, const char *path, const char *html)
{
    char time[40], friction[40], ground[40], fps[40];
    char *argv[32 + 2 * MODEL_MOST_PACKAGES];
    int n = 0;
    snprintf(time, sizeof time, "%.17g", o->time);
    snprintf(friction, sizeof friction, "%.17g", o->friction);
    snprintf(ground, sizeof ground, "%.17g", o->model.ground);
    snprintf(fps, sizeof fps, "%.17g", o->fps);
    argv[n++] = "run", argv[n++] = (char *)path, argv[n++] = "--json";
    argv[n++] = "--html", argv[n++] = (char *)html;
    argv[n++] = "--time", argv[n++] = time;
    argv[n++] = "--fps", argv[n++] = fps;
    argv[n++] = "--lenient";
    if (o->model.key) argv[n++] = "--key", argv[n++] = (char *)o->model.key;
    if (o->has_friction) argv[n++] = "--friction", argv[n++] = friction;
    if (o->model.has_ground) argv[n++] = "--ground", argv[n++] = ground;
    if (o->model.load.floating_base) argv[n++] = "--floating-base";
    for (int k = 0; k < o->model.npackage; k++)
        argv[n++] = "--package", argv[n++] = (char *)o->model.packages[k];
    argv[n] = NULL;
    int status = trial_command(cmd_run, argv, "/dev/null", "/dev/null");
    return status == EXIT_CERTIFIED || status == EXIT_UNCERTIFIED;
}

static int take_pictures(const options *o, const char *path)
{
    char folder[] = "/tmp/rattleback-XXXXXX", html[sizeof folder + 16], fragment[256];
    int good = mkdtemp(folder) != NULL;
    snprintf(html, sizeof html, "%s/page.html", folder);
    if (!good) fprintf(stderr, "rattleback view: %s: %s\n", folder, strerror(errno));
    if (good && !write_replay(o, path, html)) {
        fprintf(stderr, "rattleback view: %s cannot be run; see rattleback run %s\n", path, path);
        good = 0;
    }
    if (good && o->png) {
        snprintf(fragment, sizeof fragment, "time=%.9g&plain=1&size=%dx%d%s%s", o->time, o->size[0],
                 o->size[1], o->camera ? "&camera=" : "", o->camera ? o->camera : "");
        good = browser_picture(html, fragment, o->size[0], o->size[1], o->png);
    }
    if (good && o->mp4) {
        snprintf(fragment, sizeof fragment, "film=%.9g&plain=1&size=%dx%d%s%s", o->fps, o->size[0],
                 o->size[1], o->camera ? "&camera=" : "", o->camera ? o->camera : "");
        good = browser_film(html, fragment, o->size[0], o->size[1], o->fps, o->mp4);
    }
    unlink(html);
    rmdir(folder);
    return good;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int set_html(void *to, const char *text)
{
    ((options *)to)->html = text;
    return 1;
}

static int set_png(void *to, const char *text)
{
    ((options *)to)->png = text;
    return 1;
}

static int set_mp4(void *to, const char *text)
{
    ((options *)to)->mp4 = text;
    return 1;
}

static int set_no_open(void *to, const char *text)
{
    (void)text;
    return ((options *)to)->no_open = 1;
}

static int set_time(void *to, const char *text)
{
    return argument_number("view", "--time", text, 0.0, 1e6, "seconds >= 0, for example 0.5",
                           &((options *)to)->time);
}

static int set_fps(void *to, const char *text)
{
    return argument_number("view", "--fps", text, 1.0, 240.0, "frames a second from 1 to 240",
                           &((options *)to)->fps);
}

static int set_friction(void *to, const char *text)
{
    options *o = to;
    o->has_friction = 1;
    return argument_number("view", "--friction", text, 0.0, 1e30, "a number from 0 to 1e30",
                           &o->friction);
}

static int set_size(void *to, const char *text)
{
    options *o = to;
    char rest;
    int good = sscanf(text, "%5dx%5d%c", &o->size[0], &o->size[1], &rest) == 2;
    for (int k = 0; k < 2; k++) good = good && o->size[k] >= 16 && o->size[k] <= 8192;
    return good ? 1
                : argument_refuse("view", "--size", text,
                                  "WIDTHxHEIGHT from 16 to 8192, for example 800x600");
}

/* azimuth,elevation[,distance] */
static int set_camera(void *to, const char *text)
{
    ((options *)to)->camera = text;
    if (strspn(text, "0123456789.,-+e") == strlen(text) && strchr(text, ',')) return 1;
    return argument_refuse(
        "view", "--camera", text,
        "azimuth,elevation[,distance] in degrees and metres, for example -60,20,3");
}

static const argument table[] = {
    { "--html", 1, set_html },
    { "--no-open", 0, set_no_open },
    { "--png", 1, set_png },
    { "--mp4", 1, set_mp4 },
    { "--time", 1, set_time },
    { "--fps", 1, set_fps },
    { "--size", 1, set_size },
    { "--camera", 1, set_camera },
    { "--friction", 1, set_friction },
    MODEL_ARGUMENTS,
    { NULL, 0, NULL },
};

static void help(void)
{
    printf(
        "usage: rattleback view [options] MODEL\n\n"
        "Writes one page with the model and the engine in it, and opens it: the model moves, "
        "bodies\n"
        "can be pulled, everything can be changed. The page needs no network and no "
        "installation.\n\n"
        "  --html FILE            the page (MODEL.html in the current folder)\n"
        "  --no-open              write it only\n"
        "  --png FILE             a picture instead, through headless Chromium\n"
        "  --mp4 FILE             a film instead, through Chromium and ffmpeg\n"
        "  --time T               time of a picture, length of a film [s] (0; films 3)\n"
        "  --fps N                frames per second of films (30)\n"
        "  --size WxH             size of pictures and films (800x600)\n"
        "  --camera AZ,EL[,DIST]  view: azimuth, elevation [degrees], distance [m]\n"
        "  --friction MU          replaces every sliding coefficient\n"
        "%s"
        "\nexit status: 0 done, 2 bad usage or input\n"
        "\nexample: rattleback view scenes/robots/quadruped.xml --html quadruped.html --no-open\n",
        model_options_help);
}

/* The name of the model with .html, in the current folder. */
static void default_name(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    snprintf(out, size, "%.*s.html", (int)(dot ? dot - name : (long)strlen(name)), name);
}

static int view(options *o, const char *path)
{
    files f = { 0 };
    char name[PATH_SIZE];
    found(&f, path);
    o->model.load.found = found;
    o->model.load.found_ctx = &f;
    rb_model *m = model_load(&o->model, path);
    rb_model *shown = m ? show_visuals(&o->model, path) : NULL; /* finds the meshes that are seen */
    int good = m != NULL && !f.lost;
    if (shown) rb_model_free(shown, NULL);
    model_free(&o->model, m);
    default_name(path, name, sizeof name);
    const char *html = o->html ? o->html : name;
    if (good && (o->png || o->mp4)) good = take_pictures(o, path);
    if (good && (o->html || !(o->png || o->mp4))) {
        good = write_page(o, &f, html);
        if (good && !o->no_open) browser_open(html);
    }
    for (int k = 0; k < f.n; k++) free(f.path[k]);
    return good ? EXIT_CERTIFIED : EXIT_BAD_INPUT;
}

int cmd_view(int argc, char **argv)
{
    options o = {
        .model = model_options_default("view"), .fps = 30.0, .time = NAN, .size = { 800, 600 }
    };
    arguments a = { .command = "view", .table = table, .options = &o };
    if (!arguments_parse(&a, argc, argv)) return EXIT_BAD_INPUT;
    if (o.model.help) {
        help();
        return EXIT_CERTIFIED;
    }
    if (!model_one_file(&o.model, a.nfile)) return EXIT_BAD_INPUT;
    if (isnan(o.time)) o.time = o.mp4 ? 3.0 : 0.0;
    return view(&o, argv[0]);
}
