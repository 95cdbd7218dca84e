"""What every measurement is run with: folders, programs, one pinned core."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Bench:
    """out: folder of the results; build: a release build; core: where everything is pinned."""

    def __init__(self, out, core):
        self.out = os.path.abspath(out)
        self.core = str(core)
        self.build = os.path.join(ROOT, "build", "release")
        self.program = os.path.join(self.build, "bin", "rattleback")
        self.python = os.environ.get("RB_ORACLE_PYTHON", os.path.join(ROOT, "build/oracle/bin/python"))
        shared = os.environ.get("RATTLEBACK_SHARED", os.path.join(ROOT, "..", "shared"))
        self.data = os.path.join(shared, "data")
        self.menagerie = os.environ.get("RB_MENAGERIE", os.path.join(ROOT, "..", "menagerie"))
        self.environment = dict(os.environ, RB_ORACLE_PYTHON=self.python, RATTLEBACK_SHARED=shared,
                                RATTLEBACK_LIBRARY=os.path.join(self.build, "lib", "librattleback_flat.so"),
                                PYTHONPATH=os.path.join(ROOT, "python"), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

    def file(self, name):
        return os.path.join(self.out, name)

    def call(self, *words, ends=(0,), **more):
        """Standard output of a command on the core; it must end with one of these statuses."""
        done = subprocess.run(["taskset", "-c", self.core, *map(str, words)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                              env=dict(self.environment, **more), check=False)
        if ends and done.returncode not in ends:
            raise RuntimeError(f"exit status {done.returncode}: {' '.join(map(str, words))}")
        return done.stdout

    def ours(self, *words, ends=(0,)):
        return self.call(self.program, *words, ends=ends)

    def script(self, *words, ends=(0,), **more):
        return self.call(sys.executable, *words, ends=ends, **more)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n")

    def write_csv(self, name, head, rows):
        self.write(name, "\n".join(",".join(str(cell) for cell in row) for row in [head, *rows]))

    def write_tables(self, name, title, *parts):
        """A title, then paragraphs and tables (head, rows)."""
        lines = [f"# {title}", ""]
        for part in parts:
            lines += [part, ""] if isinstance(part, str) else [*table(*part), ""]
        self.write(name, "\n".join(lines))

    def needs(self, place, what):
        if not os.path.exists(place):
            raise FileNotFoundError(f"{what} is missing: {place}")
        return place


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def columns(text, head, names):
    """Rows of a printed table whose head begins with `head`: {name: words behind the name}."""
    found, inside = {}, False
    for line in text.splitlines():
        inside = inside or line.startswith(head)
        for name in names:
            if inside and line.startswith(name + " "):
                found[name] = line[len(name):].split()
    return found
