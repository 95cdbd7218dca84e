/* Files that a model names: found where a user expects them; of a model in memory never outside of
 * the folders given. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "io/path.h"

/* ---- paths as text ---- */

TEST(joining)
{
    const char *cases[][3] = {
        { NULL, "a", "a" },
        { "", "a/b", "a/b" },
        { "a", "b", "a/b" },
        { "a/", "b", "a/b" },
        { "a", "./b", "a/b" },
        { "a", "../b", "b" },
        { "a/b", "../../c", "c" },
        { "a", "../../b", "../b" },
        { "..", "../b", "../../b" },
        { "a", "/b", "/b" },
        { "/a", "b", "/a/b" },
        { "/a", "../..", "/" },
        { "/", "../b", "/b" },
        { "a", "..", "." },
        { "a//b", "c//d/", "a/b/c/d" },
        { "/a/./b", "..//c", "/a/c" },
        { "a", "", "a" },
        { "", "", "." },
        { "a", ".../b", "a/.../b" },
        { "..", "", ".." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[RB_IO_PATH_MAX];
        CHECK_INT(rb_io_path_join(cases[i][0], cases[i][1], out), RB_OK);
        CHECK_STR(out, cases[i][2]);
    }
}

TEST(folders_names_extensions)
{
    char out[RB_IO_PATH_MAX], extension[8];
    CHECK_INT(rb_io_path_folder("a/b.xml", out), RB_OK);
    CHECK_STR(out, "a");
    CHECK_INT(rb_io_path_folder("b.xml", out), RB_OK);
    CHECK_STR(out, ".");
    CHECK_INT(rb_io_path_folder("/b.xml", out), RB_OK);
    CHECK_STR(out, "/");
    CHECK_STR(rb_io_path_name("a/b\\c.stl"), "c.stl");
    rb_io_path_extension("a.b/c.STL", extension);
    CHECK_STR(extension, "stl");
    rb_io_path_extension("a.b/c", extension);
    CHECK_STR(extension, "");
    rb_io_path_extension("c.waytoolong", extension);
    CHECK_STR(extension, "");
}

TEST(long_paths_are_refused)
{
    static char longest[RB_IO_PATH_MAX + 10];
    char out[RB_IO_PATH_MAX];
    memset(longest, 'a', sizeof longest - 1);
    CHECK_INT(rb_io_path_join("b", longest, out), RB_TOO_LARGE);
    longest[RB_IO_PATH_MAX - 3] = '\0';
    CHECK_INT(rb_io_path_join("b", longest, out), RB_OK);
    longest[RB_IO_PATH_MAX - 3] = 'a';
    longest[RB_IO_PATH_MAX - 2] = '\0';
    CHECK_INT(rb_io_path_join("b", longest, out), RB_TOO_LARGE);

    rb_error err = { 0 };
    rb_where where = { "m.urdf", 3 };
    rb_io_search search = { .model = "m.urdf" };
    longest[RB_IO_PATH_MAX - 2] = 'a';
    CHECK_INT(rb_io_path_resolve(&search, NULL, longest, &where, out, &err), RB_TOO_LARGE);
    CHECK_INT(err.line, 3);
}

/* ---- a tree of files ----
 *
 *     ROOT/pkg/urdf/robot.urdf       the model
 *     ROOT/pkg/urdf/near.stl
 *     ROOT/pkg/meshes/m.stl
 *     ROOT/other/meshes/o.stl
 *     ROOT/secret.stl
 */

static char root[] = "/tmp/rattleback-path-XXXXXX";

static const char *in_root(const char *name)
{
    static char path[4][256];
    static int next;
    char *out = path[next = (next + 1) % 4];
    snprintf(out, sizeof path[0], "%s/%s", root, name);
    return out;
}

static const char *const folders[] = { "pkg", "pkg/urdf", "pkg/meshes", "other", "other/meshes" };
static const char *const files[] = { "pkg/urdf/near.stl", "pkg/meshes/m.stl", "other/meshes/o.stl",
                                     "secret.stl" };

static void make_tree(void)
{
    if (!strstr(root, "XXXXXX")) return;
    CHECK(mkdtemp(root) != NULL);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK_INT(mkdir(in_root(folders[i]), 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(in_root(files[i]), "wb");
        CHECK(file && fputs(files[i], file) >= 0);
        fclose(file);
    }
}

/* Found as this file below ROOT, or NULL: refused with this text. */
static void check_open(const char *reference, const char *sandbox, const char *found,
                       const char *says)
{
    char out[RB_IO_PATH_MAX];
    rb_error err = { 0 };
    rb_where where = { "robot.urdf", 12 };
    rb_io_search search = { .model = in_root("pkg/urdf/robot.urdf"),
                            .sandbox = sandbox ? in_root(sandbox) : NULL };
    rb_status status = rb_io_path_resolve(&search, NULL, reference, &where, out, &err);
    if (!found) {
        CHECK(status == RB_BAD_INPUT || status == RB_FILE);
        CHECK_CONTAINS(err.text, says);
        CHECK_STR(out, "");
        return;
    }
    if (status != RB_OK) test_fail(__FILE__, __LINE__, "%s: %s", reference, err.text);
    struct stat a, b;
    CHECK(stat(out, &a) == 0 && stat(in_root(found), &b) == 0 && a.st_ino == b.st_ino);
}

TEST(a_model_of_a_file_opens_what_it_names)
{
    char absolute[300];
    make_tree();
    snprintf(absolute, sizeof absolute, "%s", in_root("secret.stl"));
    check_open("../meshes/m.stl", NULL, "pkg/meshes/m.stl", NULL);
    check_open("../../secret.stl", NULL, "secret.stl", NULL);
    check_open(absolute, NULL, "secret.stl", NULL);
    check_open("package://pkg/../other/meshes/o.stl", NULL, "other/meshes/o.stl", NULL);
    check_open("../meshes/none.stl", NULL, NULL, "looked for");
    check_open("../meshes/none.stl", NULL, NULL, in_root("pkg/meshes/none.stl"));

    /* a link to a file and one to a folder, whose .. is that of the folder */
    CHECK_INT(symlink(in_root("secret.stl"), in_root("pkg/urdf/link.stl")), 0);
    CHECK_INT(symlink(in_root("other/meshes"), in_root("pkg/urdf/link")), 0);
    check_open("link.stl", NULL, "secret.stl", NULL);
    check_open("link/o.stl", NULL, "other/meshes/o.stl", NULL);
    check_open("link/../meshes/o.stl", NULL, "other/meshes/o.stl", NULL);

    /* a sandbox keeps links as well */
    check_open("near.stl", "pkg", "pkg/urdf/near.stl", NULL);
    check_open("../meshes/m.stl", "pkg", "pkg/meshes/m.stl", NULL);
    check_open("../../secret.stl", "pkg", NULL, "outside of the folder");
    check_open(absolute, "pkg", NULL, "outside of the folder");
    check_open("link.stl", "pkg", NULL, "outside of the folder");
    check_open("link/o.stl", "pkg", NULL, "outside of the folder");
    check_open("link.stl", "", "secret.stl", NULL);
    check_open("near.stl", "nowhere", NULL, "which does not exist");
    remove(in_root("pkg/urdf/link.stl"));
    remove(in_root("pkg/urdf/link"));
}

TEST(remove_tree)
{
    make_tree();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(in_root(files[i]));
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) remove(in_root(folders[i]));
    CHECK_INT(remove(root), 0);
}

typedef struct lookup {
    const char *reference;
    const char *package; /* below ROOT, with NAME= in front or not; NULL: none */
    const char *base;    /* below ROOT, NULL: none                            */
    int climb;
    const char *found; /* below ROOT, NULL: refused */
    const char *says;
} lookup;

static void check_lookup(const lookup *l)
{
    char package[300], out[RB_IO_PATH_MAX];
    const char *equals = l->package ? strchr(l->package, '=') : NULL;
    const char *below = equals ? equals + 1 : l->package;
    if (l->package)
        snprintf(package, sizeof package, "%.*s%s", equals ? (int)(equals + 1 - l->package) : 0,
                 l->package, in_root(below));
    const char *packages[] = { package, NULL };
    rb_io_search search = { .model = in_root("pkg/urdf/robot.urdf"),
                            .climb = l->climb,
                            .confined = 1 };
    if (l->package) search.packages = packages;
    rb_error err = { 0 };
    rb_where where = { "robot.urdf", 12 };
    rb_status status = rb_io_path_resolve(&search, l->base ? in_root(l->base) : NULL, l->reference,
                                          &where, out, &err);
    if (l->found) {
        if (status != RB_OK) test_fail(__FILE__, __LINE__, "%s: %s", l->reference, err.text);
        CHECK_STR(out, in_root(l->found));
        return;
    }
    if (status == RB_OK) test_fail(__FILE__, __LINE__, "%s: found %s", l->reference, out);
    CHECK_CONTAINS(err.text, l->says);
    CHECK_CONTAINS(err.text, l->reference);
    CHECK_STR(err.file, "robot.urdf");
    CHECK_INT(err.line, 12);
    CHECK_STR(out, "");
}

TEST(references)
{
    const lookup cases[] = {
        /* beside the model, not beyond it */
        { "near.stl", NULL, NULL, 0, "pkg/urdf/near.stl", NULL },
        { "./x/../near.stl", NULL, NULL, 0, "pkg/urdf/near.stl", NULL },
        { ".\\near.stl", NULL, NULL, 0, "pkg/urdf/near.stl", NULL },
        { "../meshes/m.stl", NULL, NULL, 0, NULL, "outside of the model's folder" },
        { "../urdf/near.stl", NULL, NULL, 0, "pkg/urdf/near.stl", NULL },
        { "../../secret.stl", NULL, NULL, 1, NULL, "outside of the model's folder" },
        { "/etc/passwd", NULL, NULL, 1, NULL, "outside of the model's folder" },
        { "file:///etc/passwd", NULL, NULL, 1, NULL, "outside of the model's folder" },
        { "nothing.stl", NULL, NULL, 1, NULL, "no such file" },
        { ".", NULL, NULL, 0, NULL, "no such file" },
        { "", NULL, NULL, 0, NULL, "expected the name" },

        /* a folder that was opened: as package, as meshdir */
        { "../meshes/m.stl", "pkg", NULL, 0, "pkg/meshes/m.stl", NULL },
        { "../meshes/m.stl", "any=pkg", NULL, 0, "pkg/meshes/m.stl", NULL },
        { "../meshes/m.stl", "pk", NULL, 0, NULL, "outside" },
        { "m.stl", NULL, "pkg/meshes", 0, "pkg/meshes/m.stl", NULL },
        { "../../secret.stl", NULL, "pkg/meshes", 0, NULL, "outside" },
        { "../urdf/near.stl", NULL, "pkg/meshes", 0, "pkg/urdf/near.stl", NULL },

        /* folders above the model */
        { "meshes/m.stl", NULL, NULL, 1, "pkg/meshes/m.stl", NULL },
        { "meshes/m.stl", NULL, NULL, 0, NULL, "no such file" },

        /* packages */
        { "package://pkg/meshes/m.stl", NULL, NULL, 0, "pkg/meshes/m.stl", NULL },
        { "package:///pkg/meshes/m.stl", NULL, NULL, 0, "pkg/meshes/m.stl", NULL },
        { "package://some_name/meshes/m.stl", NULL, NULL, 0, "pkg/meshes/m.stl", NULL },
        { "model://other/meshes/o.stl", NULL, NULL, 0, "other/meshes/o.stl", NULL },
        { "package://given/meshes/o.stl", "given=other", NULL, 0, "other/meshes/o.stl", NULL },
        { "package://other/meshes/o.stl", "", NULL, 0, "other/meshes/o.stl", NULL },
        { "package://other/meshes/o.stl", "other", NULL, 0, "other/meshes/o.stl", NULL },
        { "package://given/meshes/x.stl", "given=other", NULL, 0, NULL, "NAME=FOLDER" },
        { "package://given/../secret.stl", "given=other", NULL, 0, NULL, "not found" },
        { "package://pkg/../../secret.stl", NULL, NULL, 0, NULL, "not found" },
        { "package://../secret.stl", NULL, NULL, 0, NULL, "expected package://NAME/path" },
        { "package://pkg", NULL, NULL, 0, NULL, "expected package://NAME/path" },
        { "package://", NULL, NULL, 0, NULL, "expected package://NAME/path" },
        { "http://host/m.stl", NULL, NULL, 0, NULL, "expected a path, file://" },
    };
    make_tree();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_lookup(&cases[i]);

    /* an absolute path below the model is fine */
    lookup absolute = { in_root("pkg/urdf/near.stl"), NULL, NULL, 0, "pkg/urdf/near.stl", NULL };
    check_lookup(&absolute);
    char address[300];
    snprintf(address, sizeof address, "file://%s", in_root("pkg/urdf/near.stl"));
    absolute.reference = address;
    check_lookup(&absolute);
}

/* The file system's own root is never searched: a package of any name would open every file. */
TEST(the_root_of_the_file_system_is_no_package)
{
    make_tree();
    char reference[300];
    snprintf(reference, sizeof reference, "package://x%s", in_root("secret.stl"));
    rb_io_search search = { .model = "/model.urdf", .climb = 1 };
    rb_where where = { "robot.urdf", 12 };
    char out[RB_IO_PATH_MAX];
    CHECK_INT(rb_io_path_resolve(&search, NULL, reference, &where, out, NULL), RB_FILE);
}

TEST(a_model_without_a_path_opens_nothing)
{
    make_tree();
    rb_io_search search = { .model = NULL };
    rb_where where = { NULL, 12 };
    rb_error err = { 0 };
    char out[RB_IO_PATH_MAX];
    CHECK_INT(rb_io_path_resolve(&search, NULL, in_root("secret.stl"), &where, out, &err),
              RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "in memory");
}

TEST(relative_models_keep_relative_paths)
{
    make_tree();
    char before[RB_IO_PATH_MAX], out[RB_IO_PATH_MAX];
    rb_where where = { "robot.urdf", 12 };
    rb_io_search search = { .model = "urdf/robot.urdf", .confined = 1 };
    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK_INT(chdir(in_root("pkg")), 0);
    rb_status status = rb_io_path_resolve(&search, NULL, "near.stl", &where, out, NULL);
    char other[RB_IO_PATH_MAX];
    rb_status outside = rb_io_path_resolve(&search, NULL, "../meshes/m.stl", &where, other, NULL);
    CHECK_INT(status, RB_OK);
    CHECK_STR(out, "urdf/near.stl");
    CHECK_INT(outside, RB_BAD_INPUT);
    CHECK_INT(chdir(before), 0);
}

/* ---- bytes ---- */

TEST(bytes_of_a_file)
{
    make_tree();
    char *bytes = NULL;
    size_t size = 0;
    rb_error err = { 0 };
    CHECK_INT(rb_io_file_read(in_root("secret.stl"), 100, NULL, NULL, &bytes, &size, &err), RB_OK);
    CHECK_INT((long long)size, (long long)strlen("secret.stl"));
    CHECK_STR(bytes, "secret.stl");
    free(bytes);

    CHECK_INT(rb_io_file_read(in_root("secret.stl"), 9, NULL, NULL, &bytes, &size, &err),
              RB_TOO_LARGE);
    CHECK(bytes == NULL && size == 0);
    CHECK_STR(err.file, in_root("secret.stl"));
    CHECK_INT(rb_io_file_read(in_root("none"), 9, NULL, NULL, &bytes, &size, &err), RB_FILE);
    CHECK_INT(rb_io_file_read(root, 1 << 20, NULL, NULL, &bytes, &size, &err), RB_FILE);

    test_memory memory = { .fail_at = 1 };
    rb_alloc alloc = test_alloc(&memory);
    CHECK_INT(rb_io_file_read(in_root("secret.stl"), 100, NULL, &alloc, &bytes, &size, &err),
              RB_NOMEM);
    CHECK_INT(memory.live, 0);
}

TEST_MAIN(RUN(joining), RUN(folders_names_extensions), RUN(long_paths_are_refused), RUN(references),
          RUN(a_model_of_a_file_opens_what_it_names),
          RUN(the_root_of_the_file_system_is_no_package), RUN(a_model_without_a_path_opens_nothing),
          RUN(relative_models_keep_relative_paths), RUN(bytes_of_a_file), RUN(remove_tree))
