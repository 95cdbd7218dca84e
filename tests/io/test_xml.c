/* The XML layer: what it accepts, what it refuses and with which words, budgets, numbers. */
#include <locale.h>

#include "io/xml.h"
#include "test.h"

static rb_xml_doc *parse(const char *text, rb_error *err)
{
    return rb_xml_parse(text, strlen(text), "f.xml", NULL, err);
}

static void check_refused(const char *text, int line, const char *words)
{
    rb_error err = { 0 };
    rb_xml_doc *doc = parse(text, &err);
    CHECK(doc == NULL);
    CHECK_CONTAINS(err.text, words);
    CHECK_STR(err.file, "f.xml");
    CHECK_INT(err.line, line);
    CHECK(err.status != RB_OK);
}

TEST(builds_the_tree_with_lines_and_text)
{
    rb_error err = { 0 };
    rb_xml_doc *doc =
        parse("<a x='1' y=\"two\">\n head <b/>\n<c> 1 <d>in</d> 2\n</c> tail</a>", &err);
    CHECK(doc != NULL);
    const rb_xml_node *a = doc->root;
    CHECK_STR(a->name, "a");
    CHECK_INT(a->nattr, 2);
    CHECK_STR(rb_xml_get(a, "y"), "two");
    CHECK(rb_xml_get(a, "z") == NULL);
    CHECK_STR(a->child->name, "b");
    CHECK_INT(a->child->line, 2);
    const rb_xml_node *c = rb_xml_child(a, "c");
    CHECK_INT(c->line, 3);
    CHECK(c->parent == a);
    CHECK(rb_xml_next(c) == NULL);
    CHECK_STR(c->child->text, "in");

    /* what stands between children is joined, blanks outside are cut */
    CHECK_STR(c->text, "1  2");
    CHECK_CONTAINS(a->text, "head");
    CHECK_CONTAINS(a->text, "tail");
    CHECK_STR(a->child->text, "");
    CHECK_INT((long long)doc->nelement, 4);
    rb_xml_free(doc);
}

/* Comments with two hyphens or bytes that are no UTF-8, and what comes before <?xml, are not XML;
 * published robots have them all. */
