"""The checks can fail: each is shown a violation that it must find and a text that it must pass."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

import equations
import functions
import glossary
import includes
import links
import markdown
import messages
import page_numbers
import recipes
import sentences
import snippets
import symbols
import words

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "report"))
import page  # noqa: E402
import records  # noqa: E402


def tool(name):
    """A script of tools as a module."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", name)
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module

class Includes(unittest.TestCase):
    @staticmethod
    def findings(name, line):
        return includes.check({name: line + "\n", "bench/corpus.h": "", "cli/run/run.h": ""})

    def test_right_directions_pass(self):
        for name, line in (
                ("src/math/a.c", '#include "base/arena.h"'),
                ("src/solve/a.c", "#include <math.h>"),
                ("src/solve/a.c", '#include "rattleback/solve.h"'),
                ("src/io/a.c", "#include <jansson.h>"),
                ("src/io/a.c", '#include "solve/matrix.h"'),
                ("src/step/a.c", '#include "collide/gjk.h"'),
                ("src/events/a.c", '#include "step/stage.h"'),
                ("src/contact/contact.h", '#include "rattleback/step.h"'),
                ("cli/a.c", '#include "rattleback/io.h"'),
                ("cli/a.c", '#include "corpus.h"'),
                ("cli/a.c", '#include "run/run.h"'),
                ("cli/poses/a.c", '#include "run/run.h"'),
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
                ("src/step/a.c", '#include "events/hybrid.h"'),
                ("src/contact/a.c", '#include "rattleback/step.h"'),
                ("cli/run/a.c", '#include "run.h"'),
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

    def test_equations_that_nothing_cites(self):
        theory = {"docs/theory/a.md": "    x = 1   (S.1)\n    y = 2   (S.2)\n    z = 3   (S.3)\n    u = 4   (T.1)\n"}
        unused = equations.unused(theory, {"a.c": "/* (S.1) to (S.3), (S.3) */\n"})
        self.assertEqual(len(unused), 1)
        self.assertIn("docs/theory/a.md:4: (T.1)", unused[0])
        works = equations.unknown_works("| [Jain 2011] | x |\n", {"a.c": "/* [Jain 2011, 4.2; Lee\n * 1999] [1990] */"})
        self.assertEqual(list(works), ["a.c:1: docs/theory/references.md has no [Lee 1999]"])
        misplaced = equations.misplaced(theory, {"S": "a.md", "T": "b.md"})
        self.assertEqual(len(misplaced), 1)
        self.assertIn("(T.1) belongs to docs/theory/b.md", misplaced[0])

    def test_equations_out_of_order(self):
        page = {"docs/theory/a.md": "see (S.1)\n    x = 1    (S.2)\n    y = 1    (S.1)\n"}
        self.assertEqual(len(list(equations.misordered(page, {"S": "a.md"}))), 1)
        page = {"docs/theory/a.md": "see (S.2)\n    x = 1    (S.1)\n    y = 1    (S.2)\n"}
        self.assertEqual(list(equations.misordered(page, {"S": "a.md"})), [])

    def test_renumbering(self):
        numbers = tool("number-equations")
        changed = {("S", str(k)): str(new) for k, new in zip(range(1, 7), (4, 5, 6, 1, 2, 3))}
        single, several = numbers.patterns("S")
        for old, new in (("(S.1)", "(S.4)"), ("(S.1) to (S.3)", "(S.4) to (S.6)"), ("(S.6, S.2 to S.4)", "(S.3, S.1, S.5, S.6)"),
                         ("(S.1) to (S.4)", "(S.1), (S.4) to (S.6)"), ("C17 F.10.1.4, (S.9)", "C17 F.10.1.4, (S.9)")):
            self.assertEqual(numbers.renumber(old, changed, single, several), new)

    def test_records_of_results(self):
        with tempfile.TemporaryDirectory() as root:
            for folder, cpu, note in (("2026-01-02-a", "Ours, 2 cores", "x: 1111111\nx, y: 2222222, quiet\n"),
                                      ("2026-01-02-b", "Other", "x: 3333333\n"), ("2026-01-01-c", "Ours", "y: 4444444\n")):
                os.makedirs(os.path.join(root, folder))
                for name, text in (("machine.txt", f"cpu: {cpu}\n{note}"), ("x.csv", "k\n1\n")):
                    with open(os.path.join(root, folder, name), "w", encoding="utf-8") as file:
                        file.write(text)
            with open(os.path.join(root, "reference.txt"), "w", encoding="utf-8") as file:
                file.write("cpu: Ours\nrevision: 2222222\n")
            record = records.Record(root, "x.csv")
            self.assertEqual(record.folder, "2026-01-02-a")
            self.assertEqual(record.revisions(), ["2222222"])
            self.assertEqual(page.written(lambda r: records.Record(r, "z.csv"), root), page.MISSING)
            text = page.fill("<!-- results: table z.md 0 -->\nold\n<!-- end of results -->", "a.md", root)
            self.assertNotIn("old", text)

    def test_coined_words(self):
        text = "It is told twice.\n`it is told` in code\n```sh\nin vain\n```\n"
        self.assertEqual(len(list(glossary.coined("docs/manual/a.md", text))), 1)

    def test_sentences(self):
        text = "# A title of five words\nOne two three four five. Six seven eight\nnine ten?\n\n| a b c d e | f |\n"
        self.assertEqual([len(s) for s in sentences.sentences(text)], [5, 5])

    def test_numbers_of_pages(self):
        text = "It took 3.27 s, 12 times, 1e-9, 2,500 and 12,345; (S.123), `777`.\n    888 (S.1)\n"
        self.assertEqual([n for _, n in page_numbers.numbers(text)], ["3.27", "12,345"])
        self.assertIn("2.1e-09", page_numbers.spellings("2.1e-9"))
        self.assertIn("3.27", set(page_numbers.rounded("3.2741")))
        self.assertEqual(page_numbers.numbers_of("0.030 1u << 4"), {"0.030", "0.03", "1", "4", "16"})

    def test_numbers_are_looked_for_where_a_page_says(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in (("tests/a/test_a.c", "3.27"), ("tests/a/test_b.c", "4.56"), ("docs/a.md", "3.27 s\n\n4.56 s\n"),
                               ("docs/b.md", "3.27 s (`test_a`)\n\n<!-- numbers: test_b.c -->\n4.56 s\n"),
                               ("docs/c.md", "3.27 s (somebody#12)\n\n4.56 s, [the test](../tests/a/test_b.c)\n")):
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(list(page_numbers.missing(root)), [("docs/a.md", 1, "3.27"), ("docs/a.md", 3, "4.56")])

    def test_recipes(self):
        text = "`src/a.c` `src/foo.c` `src/b.c`\n<!-- places: RB_X -->\n| `src/a.c` |\n## next\n`src/c.c`\n"
        findings = recipes.check(text, lambda n: n != "src/b.c", {"src/a.c": "RB_X", "src/c.c": "RB_X RB_XY"})
        self.assertEqual(len(findings), 2)
        self.assertIn("src/b.c does not exist", findings[0])
        self.assertIn("does not name src/c.c", findings[1])
        text = '<!-- places: RB_X "word" -->\n| `src/a.c` |\n'
        findings = recipes.check(text, lambda n: True, {"src/a.c": "RB_X", "src/b.c": 'x = "word"', "src/c.c": "word"})
        self.assertEqual([f.split()[-1] for f in findings], ["src/b.c"])

    def test_messages(self):
        text = "| message | why |\n|---|---|\n| `a ... b` (`RB_FULL`) | `c` |\n\n| x | y |\n|---|---|\n| `d` | |\n"
        self.assertEqual(list(messages.messages(text)), [(3, "a ... b")])
        self.assertEqual(messages.literals('f("one " PRIu64\n  "two \\"x\\"")'), 'one two "x"')

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
