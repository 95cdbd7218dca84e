"""Measurements of steps: robots, other engines, towers, random scenes, and the tables of single pages."""
import contextlib
import json
import os
import re
import statistics
import sys
import tempfile

from commands import ROOT, columns

sys.path.insert(0, os.path.join(ROOT, "bench", "robots"))
import models  # noqa: E402  (bench/robots/models.py)

FAMILIES = ("stack", "wedge", "slope", "pile", "chain", "creature", "loop", "all")
PIVOTING = ("stewart-trinkle", "stewart-trinkle-nonlinear", "anitescu-potra", "phantom", "box", "hybrid-friction")


# ---- robots and other engines -------------------------------------------------------------------

def menagerie(b):
    b.script("bench/robots/run", b.needs(b.menagerie, "MuJoCo Menagerie"), "--time", 0.2, "--limit", 4, "--repeats", 1,
             "--core", b.core, "--csv", b.file("menagerie.csv"), ends=(0, 1))


def collections(b):
    b.script("bench/collections/run", "--time", 1, "--limit", 20, "--markdown", b.file("collections.md"),
             "menagerie=" + b.needs(b.menagerie, "MuJoCo Menagerie"), ends=(0, 1))


def dropped(b, poses=5):
    lines = b.file("robots.jsonl")
    robots = b.needs(os.path.join(b.data, "robots"), "a folder of robots")
    b.script("bench/drop_robots.py", b.program, "--poses", poses, "--robots", robots, "--results", lines, ends=(0, 1))
    said = b.call(b.python, "bench/drop_robots_mujoco.py", "--poses", poses, "--robots", robots)
    mujoco = {name: f"{float(us):.0f}, {float(deep):.1e}"
              for name, us, deep in re.findall(r"^(\S+) (\S+) us per step, deepest (\S+) m", said, re.MULTILINE)}
    with open(lines, encoding="utf-8") as file:
        runs = [json.loads(line) for line in file if line.strip()]
    rows = []
    for name in dict.fromkeys(r["robot"] for r in runs):
        some = [r for r in runs if r["robot"] == name]
        us = [1e6 * r["cpu"] / max(1, r.get("steps", 0)) for r in some]
        start = max(r["overlap"] for r in some)
        rows.append((re.sub(r"_(mjcf|urdf)$", "", name), len(some), sum(r.get("failures", 1) for r in some),
                     f"{max(r.get('penetration_max', 0.0) for r in some):.1e}", f"{start:.1e}" if start > 0.0 else "",
                     f"{max(r.get('residual_max', 0.0) for r in some):.1e}",
                     f"{statistics.mean(us):.0f} ({min(us):.0f} to {max(us):.0f})", mujoco.get(name, "")))
    b.write_tables("robots.md", "Robots dropped on the ground",
                   (("robot", "poses", "failed", "penetration beyond the start [m]", "overlap at the start [m]", "worst residual",
                     "us per step", "MuJoCo us per step, deepest [m]"), rows))


def peers(b):
    b.script("bench/peers/run", "--repeats", 2, "--limit", 1, "--own-limit", 10, "--core", b.core, "--out", b.out, ends=(0, 1))


def towers(b):
    b.script("bench/towers/run", "--limit", 5, "--core", b.core, "--out", b.file("towers.md"), ends=(0, 1))


def sizes(b):
    b.script("bench/towers/run", "--sizes", "100,300,1000,3000", "--limit", 40, "--accuracy", "fast", "--core", b.core,
             "--out", b.file("towers_sizes.md"), ends=(0, 1))


def simbenchmark(b):
    b.script("bench/simbenchmark/run", "--limit", 2, "--core", b.core, "--out", b.out, ends=(0, 1))


# ---- random scenes ------------------------------------------------------------------------------

HEAD = ("steps", "unsolved", "changed", "infinite", "uncertified", "deep", "energy", "refused", "residual", "overlap", "created",
        "repairs", "later")


def counted(b, *words):
    """The row "all" of `bench scenes` by the names of HEAD: steps that are refused are "unsolved", scenes "refused"."""
    said = columns(b.ours("bench", "scenes", *words, ends=(0, 1)), "family", FAMILIES)["all"]
    return dict(zip(("scenes", *HEAD), said))


def scenes(b, count=2000):
    rows = []
    for seed, accuracy in ((740001, "standard"), (900001, "standard"), (740001, "strict")):
        r = counted(b, "--count", count, "--seed", seed, "--steps", 200, "--accuracy", accuracy)
        rows.append((accuracy, seed, count, r["steps"], r["unsolved"], r["uncertified"], r["infinite"], r["residual"],
                     r["overlap"], r["created"]))
    b.write_csv("scenes.csv", ("accuracy", "first_seed", "scenes", "steps", "refused", "uncertified", "infinite", "worst_residual",
                               "deepest_overlap", "energy_made"), rows)


def loops(b):
    rows = []
    for word in PIVOTING:
        r = counted(b, "--family", "loop", "--count", 48, "--seed", 1001, "--formulation", word)
        rows.append((word, 48, 200, r["unsolved"], r["residual"], r["created"]))
    b.write_csv("loops.csv", ("formulation", "linkages", "steps", "refused", "worst_residual", "energy_made"), rows)


