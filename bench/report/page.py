"""docs/design/results.md, the figures and the generated parts of other pages, from bench/results."""
import os
import re

import engines
import robots
import solvers
from records import Record, notes, table as draw

HEAD = [
    "# Results",
    "",
    "What was measured, where, and with which command. This page is written by `tools/make-results` from the newest files of",
    "`bench/results`; a check compares the two. Each table is of one machine; its source line names machine, revision and load.",
    "A time comes with its residual, its overlap or its energy error.",
    "",
    "```sh no-run",
    "bench/run                 # measures one after the other; writes bench/results/DAY-CPU, goes on where it was ended",
    "tools/make-results        # writes this page, its figures, and the figures of the README from them",
    "```",
    "",
]

SECTIONS = (
    ("Robots beside MuJoCo", robots.lines),
    ("Collections of model files", engines.collections),
    ("Robots dropped on the ground", engines.dropped),
    ("Beside other engines", engines.peers),
    ("Chains in contact", engines.chains),
    ("Towers, walls and piles", engines.towers),
    ("SimBenchmark", engines.simbenchmark),
    ("Real tosses of a cube", solvers.tosses),
    ("Dynamics", solvers.dynamics),
    ("Friction problems beside Siconos", solvers.friction),
    ("Linear complementarity problems beside Siconos", solvers.lcp),
    ("Generated problems", solvers.campaign),
    ("Pairs of shapes beside libccd, Bullet and MuJoCo", solvers.collide),
    ("Gaps of random pairs", solvers.gaps),
    ("Impacts and times of impact", solvers.impacts),
    ("Random scenes", solvers.scenes),
    ("Fuzzing", solvers.fuzzing),
)

# Parts of pages written by hand: <!-- results: NAME --> .. <!-- end of results -->
PARTS = {
    "robots": robots.lines,
    "robots-short": lambda root, up: [f"![time and overlap of robots, rattleback beside MuJoCo]({up}{robots.FIGURE})", "",
                                      *robots.Robots(root).sentence()],
    "features": engines.features,
    "engines": engines.peers,
    "chains": engines.chains,
    "towers": engines.towers,
    "friction": solvers.friction,
    "python-cost": lambda root, up: text(root, up, "python_cost.txt"),
}
PART = re.compile(r"(<!-- results: ([\w. -]+?) -->\n)(?:.*?\n)??(<!-- end of results -->)", re.DOTALL)


def table(root, up, name, number):
    """A recorded table as it is, with its source: <!-- results: table FILE NUMBER -->."""
    record = Record(root, name)
    return [*record.table(int(number)), "", record.source(up) + "."]


def text(root, up, name):
    """A recorded text as it is, with its source."""
    record = Record(root, name)
    return [*("    " + line for line in record.text().splitlines()), "", record.source(up) + "."]


def origins(root, sections):
    """Which tables are not of the reference machine and revision (bench/results/reference.txt)."""
    reference = notes(os.path.join(root, "reference.txt"))
    rows, count = [], 0
    for title, records in sections:
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for record in {r.name: r for r in records}.values():
            commits = record.revisions()
            here = record.cpu() == reference["cpu"]
            count += 1
            if not here or [c[:7] for c in commits] != [reference["revision"][:7]]:
                rows.append((f"[{title}](#{anchor})", f"`{record.name}`", record.folder[:10], record.cpu(),
                             ", ".join(commits) or "not recorded"))
    lines = [f"The reference is {reference['cpu']}, revision {reference['revision']}: {count - len(rows)} of {count} files are of it. Commands",
             "of all files: [bench](../../bench/README.md#what-makes-each-file).", ""]
    if rows:
        lines += ["These are not; compare their numbers within their own table only:", "",
                  *draw(("table", "file", "day", "machine", "revision"), rows), ""]
    return lines


MISSING = ["Not measured at present."]


def written(write, root, *words):
    """The lines of a part whose files are there; some may not be."""
    Record.used.clear()
    try:
        return write(root, *words)
    except FileNotFoundError:
        Record.used.clear()
        return MISSING


def results(root):
    lines, sections = [], []
    for title, write in SECTIONS:
        lines += [f"## {title}", "", *written(write, root, "../../"), ""]
        sections.append((title, list(Record.used)))
    lines = [*HEAD, "## Where the tables come from", "", *origins(root, sections), *lines]
    return "\n".join(lines).rstrip("\n") + "\n"


def fill(text, name, root):
    """A page with its generated parts renewed."""
    up = "../" * name.count("/")

    def part(match):
        name, *words = match.group(2).split()
        write = table if name == "table" else PARTS[name]
        return match.group(1) + "\n".join(written(write, root, up, *words)) + "\n" + match.group(3)
    return PART.sub(part, text)


FIGURES = {
    robots.FIGURE: lambda root: robots.Robots(root).figure(),
    "docs/figures/chains.svg": lambda root: engines.Peers(root).chain_figure(),
    "docs/figures/dynamics.svg": solvers.dynamics_figure,
    "docs/figures/friction.svg": solvers.friction_figure,
}


def figures(root):
    """{name: text} of those whose files are there."""
    drawn = {name: written(draw_one, root) for name, draw_one in FIGURES.items()}
    return {name: text for name, text in drawn.items() if text is not MISSING}
