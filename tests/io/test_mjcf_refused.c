/* What the MJCF reader refuses: file, line, element, reason; and hostile files, within a second. */
#include <time.h>

#include "mjcf_support.h"

/* Far more than a refusal needs, far less than a file that got away would take [s]. */
#define PATIENCE 10.0

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

#define BODY(text)  "<worldbody>\n<body name='b'>" text "</body></worldbody>"
#define WORLD(text) "<worldbody>\n" text "</worldbody>"
#define ARM                                                                                        \
    "<worldbody><body name='b'><joint name='j'/><geom name='g' size='1'/><site name='s'/></body>"  \
    "</worldbody>\n"

/* ---- grammar --------------------------------------------------------------------------------- */

TEST(unknown_elements_and_attributes)
{
    check_refused("\n<foo/>", 2, "<foo> has no place inside <mujoco>, which knows: compiler");
    check_refused(WORLD("<goem/>"), 2, "<goem> has no place inside <worldbody>");
    check_refused(WORLD("<geom radius='1'/>"), 2, "has no attribute \"radius\"; it knows: name");
    check_refused("<worldbody pos='0 0 0'/>", 1, "has no attribute \"pos\"");
    check_refused("<default>\n<geom/><geom/></default>", 2, "appears twice in the same <default>");
    check_refused("<default><geom name='x'/></default>", 1, "has no attribute \"name\"");
    check_refused("<compiler><flag/></compiler>", 1, "has no place inside <compiler>");
    check_refused("<actuator><servo/></actuator>", 1, "<servo> has no place inside <actuator>");
}

