"""Solvers, dynamics, collision and campaigns: their CSV files as tables and figures."""
import math

import plot
from records import Record, made_by, median, short, table

TARGET = 1e-8       # relative residual of the friction problems, eq. (C.10)


def friction_best(record):
    """{problem: [contacts, auto, auto-unique, fastest Siconos]} [us], None where the target was missed."""
    best = {}
    for row in record.rows():
        entry = best.setdefault(row["problem"], [int(row["contacts"]), None, None, None])
        if row["state"] != "ran" or not float(row["residual"]) <= TARGET:
            continue
        place = {"auto": 1, "auto-unique": 2}.get(row["solver"]) if row["side"] == "rattleback" else 3
        if place:
            time = float(row["us"])
            entry[place] = time if entry[place] is None else min(entry[place], time)
    return best


def friction(root, up):
    record = Record(root, "friction.csv")
    best = friction_best(record)
    rows = []
    for low, high in ((1, 9), (10, 99), (100, 999)):
        part = [b for b in best.values() if low <= b[0] <= high]
        ratio = [b[3] / b[1] for b in part if b[1] and b[3]]
        rows.append((f"{low} to {high}", len(part), sum(1 for b in part if b[1]), sum(1 for b in part if b[3]),
                     sum(1 for b in part if b[1] and (not b[3] or b[1] < b[3])),
                     sum(1 for b in part if b[2] and (not b[3] or b[2] < b[3])),
                     short(min(ratio)), short(median(ratio)), short(max(ratio))))
    head = ("contacts", "problems", "certified: rattleback", "Siconos", "rattleback faster",
            "with the unique answer", "Siconos' time over ours: least", "median", "largest")
    slower = sorted((b[3] / b[1], name) for name, b in best.items() if b[1] and b[3] and b[3] < b[1])
    return [
        "One time step each of frictional contact problems from public collections. The opponent is the fastest of Siconos'",
        "solvers for the problem, chosen afterwards. Times are those to a residual of 1e-8, graded by one program.", "",
        *made_by("siconos"), record.source(up) + ".", "",
        f"![time to 1e-8 over contacts]({up}docs/figures/friction.svg)", "", *table(head, rows), "",
        "Siconos is faster on " + ", ".join(f"`{n}` ({short(r)})" for r, n in slower) + ".",
        "The number is its time over ours."]


def friction_figure(root):
    best = friction_best(Record(root, "friction.csv"))
    series = [("rattleback auto", 1), ("fastest Siconos", 3)]
    return plot.scatter("us to a certified residual of 1e-8", "contacts", [
        (word, [(b[0], b[k], True, f"{name}: {short(b[k])} us") for name, b in best.items() if b[k]])
        for word, k in series])


def lcp(root, up):
    record = Record(root, "lcp.csv")
    runs = {}
    for row in record.rows():
        good = row["state"] == "ran" and float(row["residual"]) <= 1e-9
        runs.setdefault((int(row["contacts"]), int(row["n"])), {}).setdefault(row["way"], {})[row["problem"]] = \
            float(row["us"]) if good else None
    rows = []
    for (contacts, n), ways in sorted(runs.items()):
        both = [p for p, t in ways["lemke"].items() if t and ways["siconos-lemke"].get(p)]
        ratio = median([ways["siconos-lemke"][p] / ways["lemke"][p] for p in both])
        missed = [sum(1 for t in ways[w].values() if t is None) for w in ("lemke", "siconos-lemke")]
        cold, warm = ([ways[w][p] for p in ways["cold-auto-unique"] if ways["cold-auto-unique"][p] and
                       ways["warm-auto-unique"][p]] for w in ("cold-auto-unique", "warm-auto-unique"))
        rows.append((contacts, n, *missed, short(median([ways["lemke"][p] for p in both])),
                     short(median([ways["siconos-lemke"][p] for p in both])), short(ratio),
                     short(median(cold)), short(median(warm)), short(median([c / w for c, w in zip(cold, warm)]))))
    head = ("contacts", "n", "not certified: ours", "Siconos'", "Lemke us", "Siconos' us", "ratio",
            "`auto`, unique answer: cold us", "warm us", "ratio")
    return ["Friction problems with four directions. Lemke's method cold beside that of Siconos; and `auto` with",
            "the unique answer (the default), cold and again after a change of one percent. Times are medians.", "",
            *made_by("siconos"), record.source(up) + ".", "", *table(head, rows)]


