"""Other engines on the same scenes: peers.csv, towers.md, simbenchmark.md, robots.md, collections.md."""
import csv
import os
import sys

import plot
from records import Record, length, made_by, short, table

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
import tables  # noqa: E402  (bench/peers/tables.py)

SCENES = (("rod", "falling rod"), ("four_balls", "four balls"), ("box", "box that slides and spins"),
          ("stack_1", "10 boxes"), ("stack_1000", "10 boxes, the upper ones up to 1000 times heavier"),
          ("quadruped", "quadruped"), ("humanoid", "humanoid"), ("pendulum_30_5", "chain of 30 links"),
          ("pile_100", "pile of 100 spheres, ours at `--tol 0.03`"),
          ("pile_1000", "pile of 1,000 spheres, ours at `--tol 0.03`"))
ENGINES = (("rattleback", "rattleback"), ("mujoco", "MuJoCo"), ("ode", "ODE"), ("bullet", "Bullet"),
           ("dart", "DART"), ("simbody", "Simbody"), ("siconos", "Siconos"))
LINKS = (3, 6, 12, 15, 24, 30, 60, 120, 240)
STAR = "`*`: did not come to the end of the scene within the limit of time, or gave up. `-`: refused, or went to infinity."
MADE = 5e-3     # share of the energy that a run may make to count as right


class Peers:
    def __init__(self, root):
        self.record = Record(root, "peers.csv")
        self.rows = [tables.typed(row) for row in self.record.rows()]

    def runs(self, scene, engine):
        """Runs that ended, at the shortest step of the scene."""
        rows = [r for r in self.rows if r["scene"] == scene and "us" in r]
        h = min(r["h"] for r in rows)
        return [r for r in rows if r["engine"] == engine and r["h"] == h and not r.get("lost")]

    def whole(self, scene, engine):
        """Those that came to the end of the scene, else all."""
        runs = self.runs(scene, engine)
        return [r for r in runs if not cut(r)] or runs

    def fastest(self, scene, engine):
        runs = self.whole(scene, engine)
        return min(runs, key=lambda r: r["us"]) if runs else None

    def cell(self, scene, engine):
        row = self.fastest(scene, engine)
        if row is None:
            return "-"
        return f"{short(row['us'])} us, {length(1e3 * row['pen_max'])}{cut(row)}"

    def table(self):
        head = ["scene"] + [word for _, word in ENGINES]
        return table(head, [[words] + [self.cell(scene, key) for key, _ in ENGINES] for scene, words in SCENES])

    def chain(self, links, engine):
        """The fastest run that makes at most MADE of energy, else the fastest of all."""
        runs = self.whole(f"pendulum_{links}_5", engine)
        good = [r for r in runs if tables.made(r)[0] <= MADE]
        return min(good or runs, key=lambda r: r["us"]) if runs else None

    def chains(self):
        head = ["links"] + [word for _, word in ENGINES]
        rows = []
        for links in LINKS:
            cells = [self.chain(links, key) for key, _ in ENGINES]
            rows.append([links] + [f"{short(r['us'])} us, {percent(r)}{cut(r)}" if r else "-"
                                   for r in cells])
        return table(head, rows)

    def chain_figure(self):
        series = []
        for key, word in ENGINES:
            runs = [(n, self.chain(n, key)) for n in LINKS]
            series.append((word, [(n, r["us"], tables.made(r)[0] <= MADE and not cut(r),
                                   f"{word} {r['setting']}, {n} links: {short(r['us'])} us, "
                                   f"{percent(r)} energy made") for n, r in runs if r]))
        return plot.draw("us per step of a chain that falls on the floor; full: makes less than 0.5 % energy",
                         "links", [s for s in series if s[1]])


def cut(row):
    """A mark of runs that did not come to the end of the scene."""
    return "*" if row.get("cut") or row.get("gave_up") else ""


def percent(row):
    share = 100 * tables.made(row)[0]
    return "more than 100 %" if share > 100 else f"{short(share)} %"


def peers(root, up):
    p = Peers(root)
    return [
        "The same scenes through seven engines, in one run on one pinned core. Each cell has the time of a step and the largest",
        "overlap, for the fastest setting of the engine at the shortest step of the scene.", "", *made_by("peers"), p.record.source(up) + ".", "", *p.table(), "", STAR]


def chains(root, up):
    p = Peers(root)
    return [
        "Spheres of 1 kg on hinges, 6 m in all, thrown from 5 m, 5 s at 1 ms. Each cell has the time of a step and the energy",
        "made from nothing, as a share of what the chain can fall through. It is that of the fastest setting that makes at most",
        "0.5 %, else of the fastest of all.", "", *made_by("peers"), p.record.source(up) + ".", "", f"![time of a step over links]({up}docs/figures/chains.svg)", "", *p.chains(), "", STAR,
        "After its first impact a chain is chaotic: another rounding leads to other contacts, so that times of one row compare",
        "as means of a whole run only."]


def towers(root, up):
    record, sizes = Record(root, "towers.md"), Record(root, "towers_sizes.md")
    return [
        "Scenes of `scenes/towers` and piles of spheres beside MuJoCo 4 with its defaults, by processor time. Each side is ended",
        "after 5 s of its own. `standard` aims at a residual of 1e-6 and `fast` at 1e-3 ([accuracy](../manual/accuracy.md)).", "",
        *made_by("towers,sizes"), record.source(up) + ".", "", *record.table(), "",
        "Boxes falling into a bin as wide as high:", "",
        sizes.source(up) + ".", "", *[row(line, 10) for line in sizes.table()], "",
        "Runs that do not come to 1 s end at the limit of 40 s."]


def row(line, columns):
    """A line of a table with its first columns only."""
    if line.startswith("|---"):
        return "|" + "---|" * columns
    return "| " + " | ".join(cell.strip() for cell in line.strip("|").split("|")[:columns]) + " |"


def dropped(root, up):
    record = Record(root, "robots.md")
    return ["Robots from 0.3 m in random poses, 2 s at 2 ms, self-collision included.", "", *made_by("dropped"),
            record.source(up) + ".", "", *record.table()]


def collections(root, up):
    record = Record(root, "collections.md")
    return ["Every file of a collection that MuJoCo 4.0.0 loads, run for one second with random controls. `ok`: the run ended and",
            "every step reached its accuracy. `below`: it ended, but some step did not. `stopped`: it ended early. `aside`: the file asks",
            "for something that the manual says is not there. Other collections: `bench/collections/run NAME=FOLDER...`.", "",
            *made_by("collections"), record.source(up) + ".", "", *record.table()]


def simbenchmark(root, up):
    record = Record(root, "simbenchmark.md")
    out = ["The scenes and error measures of the public SimBenchmark. Rows marked 2018 are those it published, on its machine.",
           "", *made_by("simbenchmark"), record.source(up) + ".", ""]
    names = [line[3:] for line in record.text().splitlines() if line.startswith("## ")]
    for k, words in enumerate(names):
        out += [f"**{words}**", "", *record.table(k), ""]
    return out[:-1]


def features(root, up):
    """The table of features, from bench/peers/features.csv, which has the source of each entry."""
    with open(os.path.join(root, "..", "peers", "features.csv"), encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    names = list(dict.fromkeys(c["engine"] for c in cells))
    said = {(c["feature"], c["engine"]): c["says"] for c in cells}
    rows = [(f, *(said[f, n] for n in names)) for f in dict.fromkeys(c["feature"] for c in cells)]
    return [*table(("", *names), rows), "",
            f"The source of each entry, a file of the engine's own documentation or sources: [features]({up}bench/peers/features.csv)."]
