"""Robots of MuJoCo Menagerie beside MuJoCo: menagerie.csv as a table, sentences and a figure."""
import os
import sys

from records import Record, length, made_by, median, short, table

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robots"))
import figure  # noqa: E402  (bench/robots/figure.py)

FIGURE = "docs/figures/robots.svg"
NUMBERS = ("ratio", "us", "us_mujoco", "overlap_mm", "overlap_mujoco_mm", "contacts", "below_accuracy")


class Robots:
    def __init__(self, root):
        self.record = Record(root, "menagerie.csv")
        self.rows = [typed(row, k) for k, row in enumerate(self.record.rows())]
        self.timed = [r for r in self.rows if r["ratio"] is not None]
        self.main = [r for r in self.timed if "C" not in r["marks"]]
        self.capped = [r for r in self.timed if "C" in r["marks"]]
        self.refused = [r for r in self.rows if r["status"] in ("refused", "failed", "crash")]
        self.late = [r for r in self.rows if r["status"] == "timeout"]

    def groups(self):
        yield "all but `mjx`", self.main
        for half, word in (("work", "every second one, from which changes were made"), ("judge", "the others")):
            yield f"of them {word}", [r for r in self.main if r["half"] == half]
        yield "`mjx` scenes, which cap MuJoCo's iterations", self.capped

    def table(self):
        head = ("scenes of MuJoCo Menagerie", "number", "time over MuJoCo's, median", "<= 1", "<= 2",
                "<= 5", "worst", "largest overlap: rattleback", "MuJoCo")
        return table(head, [(word, len(rows), *summary(rows)) for word, rows in self.groups() if rows])

    def figure(self):
        return figure.text(self.timed)

    def slowest(self, count=8):
        rows = sorted(self.main, key=lambda r: -r["ratio"])[:count]
        return ", ".join(f"`{name(r)}` {short(r['ratio'], 3 if r['ratio'] > 100 else 2)}" for r in rows)

    def sentence(self):
        """For the README: what the figure shows."""
        ratio = [r["ratio"] for r in self.main]
        ours, theirs = deepest(self.main)
        quicker = sum(1 for x in ratio if x <= 1.0)
        return [f"{len(ratio)} scenes of MuJoCo Menagerie with random controls, beside MuJoCo 4.0.0 with the models' "
                "own options.",
                f"Overlap beyond that of the start is at most {ours}; MuJoCo's is up to {theirs}. A step takes",
                f"{short(median(ratio))} times MuJoCo's time in the median, and {quicker} of {len(ratio)} scenes are as "
                "fast or faster."]


def typed(row, place):
    row = dict(row)
    for key in NUMBERS:
        row[key] = float(row[key]) if row.get(key) not in (None, "") else None
    row["half"] = row.get("half") or ("work", "judge")[place % 2]
    return row


def name(row):
    return row["model"].removesuffix("/scene.xml").removesuffix(".xml")


def deepest(rows):
    return [length(max(r[key] or 0.0 for r in rows)) for key in ("overlap_mm", "overlap_mujoco_mm")]


def summary(rows):
    ratio = [r["ratio"] for r in rows]
    share = [f"{100 * sum(1 for x in ratio if x <= bar) / len(ratio):.0f} %" for bar in (1, 2, 5)]
    return (short(median(ratio)), *share, short(max(ratio), 3 if max(ratio) > 100 else 2), *deepest(rows))


def lines(root, up):
    """The section of results.md and of performance.md."""
    r = Robots(root)
    refused = ", ".join(f"`{name(x)}`" for x in r.refused) or "none"
    return [
        "Scenes of MuJoCo Menagerie beside MuJoCo 4.0.0 with the models' own options. Both get the same random velocities",
        "and the same random controls, so that nothing rests. Overlap is measured beyond that of the start.", "",
        *made_by("robots"), r.record.source(up) + ".", "",
        f"![time and overlap of robots, rattleback beside MuJoCo]({up}{FIGURE})", "",
        *r.table(), "",
        f"- Slowest: {r.slowest()}.",
        f"- Ended by the limit of time, {len(r.late)}: {', '.join(f'`{name(x)}`' for x in r.late) or 'none'}."
        " They count with the steps they made.",
        f"- Refused: {refused}.",
        "- Profiles of the first half alone were read; the other shows whether that carries over."]