def campaign(root, up):
    record = Record(root, "campaign.csv")
    rows = [r for r in record.rows() if "all" not in (r["family"], r["form"])]
    total = [sum(int(r[k]) for r in rows) for k in ("problems", "cold_solved", "warm_solved", "wrong", "uncertified")]
    worst = max(float(r[k]) for r in rows for k in ("worst_cold", "worst_warm"))
    head = ("problems", "certified cold", "certified warm", "wrongly called solved", "uncertified answers", "worst relative residual")
    return ["Generated contact problems of several families and forms, each solved cold and, after a change of one percent, warm.",
            "A program that shares nothing with the solvers grades the answers.", "", *made_by("campaign"),
            record.source(up) + ".", "", *table(head, [(*(f"{t:,}" for t in total), short(worst))]), "",
            "An answer may be left uncertified where a problem is at position level: there no theorem promises a solution."]


def timings(record):
    found = {}
    for row in record.rows():
        found.setdefault((row["model"], int(row["nv"])), {})[row["engine"]] = float(row["ns"]) * 1e-3
    return found


def best(times, words):
    return min(value for engine, value in times.items() if any(w in engine for w in words))


def dynamics(root, up):
    record, oracle = Record(root, "dynamics.csv"), Record(root, "dynamics-oracle.csv")
    rows = []
    for (model, nv), t in timings(record).items():
        mujoco, pinocchio = best(t, ("mj_forward", "mujoco")), best(t, ("pinocchio",))
        rows.append((model.replace("_", " "), nv, short(t["rb_forward"]), short(mujoco), short(pinocchio),
                     short(mujoco / t["rb_forward"]), short(pinocchio / t["rb_forward"])))
    head = ("model", "nv", "rattleback us", "MuJoCo us", "Pinocchio us", "MuJoCo over ours", "Pinocchio over ours")
    worst = max(float(v) for r in oracle.rows() for k, v in r.items() if k not in ("model", "nv") and v)
    growth = [(int(r["links"]), int(r["instructions"])) for r in Record(root, "dynamics-instructions.csv").rows()]
    slope = math.log(growth[-1][1] / growth[0][1]) / math.log(growth[-1][0] / growth[0][0])
    return ["Forward dynamics from positions, velocities and forces, kinematics included, without contact. MuJoCo is the faster of",
            "`mj_forward` and its needed parts, Pinocchio the fastest of `aba` in two conventions and two builds.", "",
            *made_by("dynamics,oracle"),
            record.source(up) + ".", "", f"![time of forward dynamics]({up}docs/figures/dynamics.svg)", "",
            *table(head, rows), "",
            f"Mass matrix, bias, forces, forward dynamics, frames, Jacobians and energy of {len(oracle.rows())} models agree with",
            f"MuJoCo (MJCF) and Pinocchio (URDF) to {short(worst)} relative at 100 random states each (`{oracle.name}`).",
            f"Instructions of forward dynamics with four contact points grow by the power {slope:.2f} from {growth[0][0]} to "
            f"{growth[-1][0]:,} links", "(`dynamics-instructions.csv`); `ctest -R cost` allows 1.1."]


def dynamics_figure(root):
    series = {"rattleback": [], "MuJoCo": [], "Pinocchio": []}
    for (model, nv), t in sorted(timings(Record(root, "dynamics.csv")).items(), key=lambda e: e[0][1]):
        for word, us in (("rattleback", t["rb_forward"]), ("MuJoCo", best(t, ("mj_forward", "mujoco"))),
                         ("Pinocchio", best(t, ("pinocchio",)))):
            series[word].append((nv, us, True, f"{word}, {model}: {short(us)} us"))
    return plot.scatter("us of one forward dynamics", "degrees of freedom", list(series.items()))