TEST(accepts_what_robots_have)
{
    rb_error err = { 0 };
    static const char *const fine[] = {
        "<!-- a -- b --><a/>",
        "<!-- \xe9 --><a/>",
        "\n<!-- licence -->\n<?xml version=\"1.0\"?>\n<a/>",
        "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a x=\"\xe9\"/>",
        "<a><![CDATA[<!-- not a comment -->]]></a>",
    };
    for (size_t k = 0; k < sizeof fine / sizeof *fine; k++) {
        rb_xml_doc *doc = parse(fine[k], &err);
        if (!doc) print_error("%s: %s\n", fine[k], err.text);
        CHECK(doc != NULL);
        CHECK_STR(doc->root->name, "a");
        rb_xml_free(doc);
    }
    rb_xml_doc *doc = parse("<!-- \n\n -->\n<a/>", &err);
    CHECK_INT(doc->root->line, 4);
    rb_xml_free(doc);
    doc = parse(fine[5], &err);
    CHECK_STR(doc->root->text, "<!-- not a comment -->");
    rb_xml_free(doc);

    /* a C string written with its terminator; a 0 byte elsewhere stays an error */
    doc = rb_xml_parse("<a/>\n\0\0", 7, "test.xml", NULL, &err);
    CHECK(doc != NULL);
    CHECK_STR(doc->root->name, "a");
    rb_xml_free(doc);
    CHECK(rb_xml_parse("<a>\0</a>", 8, "test.xml", NULL, &err) == NULL);
    CHECK(rb_xml_parse("\0\0", 2, "test.xml", NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "empty");
}

/* What XML forbids and MuJoCo's reader passes over, and what both refuse. */
TEST(accepts_loose_attributes)
{
    rb_error err = { 0 };
    rb_xml_doc *doc =
        parse("<a>\n<b n=\"x\"t='y'/>\n<c v=\"R & D < 1 &lt;&#65;\">U & V</c></a>", &err);
    CHECK(doc != NULL);
    const rb_xml_node *b = doc->root->child;
    CHECK_INT(doc->loose_line, 2);
    CHECK_STR(rb_xml_get(b, "n"), "x");
    CHECK_STR(rb_xml_get(b, "t"), "y");
    CHECK_INT(b->next->line, 3);
    CHECK_STR(rb_xml_get(b->next, "v"), "R & D < 1 <A");
    CHECK_STR(b->next->text, "U & V");
    rb_xml_free(doc);
    doc = parse("<a b=\"1\" c=\"2\"/>", &err);
    CHECK_INT(doc->loose_line, 0);
    rb_xml_free(doc);
    check_refused("<a>\n<b x=\"1\"y=2/></a>", 2, "not well-formed");
    check_refused("<a b=\"1\"b=\"2\"/>", 1, "not well-formed");
    check_refused("<a b=\"&c", 1, "not valid XML");
}

TEST(refuses_with_line_and_reason)
{
    check_refused("", 1, "empty");
    check_refused("<!-- only -->\n", 1, "empty");
    check_refused("<a>\n<b>\n</a>", 3, "mismatched tag");
    check_refused("<a", 1, "not valid XML");
    check_refused("<a><!-- open", 1, "not valid XML");
    check_refused("<a x='1' x='2'/>", 1, "duplicate attribute");
    check_refused("<a/><b/>", 1, "not valid XML");
    check_refused("<a/>text", 1, "not valid XML");
    check_refused("<a>&undefined;</a>", 1, "undefined entity");
    check_refused("plain text", 1, "not valid XML");
}

TEST(refuses_document_types_and_entities)
{
    check_refused("<!DOCTYPE a>\n<a/>", 1, "<!DOCTYPE>");
    check_refused("<!DOCTYPE a [<!ENTITY x \"xx\"><!ENTITY y \"&x;&x;\">]><a>&y;</a>", 1,
                  "remove it");
    check_refused("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", 1, "<!DOCTYPE>");
}

/* A million nested elements stop at the budget of the depth, a million attributes at theirs. */
TEST(budgets_end_hostile_files)
{
    enum { MANY = 1000000 };
    rb_error err = { 0 };
    char *text = malloc(3 * MANY + 1);
    for (int k = 0; k < MANY; k++) memcpy(text + 3 * k, "<a>", 3);
    CHECK(rb_xml_parse(text, 3 * MANY, "f.xml", NULL, &err) == NULL);
    CHECK_INT(err.status, RB_TOO_LARGE);
    CHECK_CONTAINS(err.text, "nested deeper than 1024");
    free(text);

    char wide[8192] = "<a";
    size_t used = 2;
    for (int k = 0; k < 200; k++)
        used += (size_t)snprintf(wide + used, sizeof wide - used, " a%d='1'", k);
    snprintf(wide + used, sizeof wide - used, "/>");
    CHECK(parse(wide, &err) == NULL);
    CHECK_INT(err.status, RB_TOO_LARGE);
    CHECK_CONTAINS(err.text, "200 attributes");
}

TEST(element_budget)
{
    size_t count = RB_LOAD_MAX_ELEMENTS + 1;
    rb_error err = { 0 };
    char *text = malloc(4 * count + 8);
    memcpy(text, "<r>", 3);
    for (size_t k = 0; k < count; k++) memcpy(text + 3 + 4 * k, "<a/>", 4);
    memcpy(text + 3 + 4 * count, "</r>", 4);
    CHECK(rb_xml_parse(text, 4 * count + 7, "f.xml", NULL, &err) == NULL);
    CHECK_INT(err.status, RB_TOO_LARGE);
    free(text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void check_number(const char *text)
{
    const char *at = text, *end = text + strlen(text);
    double x = -1.0;
    CHECK(rb_xml_scan_number(&at, end, &x));
    CHECK(at == end);
    CHECK(x == strtod(text, NULL));
}

TEST(numbers_round_like_strtod)
{
    static const char *const texts[] = {
        "0",
        "-0.0",
        "1.",
        ".5",
        "+7",
        "1e22",
        "1e23",
        "123456789012345678",
        "1e-5",
        "1E+10",
        "0.1",
        "1e-300",
        "4.9e-324",
        "1.7976931348623157e308",
        "000012.500",
        "0.000000000000000000000000123456789",
        "9007199254740993",
        "1e-400",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) check_number(texts[k]);

    /* random doubles, written with all digits and with few */
    rb_rng rng = rb_rng_make(1);
    for (int k = 0; k < 20000; k++) {
        char text[64];
        double x = rb_rng_normal(&rng) * pow(10.0, rb_rng_uniform(&rng, -30.0, 30.0));
        snprintf(text, sizeof text, "%.*g", 1 + (int)(rb_rng_next(&rng) % 18), x);
        check_number(text);
    }
}

TEST(what_is_no_number)
{
    static const char *const texts[] = { "nan", "inf", "-inf", "1e999", "0x10",  "1,5",
                                         "1e",  "e5",  ".",    "-",     "1.2.3", "5m" };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const char *at = texts[k];
        double x;
        CHECK(!rb_xml_scan_number(&at, at + strlen(at), &x));
        CHECK(at == texts[k]);
    }
}

/* A locale with a decimal comma changes nothing; skipped where the system has none. */
TEST(numbers_in_another_locale)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    char *set = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names && !set; k++)
        set = setlocale(LC_NUMERIC, names[k]);
    if (!set) SKIP("no locale with a decimal comma is installed");
    const char *text = "0.12345678901234567", *at = text;
    double x = 0.0;
    int ok = rb_xml_scan_number(&at, text + strlen(text), &x);
    setlocale(LC_NUMERIC, "C");
    CHECK(ok);
    CHECK(x == 0.12345678901234567);
}

/* ---- attributes ------------------------------------------------------------------------------ */