TEST(wrong_roots)
{
    static const char *const text = "<model/>";
    rb_error err = { 0 };
    CHECK(rb_spec_read_memory(text, strlen(text), "m.xml", NULL, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "expected <mujoco> (MJCF) or <robot> (URDF)");
    CHECK(rb_spec_read("no/such/file.xml", NULL, NULL, &err) == NULL);
    CHECK_INT(err.status, RB_FILE);
    CHECK_CONTAINS(err.file, "no/such/file.xml");
}

/* ---- numbers and words ----------------------------------------------------------------------- */

TEST(wrong_values)
{
    check_refused(WORLD("<geom size='nan'/>"), 2, "size: \"nan\" is not a finite number");
    check_refused(WORLD("<geom size='1 2 3 4'/>"), 2, "size: expected 1 to 3 numbers");
    check_refused(WORLD("<geom size='1' pos='1 2'/>"), 2, "pos: expected 3 numbers, found 2");
    check_refused(WORLD("<geom type='cube' size='1'/>"), 2, "type: \"cube\" is not one of: plane");
    check_refused(WORLD("<geom size='1' quat='0 0 0 0'/>"), 2, "the quaternion is zero");
    check_refused("<asset><mesh name='a' vertex='0 0 0 1 0 0 0 1 0 0 0 1' refquat='0 0 0 0'/>"
                  "</asset>",
                  1, "the quaternion is zero");
    check_refused(WORLD("<geom size='1' quat='1 0 0 0' euler='0 0 1'/>"), 2, "given twice");
    check_refused(WORLD("<geom size='1' axisangle='0 0 0 1'/>"), 2, "an axis has no length");
    check_refused(WORLD("<geom size='1' xyaxes='1 0 0 2 0 0'/>"), 2, "an axis has no length");
    check_refused("<option timestep='0'/>", 1, "the step must be positive");
    check_refused("<option gravity='0 0'/>", 1, "gravity: expected 3 numbers");
    check_refused("<compiler eulerseq='xyw'/>", 1, "eulerseq: expected three letters");
    check_refused("<compiler coordinate='global'/>", 1, "only \"local\" is read");
    check_refused("<compiler angle='grad'/>", 1, "\"grad\" is not one of: radian degree");
    check_refused("<option actuatorgroupdisable='31'/>", 1, "groups are numbered 0 to 30");
}

TEST(wrong_geoms)
{
    check_refused(WORLD("<geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>"), 2, "are the same");
    check_refused(WORLD("<geom size='1' fromto='0 0 0 0 0 1'/>"), 2, "is for a capsule, cylinder");
    check_refused(WORLD("<geom type='box' size='1' pos='1 0 0' fromto='0 0 0 0 0 1'/>"), 2,
                  "pos is given too");
    check_refused(WORLD("<geom type='mesh'/>"), 2, "the name of a mesh is missing");
    check_refused(WORLD("<geom type='mesh' mesh='m'/>"), 2, "there is no mesh called \"m\"");
    check_refused(WORLD("<geom type='hfield'/>"), 2, "the name of a height field is missing");
    check_refused(WORLD("<geom size='1' hfield='h'/>"), 2, "is for geoms of type hfield");
    check_refused(WORLD("<geom type='sdf' mesh='m'/>"), 2, "signed distance fields");
    check_refused(WORLD("<geom size='1'><plugin plugin='p'/></geom>"), 2, "plugins are not run");
    check_refused(WORLD("<geom/>"), 2, "size");
}

TEST(wrong_joints)
{
    check_refused(WORLD("<joint/>"), 2, "the world cannot have joints");
    check_refused(WORLD("<inertial pos='0 0 0' mass='1'/>"), 2, "the world cannot have inertia");
    check_refused(BODY("<joint limited='true' range='1 -1'/><geom size='1'/>"), 2,
                  "smaller than the second");
    check_refused(BODY("<joint type='ball' range='1 2'/><geom size='1'/>"), 2, "ball joint is 0");
    check_refused(BODY("<joint springdamper='1 0'/><geom size='1'/>"), 2, "must be positive");
    check_refused(BODY("<joint axis='0 0 0'/><geom size='1'/>"), 2, "axis");
    check_refused("<compiler autolimits='false'/>" BODY("<joint range='-1 1'/><geom size='1'/>"), 2,
                  "autolimits=\"true\" in <compiler>");
    check_refused(BODY("<inertial mass='1'/>"), 2, "pos: the attribute is missing");
    check_refused(BODY("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' quat='1 0 0 0'/>"),
                  2, "fullinertia says both");
    check_refused(BODY("<joint/>"), 2, "b");
}

TEST(wrong_replicates)
{
    check_refused(WORLD("<replicate/>"), 2, "count: the attribute is missing");
    check_refused(WORLD("<replicate count='-1'/>"), 2, "cannot be negative");
    char text[1024], sep[400];
    memset(sep, 'x', sizeof sep - 1);
    sep[sizeof sep - 1] = '\0';
    snprintf(text, sizeof text, WORLD("<replicate count='2' sep='%s'/>"), sep);
    check_refused(text, 2, "more than 255 bytes");
}

/* ---- names and references -------------------------------------------------------------------- */

TEST(names_and_references)
{
    check_refused(WORLD("<geom name='g' size='1'/>\n<geom name='g' size='1'/>"), 3, "g");
    check_refused(WORLD("<geom class='c' size='1'/>"), 2, "no default class called \"c\"");
    check_refused(WORLD("<body childclass='c'/>"), 2, "no default class called \"c\"");
    check_refused("<default class='mine'/>", 1, "the outermost class is called \"main\"");
    check_refused("<default>\n<default/></default>", 2, "class: the attribute is missing");
    check_refused("<default><default class='a'/>\n<default class='a'/></default>", 2, "already");
    check_refused(ARM "<actuator><motor joint='k'/></actuator>", 2, "no joint called \"k\"");
    check_refused(ARM "<actuator><motor/></actuator>", 2, "acts on nothing");
    check_refused(ARM "<contact><exclude body1='b' body2='c'/></contact>", 2,
                  "no body called \"c\"");
    check_refused(ARM "<contact><pair geom1='g'/></contact>", 2, "geom2: the attribute is missing");
    check_refused(ARM "<equality><connect body1='b'/></equality>", 2, "anchor: the attribute");
    check_refused(ARM "<equality><weld body1='b' site1='s'/></equality>", 2, "either of them");
    check_refused(ARM "<equality><weld body1='b' body2='b'/></equality>", 2, "are the same");
    check_refused(ARM "<equality><flex flex='f'/></equality>", 2, "deformable");
    check_refused(ARM "<tendon><fixed/></tendon>", 2, "the tendon has no joints");
    check_refused(ARM "<tendon><fixed><joint joint='j'/></fixed></tendon>", 2,
                  "coef: the attribute");
    check_refused(ARM "<tendon><spatial><site site='x'/></spatial></tendon>", 2, "no site called");
    check_refused(ARM "<keyframe><key qpos='1 2'/></keyframe>", 2, "qpos");
    check_refused(ARM "<keyframe><key mpos='1 2'/></keyframe>", 2, "mocap bodies, found 2");
}

TEST(wrong_actuators)
{
    check_refused(ARM "<actuator><position joint='j' kv='1' dampratio='1'/></actuator>", 2,
                  "one of them is enough");
    check_refused(ARM "<actuator><position joint='j' kv='-1'/></actuator>", 2,
                  "cannot be negative");
    check_refused(ARM "<actuator><motor joint='j' ctrllimited='true' ctrlrange='1 -1'/></actuator>",
                  2, "ctrlrange: the first number must be smaller");
    check_refused(ARM "<actuator><general joint='j' actrange='0 1'/></actuator>", 2,
                  "the actuator has no activation");
    check_refused(ARM "<actuator><position joint='j' inheritrange='1'/></actuator>", 2,
                  "the joint or tendon has no range");
    check_refused(ARM "<actuator><damper joint='j' kv='1' ctrlrange='-1 1'/></actuator>", 2,
                  "cannot be negative");
    check_refused(ARM "<actuator><motor site='s' armature='1'/></actuator>", 2,
                  "need a joint or a tendon");
}

TEST(custom_entries)
{
    check_refused("<custom><numeric name='rb.bounce' data='1'/></custom>", 1,
                  "names after \"rb.\": restitution friction");
    check_refused("<custom><numeric name='rb.restitution' data='2'/></custom>", 1, "outside of 0");
    check_refused("<custom><numeric name='rb.grain' data='1'/></custom>", 1, "expected 3 numbers");
    check_refused("<custom><text name='rb.restitution' data='much'/></custom>", 1, "expected 1");
    check_refused("<custom><numeric name='rb.restitution/g' data='1'/></custom>", 1,
                  "no geom called \"g\"");
}

/* ---- parts that cannot be simulated ---------------------------------------------------------- */

TEST(bodies_that_cannot_be_simulated)
{
    check_refused(WORLD("<flexcomp name='f' type='grid'/>"), 2, "cannot be simulated");
    check_refused(WORLD("<composite type='cable'><geom/></composite>"), 2, "cannot be simulated");
    check_refused(WORLD("<body><plugin plugin='p'/></body>"), 2, "plugins are not run");
    check_refused("<deformable>\n<flex name='f'/></deformable>", 2, "deformable bodies");
}

TEST(assets)
{
    check_refused("<asset><mesh name='m'/></asset>", 1, "neither a file nor vertices");
    check_refused("<asset><mesh name='m' vertex='1 2 3'/></asset>", 1, "at least four vertices");
    check_refused("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/></asset>",
                  1, "vertex 4 does not exist, there are 4");
    check_refused("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1'/></asset>", 1,
                  "three vertices for each face");
    check_refused("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset>", 1, "vertex:");
    check_refused("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1e300'/></asset>", 1,
                  "too far away");
    check_refused("<asset><mesh file='../../etc/passwd'/></asset>", 1, "outside of the model's");
    check_refused("<asset><mesh file='/etc/passwd'/></asset>", 1, "outside of the model's");
    check_refused("<asset><mesh file='none.stl'/></asset>", 1, "no such file");
    check_refused(
        "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 3'/></asset>", 1,
        "nrow * ncol = 4 numbers, found 3");
    check_refused("<asset><hfield name='h' nrow='1000000' ncol='1000000' size='1 1 1 1'/></asset>",
                  1, "at most");
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST(a_model_in_memory_opens_no_files)
{
    rb_error err = { 0 };
    const char *text = "<mujoco><include file='a.xml'/></mujoco>";
    CHECK(rb_spec_read_memory(text, strlen(text), NULL, NULL, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "opens no other files");
}

TEST(includes)
{
    check_refused("<include/>", 1, "file: the attribute is missing");
    check_refused("<include file='none.xml'/>", 1, "no such file");
    check_refused("<include file='none.xml'><a/></include>", 1, "cannot have children");

    static const struct {
        const char *file, *words;
        int line;
    } cases[] = { { "broken/circle.xml", "included already", 2 },
                  { "broken/twice.xml", "included already", 3 },
                  { "broken/nested.xml", "mismatched tag", 3 },
                  { "broken/itself.xml", "the model contains itself", 2 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        rb_error err = { 0 };
        CHECK(rb_spec_read(mjcf_path(cases[k].file), NULL, NULL, &err) == NULL);
        CHECK_CONTAINS(err.text, cases[k].words);
        CHECK_INT(err.line, cases[k].line);
    }
}

TEST(attachments)
{
    check_refused(WORLD("<attach model='m' prefix='p'/>"), 2, "there is no model called \"m\"");
    check_refused(WORLD("<attach body='b' prefix='p'/>"), 2, "nothing called \"b\"");
    check_refused(WORLD("<attach prefix='p'/>"), 2, "the body or frame of this one");
    check_refused(WORLD("<body name='b'><geom size='1'/><attach body='b' prefix='p'/></body>"), 2,
                  "contains itself");
    check_refused(
        WORLD(
            "<frame name='a'><body><geom size='1'/><attach frame='b' prefix='p'/></body></frame>"
            "<frame name='b'><body><geom size='1'/><attach frame='a' prefix='p'/></body></frame>"),
        2, "nested deeper");
    check_refused("<asset><model file='none.xml'/></asset>", 1, "no such file");
}

/* ---- hostile files --------------------------------------------------------------------------- */

/* Thousands of millions of replicas are refused before the first is made. */
TEST(replicate_bombs)
{
    char text[2048] = "<worldbody>\n";
    for (int k = 0; k < 8; k++) strcat(text, "<replicate count='2000000000'>");
    strcat(text, "<geom size='1'/>");
    for (int k = 0; k < 8; k++) strcat(text, "</replicate>");
    strcat(text, "</worldbody>");
    double begin = seconds();
    check_refused(text, 2, "more than 1048576 elements, replicas included");
    check_refused("<size nkey='2000000000'/>", 1, "more than 1048576 elements");
    CHECK(seconds() - begin < PATIENCE);
}

TEST(many_classes_and_elements_stay_linear)
{
    enum { DEPTH = 200, COUNT = 100000 };
    size_t room = (size_t)COUNT * 32 + 65536, used = 0;
    char *text = malloc(room);
    used += (size_t)sprintf(text, "<mujoco><default>");
    for (int k = 0; k < DEPTH; k++)
        used += (size_t)sprintf(text + used, "<default class='c%d'><geom size='%d'/>", k, k + 1);
    for (int k = 0; k < DEPTH; k++) used += (size_t)sprintf(text + used, "</default>");
    used += (size_t)sprintf(text + used, "</default><worldbody>");
    for (int k = 0; k < COUNT; k++)
        used += (size_t)sprintf(text + used, "<geom class='c%d'/>", k % DEPTH);
    used += (size_t)sprintf(text + used, "</worldbody></mujoco>");

    rb_error err = { 0 };
    double begin = seconds();
    rb_spec *spec = rb_spec_read_memory(text, used, NULL, NULL, NULL, &err);
    CHECK(seconds() - begin < PATIENCE);
    CHECK(spec != NULL);
    CHECK_INT(rb_spec_count(spec, RB_KIND_GEOM), COUNT);
    CHECK_NEAR(rb_spec_geom(spec, COUNT - 1)->size[0], DEPTH, 0.0);
    rb_spec_free(spec);
    free(text);
}

/* ---- reference data -------------------------------------------------------------------------- */

/* Files that MuJoCo's own tests expect to be refused. */
TEST(malformed_files_of_the_reference_data)
{
    static const char *const files[] = {
        "malformed_cube_22_ascii_missing_element.xml",
        "malformed_cube_22_ascii_missing_num_elements.xml",
        "malformed_cube_41_ascii_mismatch_between_max_nodes_and_nodes_in_block.xml",
        "malformed_cube_41_ascii_missing_element_header.xml",
        "malformed_cube_41_ascii_missing_node_header.xml",
        "malformed_duplicated.xml",
        "malformed_flex_nofaces.xml",
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char name[256];
        rb_error err = { 0 };
        snprintf(name, sizeof name, "data/mujoco_models/malformed/%s", files[k]);
        const char *path = test_shared(name);
        CHECK(rb_spec_read(path, NULL, NULL, &err) == NULL);
        CHECK_STR(err.file, path);
        CHECK(err.line > 0);
        CHECK(err.text[0] != '\0');
    }
}

TEST_MAIN(RUN(unknown_elements_and_attributes), RUN(wrong_roots), RUN(wrong_values),
          RUN(wrong_geoms), RUN(wrong_joints), RUN(wrong_replicates), RUN(names_and_references),
          RUN(wrong_actuators), RUN(custom_entries), RUN(bodies_that_cannot_be_simulated),
          RUN(assets), RUN(a_model_in_memory_opens_no_files), RUN(includes), RUN(attachments),
          RUN(replicate_bombs), RUN(many_classes_and_elements_stay_linear),
          RUN(malformed_files_of_the_reference_data))