def collide(root, up):
    record = Record(root, "collide.csv")
    found = {}
    for row in record.rows():
        found.setdefault((row["pair"], row["poses"]), {})[(row["engine"], row["answer"])] = float(row["ns"])
    rows = []
    for (pair, poses), times in found.items():
        kind = "distance" if poses == "apart" else "manifold"
        ours = {e: t for (e, a), t in times.items() if e.startswith("rattleback") and a == kind}
        same = {e: t for (e, a), t in times.items() if not e.startswith("rattleback") and a == kind}
        less = {e: t for (e, a), t in times.items() if not e.startswith("rattleback") and a != kind}
        mine, other = min(ours.values()), min(same, key=same.get)
        rows.append((pair, poses, short(mine, 3), f"{other} {short(same[other], 3)}", short(same[other] / mine),
                     ", ".join(f"{e} {short(t, 3)}" for e, t in less.items() if t < mine) or "-"))
    head = ("pair", "poses", "ours ns", "fastest with the same kind of answer ns", "its time over ours",
            "faster, with a lesser answer ns")
    broad = [(f"{int(r['boxes']):,}", r["scene"], r["way"], short(float(r["ms"])), f"{int(r['pairs']):,}")
             for r in Record(root, "broad.csv").rows() if int(r["boxes"]) >= 10000]
    return ["Twelve paths of 256 close poses for each pair of shapes. The same kind of answer is a distance while apart and a",
            "manifold where shapes touch; yes or no, or a depth without points, is a lesser one.", "", *made_by("collide"), record.source(up) + ".", "", *table(head, rows), "",
            "The broad phase, a whole build with all pairs:", "",
            *table(("boxes", "scene", "method", "ms", "pairs"), broad)]


def gaps(root, up):
    record = Record(root, "gaps.csv")
    rows = [(r["pair"], f"{int(r['apart']):,}", f"{int(r['touch']):,}", f"{int(r['overlap']):,}",
             r["worst_relative_error"], r["wrong"]) for r in record.rows()]
    return ["Random pairs without a closed form against a slow second method: sizes from 1 um to 1 km, aspect up to 1e4, nearly",
            "parallel faces, exact touch, deep overlap. A gap is wrong beyond 1e-9 of the size, a point beyond 1e-7.", "",
            *made_by("gaps"), record.source(up) + ".", "",
            *table(("pair", "apart", "touch", "overlap", "worst relative error", "wrong"), rows), "",
            "Campaigns on other seeds found errors; all are mended and their seeds are in the tests."]


def scenes(root, up):
    record = Record(root, "scenes.csv")
    rows = [(r["accuracy"], r["first_seed"], f"{int(r['steps']):,}", r["refused"], r["uncertified"], r["infinite"],
             r["worst_residual"], r["deepest_overlap"], r["energy_made"]) for r in record.rows()]
    loops = [tuple(r.values()) for r in Record(root, "loops.csv").rows()]
    return ["Stacks, wedges, slopes, piles, chains, creatures and loops with random sizes, 200 steps each. Overlap is a share of the",
            "size, energy a share of the scene's. A step that is refused ends its scene.", "", *made_by("scenes,loops"),
            record.source(up) + ".", "",
            *table(("accuracy", "first seed", "steps", "refused", "below accuracy", "infinite", "worst residual",
                    "deepest overlap", "energy made"), rows), "",
            "Linkages under other formulations:", "",
            *table(("formulation", "linkages", "steps each", "refused", "worst residual", "energy made"), loops)]


def impacts(root, up):
    record = Record(root, "impact.md")
    wanted = [line.strip() for line in record.text().splitlines()
              if line.startswith("    ") and ("impacts," in line or " late" in line or "hits," in line)]
    return ["Single impacts under three laws of restitution, and times of impact of moving pairs.", "", *made_by("impact"), record.source(up) + ".", "", "```text", *wanted, "```"]


def tosses(root, up):
    record = Record(root, "toss.txt")
    return ["A cube thrown on a board, measured and simulated: [tosses](toss.md).", "", *made_by("toss"),
            record.source(up) + ".", "", "```text", *record.text().splitlines(), "```"]


def fuzzing(root, up):
    record = Record(root, "fuzz.csv")
    rows = [(f"`{r['target']}`", r["processor_minutes"], f"{int(r['runs']):,}", r["crashes"])
            for r in record.rows()]
    return ["Readers and solvers under random input, with sanitizers. Stored inputs are replayed by every `make test`.", "",
            *made_by("fuzz"), record.source(up) + ".", "",
            *table(("target", "processor minutes", "runs", "crashes or wrong answers"), rows)]