# ---- measured objects ---------------------------------------------------------------------------

def toss(b):
    said = b.ours("bench", "toss")
    b.write("toss.txt", said)
    rows = []

    def judged(text, words):
        for part, k in words:
            r = columns(text, "part", (part,))[part]
            rows.append((k, r[0], f"{float(r[1]):.3f}", f"{float(r[2]):.1f}", f"{float(r[3]):.1f}"))
    fit = b.ours("bench", "toss", "--fit")
    mu, e = re.findall(r"friction (\S+), restitution (\S+) \(", fit)[-1]
    fitted = f"friction {float(mu):g}, restitution {float(e):g}"
    judged(fit, (("fitted", f"fitted on, {fitted}"), ("rest", f"judged on, {fitted}"), ("all", f"all present, {fitted}")))
    judged(said, (("all", "all, friction 0.21 (the model file)"),))
    for law in ("newton", "poisson", "stronge"):
        judged(b.ours("bench", "toss", "--friction", 0.2, "--law", law), (("all", f"all, friction 0.2, {law}"),))
    judged(b.ours("bench", "toss", "--friction", 0.18, "--restitution", 0), (("all", "all, friction 0.18, without restitution"),))
    b.write_tables("toss.md", "Real tosses of a cube", (("", "tosses", "loss", "position [% of width]", "angle [deg]"), rows),
                   "Published by Acosta, Yang and Posa 2022, who fitted on all 550 tosses:",
                   (("simulator", "loss"), (("Drake, three parameters", "0.270"), ("Bullet, three parameters", "0.272"),
                                            ("MuJoCo, four parameters", "0.342"), ("plain rigid model without restitution", "0.272"))))


def square(b):
    rows = []
    for words, label, parts in (((), "", ("fitted", "rest")), (("--steep",), "steep, ", ("rest",))):
        said = b.ours("bench", "square", *words)
        for part in parts:
            for model in ("simulated", "one point"):
                r = re.search(rf"^{model} +{part} +(.*)$", said, re.MULTILINE).group(1).split()
                rows.append((label + ("judged" if part == "rest" else part) + f", {r[0]}", model, *r[1:5], r[5] + " %", *r[6:]))
    laws = [("Newton", ("--law", "newton")), ("Poisson", ("--law", "poisson")), ("Stronge", ()),
            ("fixed steps of 0.4 ms", ("--stepper", "fixed")), ("`impulse`", ("--stepper", "impulse"))]
    mean = [re.search(r"^simulated +rest +(.*)$", b.ours("bench", "square", *w), re.MULTILINE).group(1).split()[3] for _, w in laws]
    b.write_tables("square.md", "Measured impacts of a square",
                   (("impacts", "model", "friction", "e", "mean [m/s]", "median [m/s]", "share", "vx", "vz", "turn"), rows),
                   ([name for name, _ in laws], [mean]))


def poses(b, drops=2000):
    first, second = [], []
    for part in ("box", "bracket", "tee", "nut", "pin"):
        place = ([f"scenes/poses/{part}.xml"] if part != "bracket" else
                 ["--mesh", "scenes/poses/bracket.stl", "--scale", 0.001, "--density", 1100])
        base = None
        for stepper, seed in (("impulse", 1), ("hybrid", 2), ("located", 3)):
            told = json.loads(b.ours("poses", *place, "--drops", drops, "--seed", seed, "--stepper", stepper, "--json"))
            counts = [p["count"] for p in told["poses"]]
            base = base or counts
            chi = sum((x - y) ** 2 / (x + y) for x, y in zip(base, counts) if x + y)
            second.append((part, f"`{stepper}`", seed, " ".join(map(str, counts)),
                           "" if stepper == "impulse" else f"{chi:.1f}, {sum(1 for x, y in zip(base, counts) if x + y) - 1}",
                           f"{1e3 * told['cpu'] / drops:.1f}"))
            if stepper == "impulse":
                first += [(part if k == 0 else "", " ".join(f"{x + 0.0:.2g}" for x in p["down"]), f"{1e3 * p['height']:.3g}",
                           f"{p['probability']:.4f} ({p['low']:.4f} .. {p['high']:.4f})", f"{p['quasi_static']:.4f}")
                          for k, p in enumerate(told["poses"])]
    b.write_tables("poses.md", "Stable poses",
                   (("part", "what points down, axes of the part", "height of the centre of mass [mm]", "probability, 95 %",
                     "quasi-static"), first),
                   (("part", "stepper", "seed", "counts", "chi^2 against `impulse`, degrees", "ms a drop"), second))


# ---- accuracy, piles, impulses ------------------------------------------------------------------

ROBOTS = ("unitree_go1", "anybotics_anymal_c", "booster_t1", "franka_emika_panda", "universal_robots_ur5e")