TEST(typed_attributes)
{
    rb_error err = { 0 };
    rb_xml_doc *doc = parse("<a n='1 2' i='3' w='two' b='true' v=' 1\n2\t3 ' e=''>4 5</a>", &err);
    const rb_xml_node *a = doc->root;
    double x[3] = { 7.0, 8.0, 9.0 }, *list;
    int count, i = 0, word = 0, flag = 0;
    size_t length;
    CHECK_INT(rb_xml_numbers(a, "n", 1, 3, x, &count, &err), RB_OK);
    CHECK_INT(count, 2);
    CHECK(x[0] == 1.0 && x[1] == 2.0 && x[2] == 9.0);
    CHECK_INT(rb_xml_numbers(a, "missing", 1, 3, x, &count, &err), RB_OK);
    CHECK_INT(count, 0);
    CHECK_INT(rb_xml_int(a, "i", &i, &err), RB_OK);
    CHECK_INT(i, 3);
    CHECK_INT(rb_xml_word(a, "w", "one two three", &word, &err), RB_OK);
    CHECK_INT(word, 1);
    CHECK_INT(rb_xml_bool(a, "b", &flag, &err), RB_OK);
    CHECK_INT(flag, 1);
    CHECK_INT(rb_xml_list(doc, a, "v", &list, &length, &err), RB_OK);
    CHECK_INT((long long)length, 3);
    CHECK(list[2] == 3.0);
    CHECK_INT(rb_xml_list(doc, a, "e", &list, &length, &err), RB_OK);
    CHECK_INT((long long)length, 0);
    CHECK_INT(rb_xml_check_attrs(a, "n i w b v e", &err), RB_OK);
    rb_xml_free(doc);
}

TEST(wrong_attributes_are_named)
{
    rb_error err = { 0 };
    rb_xml_doc *doc = parse("\n<a name='N' n='1 2' f='1.5' w='four' x='1 nan' big='3e9'/>", &err);
    const rb_xml_node *a = doc->root;
    double x[3];
    int i = 0;
    const char *text;
    CHECK_INT(rb_xml_numbers(a, "n", 3, 3, x, NULL, &err), RB_BAD_INPUT);
    CHECK_STR(err.text, "<a name=\"N\"> n: expected 3 numbers, found 2");
    CHECK_INT(err.line, 2);
    CHECK_INT(rb_xml_numbers(a, "n", 1, 1, x, NULL, &err), RB_BAD_INPUT);
    CHECK_STR(err.text, "<a name=\"N\"> n: expected 1 number, there are more");
    CHECK_INT(rb_xml_numbers(a, "x", 2, 2, x, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "x: \"nan\" is not a finite number");
    CHECK_INT(rb_xml_int(a, "f", &i, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "\"1.5\" is not a whole number");
    CHECK_INT(rb_xml_int(a, "big", &i, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "32 bits");
    CHECK_INT(rb_xml_word(a, "w", "one two", &i, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "\"four\" is not one of: one two");
    CHECK_INT(rb_xml_need(a, "z", &text, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "z: the attribute is missing");
    CHECK_INT(rb_xml_check_attrs(a, "name n f w big", &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "has no attribute \"x\"; it knows: name n f w big");
    rb_xml_free(doc);
}

/* Parts of a file in a message cannot write to a terminal. */
TEST(messages_have_no_control_characters)
{
    rb_error err = { 0 };
    rb_xml_doc *doc = parse("<a n='&#9;x&#10;'/>", &err);
    int word = 0;
    CHECK_INT(rb_xml_word(doc->root, "n", "y", &word, &err), RB_BAD_INPUT);
    for (const char *c = err.text; *c; c++) CHECK((unsigned char)*c >= 0x20);
    rb_xml_free(doc);
}

/* Every allocation fails in turn, Expat's own included: an error each time, nothing leaks. */
TEST(every_allocation_may_fail)
{
    const char *text = "<a x='1 2 3'><b>some text</b><!-- c --><c y='z'/></a>";
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_error err = { 0 };
        rb_xml_doc *doc = rb_xml_parse(text, strlen(text), "f.xml", &alloc, &err);
        int done = memory.requests < k;
        if (doc) {
            double *list;
            size_t length;
            rb_status status = rb_xml_list(doc, doc->root, "x", &list, &length, &err);
            CHECK(status == RB_OK || status == RB_NOMEM);
        } else {
            CHECK_INT(err.status, RB_NOMEM);
        }
        rb_xml_free(doc);
        CHECK_INT(memory.live, 0);
        if (done) {
            CHECK(doc != NULL);
            break;
        }
    }
}

TEST_MAIN(RUN(builds_the_tree_with_lines_and_text), RUN(accepts_what_robots_have),
          RUN(accepts_loose_attributes), RUN(refuses_with_line_and_reason),
          RUN(refuses_document_types_and_entities), RUN(budgets_end_hostile_files),
          RUN(element_budget), RUN(numbers_round_like_strtod), RUN(what_is_no_number),
          RUN(numbers_in_another_locale), RUN(typed_attributes), RUN(wrong_attributes_are_named),
          RUN(messages_have_no_control_characters), RUN(every_allocation_may_fail))
