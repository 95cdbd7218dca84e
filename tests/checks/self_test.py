"""The checks can fail: each is shown a violation that it must find and a text that it must pass."""
import os
import tempfile
import unittest

import equations
import functions
import includes
import links
import markdown
import snippets
import symbols
import words


class Includes(unittest.TestCase):
    @staticmethod
    def findings(name, line):
        return includes.check({name: line + "\n", "bench/corpus.h": ""})

    def test_right_directions_pass(self):
        for name, line in (
                ("src/math/a.c", '#include "base/arena.h"'),
                ("src/solve/a.c", "#include <math.h>"),
                ("src/solve/a.c", '#include "rattleback/solve.h"'),
                ("src/io/a.c", "#include <jansson.h>"),
                ("src/io/a.c", '#include "solve/matrix.h"'),
                ("src/step/a.c", '#include "collide/gjk.h"'),
                ("cli/a.c", '#include "rattleback/io.h"'),
                ("cli/a.c", '#include "corpus.h"'),
                ("cli/a.c", "#include <unistd.h>"),
                ("tests/a.c", '#include "math/dense.h"')):
            self.assertEqual(self.findings(name, line), [], line)

    def test_wrong_directions_are_found(self):
        for name, line in (
                ("src/base/a.c", '#include "math/dense.h"'),
                ("src/math/a.c", '#include "solve/matrix.h"'),
                ("src/solve/a.c", '#include "model/spec.h"'),
                ("src/base/a.c", '#include "rattleback/solve.h"'),
                ("src/solve/a.c", '#include "rattleback/rattleback.h"'),
                ("src/solve/a.c", "#include <unistd.h>"),
                ("src/solve/a.c", "#include <jansson.h>"),
                ("src/solve/a.c", '#include "io/context.h"'),
                ("src/io/a.c", '#include "step/fixed.h"'),
                ("src/solve/a.c", '#include "../math/dense.h"'),
                ("src/solve/a.c", '#include "nowhere.h"'),
                ("cli/a.c", '#include "math/dense.h"'),
                ("bench/a.c", '#include "base/arena.h"'),
                ("include/rattleback/a.h", "#include <unistd.h>")):
            self.assertEqual(len(self.findings(name, line)), 1, line)

    def test_a_circle_is_found(self):
        files = {"src/math/a.h": '#include "math/b.h"\n', "src/math/b.h": '#include "a.h"\n'}
        self.assertIn("circle", includes.check(files)[0])


class Functions(unittest.TestCase):
    def test_length_is_counted_between_the_braces(self):
        text = "static int f(int a,\n             int b)\n{\n" + "    a++;\n" * 118 + "}\n"
        findings, found = functions.check({"a.c": text})
        self.assertEqual((findings, found[0][:2]), ([], (120, "f")))
        findings, _ = functions.check({"a.c": text.replace("{\n", "{\n    b++;\n")})
        self.assertEqual(findings, ["a.c:3: f has 121 lines, the limit is 120"])


class Words(unittest.TestCase):
    def test_forbidden(self):
        for line in ("see /work/main/x", "cd /home/me/x", "http://10.0.0.1:80/x", "// TODO: x",
                     "pip --index-url x", "host.internal", "registry.example.com", "FIXME",
                     "Not implemented"):
            self.assertEqual(len(list(words.check_text("a", line))), 1, line)

    def test_allowed(self):
        for line in ("src/work/a.c", "solve/internal.h", "https://example.org/home/x", "a method",
                     "#include \"solve/internal.h\"", "/tmp/x"):
            self.assertEqual(list(words.check_text("a", line)), [], line)


class Markdown(unittest.TestCase):
    TEXT = "# A b\n[x](#a-b) `[no](link)`\n```sh no-run\n# [y](z)\n```\n```output\nhi\n```\n"

    def test_blocks_links_and_anchors(self):
        blocks, prose = markdown.split(self.TEXT)
        self.assertEqual([(b.words, b.line, b.text, b.output) for b in blocks],
                         [(["sh", "no-run"], 4, "# [y](z)\n", "hi\n")])
        self.assertEqual(list(markdown.links(prose)), [(2, "#a-b")])
        self.assertEqual(markdown.anchors(prose), {"a-b"})

    def test_equations(self):
        theory = {"docs/theory/a.md": "    x = 1   (S.1)\n\n    y = 2   (S.1)\nand z (S.2)\n"}
        others = {"a.c": "/* (S.2), (S.3), (X.1) */\n"}
        findings, count = equations.check(theory, others)
        self.assertEqual(count, 2)
        self.assertEqual(len(findings), 2)
        self.assertIn("docs/theory/a.md:3: (S.1)", findings[0])
        self.assertIn("a.c:1: docs/theory has no (S.3)", findings[1])

    def test_dead_links(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "a.md"), "w", encoding="utf-8") as file:
                file.write("# T\n[1](a.md#t) [2](b.md) [3](a.md#u) [4](../c) <http://x.y>\n")
            findings, count = links.check(root, ["a.md"])
        self.assertEqual((len(findings), count), (3, 4))


class Snippets(unittest.TestCase):
    def test_output_with_dots(self):
        self.assertIsNone(snippets.compare("a ... c\n...\nend", "a b  c\nx\ny\nend\n"))
        self.assertIsNotNone(snippets.compare("a ... c\nend", "a b c\nx\nend\n"))

    def test_blocks_that_are_wrong(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with tempfile.TemporaryDirectory() as scratch:
            runner = snippets.Runner(root, scratch, "cc", scratch)
            os.mkdir(runner.copy)

            def c(text, *options):
                return snippets.run_c(runner, markdown.Block(["c", *options], 1, text))

            def sh(text, *options):
                return snippets.run_sh(runner, markdown.Block(["sh", *options], 1, text))

            self.assertIsNone(c("rb_solve_opts opts = rb_solve_opts_default();", "fragment"))
            self.assertIsNotNone(c("rb_solve_opts opts = rb_no_such();", "fragment"))
            self.assertIsNone(c("static int f(void)\n{\n    return RB_OK;\n}\n"))
            self.assertIsNotNone(c("static int f(void)\n{\n    return RB_KO;\n}\n"))
            self.assertIsNone(sh("true"))
            self.assertIsNotNone(sh("false; true"))
            self.assertIsNone(sh("false", "no-run"))


class Symbols(unittest.TestCase):
    def test_needs(self):
        self.assertEqual(symbols.check_needs(["rb_dot", "sqrt", "__stack_chk_fail"]), [])
        for name in ("printf", "exit", "pow", "clock_gettime", "json_loads"):
            self.assertEqual(len(symbols.check_needs([name])), 1, name)

    def test_shows(self):
        self.assertEqual(len(symbols.check_shows(["rb_solve", "helper"])), 1)


if __name__ == "__main__":
    unittest.main()