@contextlib.contextmanager
def robots(b):
    """{name: scene} of some robots of Menagerie, with boxes for meshes that are missing."""
    with tempfile.TemporaryDirectory() as scratch:
        found = {}
        for name in ROBOTS:
            folder = os.path.join(b.needs(b.menagerie, "MuJoCo Menagerie"), name)
            found[name] = models.Copies(os.path.join(scratch, name)).complete(os.path.join(folder, "scene.xml"), folder)[0]
        yield found


def accuracy(b):
    with robots(b) as found:
        said = b.script("bench/accuracy.py", b.program, *found.values())
    rows = [line for line in said.splitlines() if line.startswith("|")]
    for k, name in enumerate(found):
        rows[k + 2] = re.sub(r"^\| [^|]* \|", f"| {name} |", rows[k + 2])
    b.write("accuracy.md", "\n".join(["# Ends of runs at three accuracies", "", *rows]))


def accuracy_steps(b):
    def end(model, h, word):
        said = b.ours("run", model, "--lenient", "--ctrl-random", 1, "--time", 0.04, "--step", h, "--accuracy", word, "--json",
                      ends=(0, 1))
        return json.loads(said)["qpos"]
    rows = []
    with robots(b) as found:
        for name, model in found.items():
            reference = end(model, 0.000125, "strict")
            rows.append((name, *(f"{max(abs(x - y) for x, y in zip(end(model, 0.002, word), reference)):.1e}"
                                 for word in ("strict", "standard"))))
    b.write_tables("accuracy-steps.md", "Accuracy beside the length of a step", (("model", "strict", "standard"), rows))


def heaps(b, seeds=40, boxes=6):
    said = b.script("bench/heaps.py", b.program, seeds, boxes, 2.5)
    rows = []
    for stepper in ("impulse", "hybrid"):
        r = re.search(rf"^{stepper}: (\d+) heaps, (\d+) events, resolved (\d+) times, deepest overlap (\S+) m", said, re.MULTILINE)
        rows.append([f"`{stepper}`", boxes, r.group(1), f"{int(r.group(2)):,}", f"{int(r.group(3)):,}", r.group(4)])
    for name in ("mean height [mm]", "share that lies flat"):
        r = re.search(rf"^{re.escape(name)}: (.*?) and (.*?), difference .* p = (\S+);", said, re.MULTILINE)
        for row, value in zip(rows, r.groups()):
            row.append(value)
        rows[1].append(r.group(3))
        rows[0].append("")
    b.write_tables("heaps.md", "Heaps of boxes at rest",
                   (("stepper", "boxes", "heaps", "events", "problems", "deepest overlap [m]", "mean height [mm]", "p",
                     "share on largest faces", "p"), rows))


def piles(b):
    rows = []
    for words in (("--tol", "0.1"), ("--tol", "0.03"), ("--tol", "0.01", "--loose", "0.03"), ("--loose", "0.03"),
                  ("--accuracy", "fast")):
        r = json.loads(b.ours("run", "scenes/peers/pile_1000.xml", "--step", 0.005, "--time", 4, "--time-limit", 60, *words, "--json",
                              ends=(0, 1)))
        rows.append((f"`{' '.join(words)}`", f"{1e3 * r['cpu'] / max(1, r['steps']):.0f}", f"{r['residual_max']:.1e}",
                     f"{r['penetration_max']:.1e} m", f"{r['energy_created_max']:.1e}", r["below_accuracy"], r["steps"]))
    b.write_tables("piles.md", "Piles of spheres",
                   (("options", "ms a step, mean", "worst residual", "deepest overlap", "energy made in a step [J]",
                     "problems at the looser tolerance", "steps"), rows))


def reproduce_impulse(b):
    said = b.ours("reproduce", "impulse")
    lines = said.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("simulation"))
    rows = []
    for line in lines[at + 1:]:
        found = re.match(r"(\S.*?)  +(impulse|hybrid) +(.*)$", line)
        if not found and rows:
            break
        if not found:
            continue        # units of the head
        rows.append((found.group(1), found.group(2), *found.group(3).split()))
    b.write_tables("reproduce-impulse.md", "Simulations of [Mirtich 1995]",
                   (("simulation", "stepper", "virtual [s]", "real [s]", "slowdown", "impacts", "per real second", "shifts"), rows))


def papers(b):
    """What the experiments of the papers print, without times; chains in free motion, as their test prints it."""
    said = [b.ours("reproduce", name, "--out", tempfile.gettempdir()) for name in ("rod", "balls", "cube")]
    lines = [re.sub(r"; [0-9.]+ s$", "", line) for text in said for line in text.splitlines() if "/" not in line or "==" in line]
    b.write("reproduce.txt", "\n".join(lines))
    found = re.findall(r"n = +(\d+): made (\S+) %, lost (\S+) % .*?, (\S+) iterations", b.call(os.path.join(b.build, "bin/test_smooth_chains")))
    b.write_tables("smooth_chains.md", "Pendulums of spheres in free motion",
                   (("links", "made", "lost", "iterations a step"), [(n, f"{m} %", f"{l} %", k) for n, m, l, k in found]))
