"""Compiles and runs the fenced blocks of README.md, CONTRIBUTING.md and docs/.

    ```c             with `int main`: compiled, linked with core and io, run, must exit 0;
                     without: compiled as a file after #include <rattleback/rattleback.h>
    ```c fragment    the body of a function: compiled
    ```c no-run      with `int main`: compiled and linked; without: as fragment
    ```sh            run by bash in a scratch copy of the repository, `rattleback` on PATH
    ```sh no-run     not run (commands that install, build or take long)
    ```output        what the block before it must print; `...` stands for anything, also a line

Other languages are left alone.

usage: snippets.py ROOT BUILD CC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import markdown
import tree

TIMEOUT = 120       # seconds for one block
HAS_MAIN = re.compile(r"^\s*int\s+main\s*\(", re.MULTILINE)
STANDARD = "math stddef stdint stdio stdlib string".split()


class Runner:
    """Where to compile and what with."""

    def __init__(self, root, build, compiler, scratch):
        self.root, self.build, self.compiler = root, build, compiler
        self.scratch = scratch
        self.copy = os.path.join(scratch, "repository")
        self.has_io = os.path.exists(os.path.join(root, "include/rattleback/io.h"))
        self.count = 0

    def prelude(self):
        ours = ["rattleback/rattleback.h"] + (["rattleback/io.h"] if self.has_io else [])
        return "".join(f"#include <{h}.h>\n" for h in STANDARD) + \
            "".join(f"#include <{h}>\n" for h in ours)

    def environment(self):
        bin_dir = os.path.join(self.build, "bin")
        shared = os.environ.get("RATTLEBACK_SHARED") or os.path.join(self.root, "..", "shared")
        return dict(os.environ, PATH=bin_dir + os.pathsep + os.environ["PATH"],
                    RATTLEBACK_SHARED=os.path.abspath(shared))

    def make_copy(self):
        """The tracked files, so that a block may write where it likes, and the build for ./rattleback."""
        for name in tree.tracked_files(self.root):
            target = os.path.join(self.copy, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.join(self.root, name), target)
        bin_dir = os.path.join(self.copy, "build", "release")
        os.makedirs(bin_dir)
        os.symlink(os.path.join(self.build, "bin"), os.path.join(bin_dir, "bin"))

    def call(self, command, cwd=None):
        """Returns (None, output) or (sentence, output)."""
        try:
            done = subprocess.run(command, cwd=cwd, env=self.environment(), text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return f"took more than {TIMEOUT} s", ""
        if done.returncode != 0:
            return f"ended with {done.returncode}:\n{done.stdout}", done.stdout
        return None, done.stdout

    def compile(self, text, program=None):
        """Compiles a text, to a program where its path is given."""
        self.count += 1
        source = os.path.join(self.scratch, f"snippet{self.count}.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        command = [self.compiler, "-std=c17", "-Wall", "-Wextra", "-Wno-unused", "-Werror",
                   "-I", os.path.join(self.root, "include"), source]
        if not program:
            return self.call(command + ["-fsyntax-only"])[0]
        libraries = ["-L", os.path.join(self.build, "lib"),
                     "-Wl,-rpath," + os.path.join(self.build, "lib")]
        libraries += ["-lrattleback_io"] if self.has_io else []
        return self.call(command + ["-o", program, *libraries, "-lrattleback", "-lm"])[0]


def run_c(runner, block):
    if HAS_MAIN.search(block.text):
        program = os.path.join(runner.scratch, f"program{runner.count}")
        sentence = runner.compile(block.text, program)
        if sentence or "no-run" in block.words:
            return sentence
        sentence, output = runner.call([program], cwd=runner.copy)
        return sentence or compare(block.output, output)
    if "fragment" in block.words or "no-run" in block.words:
        body = f"void snippet(void);\nvoid snippet(void)\n{{\n{block.text}\n}}\n"
        return runner.compile(runner.prelude() + body)
    return runner.compile(runner.prelude() + block.text)


def run_sh(runner, block):
    if "no-run" in block.words:
        return None
    sentence, output = runner.call(["bash", "-euo", "pipefail", "-c", block.text], cwd=runner.copy)
    return sentence or compare(block.output, output)


def compare(expected, output):
    """None where the output is as expected, `...` standing for any text."""
    if expected is None:
        return None
    lines = [" ".join(l.split()) for l in expected.strip().splitlines()]
    shown = "\n".join(" ".join(l.split()) for l in output.strip().splitlines())
    pattern = "\n".join(re.escape(l).replace(r"\.\.\.", "[^\n]*") if l != "..." else "(?s:.*)"
                        for l in lines)
    if re.fullmatch(pattern, shown):
        return None
    return f"printed something else than its output block:\n{output}"


LANGUAGES = {"c": run_c, "sh": run_sh}


def pages(root):
    return [n for n in tree.markdown_files(root)
            if n in ("README.md", "CONTRIBUTING.md") or n.startswith("docs/")]


def main():
    root, build, compiler = sys.argv[1:4]
    root, build = os.path.abspath(root), os.path.abspath(build)
    findings, count = [], 0
    with tempfile.TemporaryDirectory(prefix="rattleback-snippets-") as scratch:
        runner = Runner(root, build, compiler, scratch)
        runner.make_copy()
        for name in pages(root):
            for block in markdown.split(tree.read(root, name))[0]:
                if block.language not in LANGUAGES:
                    continue
                count += 1
                sentence = LANGUAGES[block.language](runner, block)
                if sentence:
                    findings.append(f"{name}:{block.line}: {' '.join(block.words)} {sentence}")
    tree.finish(findings, f"{count} blocks compile and run")


if __name__ == "__main__":
    main()
