"""Draws friction.svg: time to a certified 1e-8 on the stored friction problems, `auto` beside the
fastest solver of Siconos on each problem, over the number of contacts. Both axes are logarithmic.

usage: docs/figures/friction.py [bench/results/FOLDER]      the newest folder where none is given
"""
import csv
import math
import os
import sys

TARGET = 1e-8                       # relative residual, eq. (C.10)
WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 60
OURS, THEIRS, GREY = "#0b5fa5", "#c2571a", "#8a8a8a"


def newest(root):
    folders = [f for f in sorted(os.listdir(root)) if os.path.exists(f"{root}/{f}/friction.csv")]
    if not folders:
        sys.exit(f"no friction.csv under {root}: run make bench")
    return os.path.join(root, folders[-1])


def best_times(path):
    """{problem: (contacts, our time, best other time)} [us]; None where the target was missed."""
    best = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            entry = best.setdefault(row["problem"], [int(row["contacts"]), None, None])
            if row["state"] != "ran" or not float(row["residual"]) <= TARGET:
                continue
            if row["side"] == "rattleback" and row["solver"] != "auto":
                continue
            k = 1 if row["side"] == "rattleback" else 2
            time = float(row["us"])
            entry[k] = time if entry[k] is None else min(entry[k], time)
    return best


class Axis:
    """Decades mapped to pixels."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = math.ceil(math.log10(max(values)))
        self.start, self.end = start, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def decades(self):
        return [10.0 ** k for k in range(self.low, self.high + 1)]


def label_time(us):
    return f"{us:g} us" if us < 1e3 else f"{us / 1e3:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def grid(x, y):
    for value in x.decades():
        yield (f'<line x1="{x.at(value):.1f}" y1="{TOP}" x2="{x.at(value):.1f}" '
               f'y2="{HEIGHT - BOTTOM}" stroke="#dddddd"/>')
        yield (f'<text x="{x.at(value):.1f}" y="{HEIGHT - BOTTOM + 18}" '
               f'text-anchor="middle">{value:g}</text>')
    for value in y.decades():
        yield (f'<line x1="{LEFT}" y1="{y.at(value):.1f}" x2="{WIDTH - RIGHT}" '
               f'y2="{y.at(value):.1f}" stroke="#dddddd"/>')
        yield (f'<text x="{LEFT - 8}" y="{y.at(value) + 4:.1f}" '
               f'text-anchor="end">{label_time(value)}</text>')


def marks(best, x, y):
    for contacts, ours, theirs in best.values():
        at = x.at(contacts)
        if ours and theirs:
            yield (f'<line x1="{at:.1f}" y1="{y.at(ours):.1f}" x2="{at:.1f}" '
                   f'y2="{y.at(theirs):.1f}" stroke="{GREY}" stroke-width="0.7"/>')
        if theirs:
            yield (f'<rect x="{at - 3.5:.1f}" y="{y.at(theirs) - 3.5:.1f}" width="7" height="7" '
                   f'fill="{THEIRS}" fill-opacity="0.8"/>')
        if ours:
            yield (f'<circle cx="{at:.1f}" cy="{y.at(ours):.1f}" r="4" fill="{OURS}" '
                   f'fill-opacity="0.8"/>')


def draw(best):
    times = [t for entry in best.values() for t in entry[1:] if t]
    x = Axis([entry[0] for entry in best.values()], LEFT, WIDTH - RIGHT)
    y = Axis(times, HEIGHT - BOTTOM, TOP)
    solved = sum(1 for entry in best.values() if entry[1])
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="sans-serif" font-size="12">')
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    yield from grid(x, y)
    yield from marks(best, x, y)
    yield f'<circle cx="{LEFT + 10}" cy="20" r="4" fill="{OURS}"/>'
    yield f'<text x="{LEFT + 20}" y="24">rattleback auto ({solved} of {len(best)} to 1e-8)</text>'
    yield f'<rect x="{LEFT + 256}" y="16.5" width="7" height="7" fill="{THEIRS}"/>'
    yield f'<text x="{LEFT + 270}" y="24">fastest Siconos solver for each problem</text>'
    yield (f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 16}" '
           f'text-anchor="middle">contacts</text>')
    yield "</svg>"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.join(here, "..", "..", "bench", "results")
    folder = sys.argv[1] if len(sys.argv) > 1 else newest(root)
    best = best_times(os.path.join(folder, "friction.csv"))
    with open(os.path.join(here, "friction.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(draw(best)) + "\n")
    ahead = sum(1 for _, ours, theirs in best.values() if ours and (not theirs or ours < theirs))
    print(f"{os.path.basename(os.path.normpath(folder))}: {len(best)} problems, "
          f"auto ahead on {ahead}")


if __name__ == "__main__":
    main()
