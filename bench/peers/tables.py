"""Tables of bench/peers/run: rows of numbers to markdown, and the bars that rattleback has to meet."""
import json
import math

# Converged solutions, by plain time stepping with exact cones at steps of 1e-6 s and (box) 1e-5 s
# in a program of its own [m]. BOX_UNIFORM shares the load as equal springs under the corners would.
ROD = (-0.22726, 0.0, 0.05)
BALLS = ((0.90725, 0.15706, 0.1), (1.05715, -0.01465, 0.1), (1.26817, -0.01672, 0.1),
         (1.46905, 0.00298, 0.1))
BOX = (0.4743, 1.5993, 0.5)
BOX_UNIFORM = (0.4410, 1.5856, 0.5)

TEXT = ("engine", "version", "setting", "scene", "refused", "said")


def typed(row):
    """A row of the CSV file with numbers as numbers."""
    out = {}
    for name, value in row.items():
        if value == "":
            continue
        out[name] = value if name in TEXT else json.loads(value) if name == "bodies" else float(value)
    return out


def distance(a, b):
    return math.dist(a[:3], b)


def error(row):
    """Distance from the converged solution [m], None where there is none."""
    bodies = row.get("bodies")
    if not bodies:
        return None
    if row["scene"] == "rod":
        return distance(bodies[0], ROD)
    if row["scene"] == "four_balls":
        return max(distance(b, r) for b, r in zip(bodies, BALLS))
    if row["scene"] == "box":
        return distance(bodies[0], BOX)
    return None


def made(row):
    """Energy made and lost before contact, as shares of n m g 3 m."""
    n = int(row["scene"].split("_")[1])
    scale = n * 9.8 * 3
    return row["E_made"] / scale, row["E_lost_free"] / scale


def state(row):
    if row.get("lost"):
        return "blew up"
    if row.get("gave_up"):
        return "gave up at %.3g s" % row["time"]
    if row.get("cut"):
        return "cut at %.3g s" % row["time"]
    return ""


def mm(value):
    return "-" if value is None else "%.3g" % (1e3 * value)


def line(row):
    """One run, for the terminal."""
    head = "%-10s %-15s %-16s h %-8g" % (row["engine"], row["setting"], row["scene"], row["h"])
    if "refused" in row:
        return head + row["refused"]
    text = head + "%9.4g us  pen %.2e m" % (row["us"], row["pen_max"])
    if error(row) is not None:
        text += "  error %s mm" % mm(error(row))
    if row["scene"].startswith("pendulum"):
        text += "  made %.2g %%  lost %.2g %%" % tuple(100 * v for v in made(row))
    if row["scene"].startswith("stack"):
        text += "  drift %.2g m" % row["drift"]
    return text + "  " + state(row)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def by_setting(rows, scene):
    """Rows of a scene grouped by engine and setting, in order."""
    groups = {}
    for row in rows:
        if row["scene"] == scene:
            groups.setdefault((row["engine"], row["setting"]), []).append(row)
    return groups


def steps_table(rows, scene, title):
    groups = by_setting(rows, scene)
    if not groups:
        return ""
    steps = sorted({r["h"] for r in rows if r["scene"] == scene}, reverse=True)
    body = []
    for (engine, setting), runs in groups.items():
        cell = {r["h"]: r for r in runs}
        if all("refused" in r for r in runs):
            body.append([engine, setting, runs[0]["refused"], "", ""])
            continue
        body.append([engine, setting] + [" / ".join(f(cell[h]) for h in steps if h in cell)
                                         for f in (us, lambda r: mm(error(r)), pen)])
    head = ["engine", "setting", "us per step", "error [mm]", "penetration [mm]"]
    return f"## {title}\n\nSteps " + ", ".join("%g" % h for h in steps) + " s.\n\n" + table(head, body)


def us(row):
    return "-" if "refused" in row else ("%.3g" if row["us"] < 100 else "%.0f") % row["us"]


def pen(row):
    return "-" if "refused" in row else mm(row["pen_max"])


def scene_table(rows, scenes, title, columns):
    """One line a run; columns: heading -> function of the row."""
    body = []
    for scene in scenes:
        for (engine, setting), runs in by_setting(rows, scene).items():
            row = runs[0]
            if "refused" in row:
                body.append([scene, engine, setting, "-", row["refused"]] +
                            [""] * (len(columns) - 1))
                continue
            note = state(row)
            body.append([scene, engine, setting, us(row) + (f" ({note})" if note else "")] +
                        [f(row) for f in columns.values()])
    if not body:
        return ""
    return f"## {title}\n\n" + table(["scene", "engine", "setting", "us per step", *columns], body)


def pendulum_table(rows, height):
    links = sorted({int(r["scene"].split("_")[1]) for r in rows
                    if r["scene"].startswith("pendulum") and r["scene"].endswith(f"_{height}")})
    if not links:
        return ""
    settings = []
    for row in rows:
        name = (row["engine"], row["setting"])
        if row["scene"].startswith("pendulum") and name not in settings:
            settings.append(name)
    cell = {(r["engine"], r["setting"], r["scene"]): r for r in rows}
    body = []
    for engine, setting in settings:
        runs = [cell.get((engine, setting, f"pendulum_{n}_{height}")) for n in links]
        body.append([engine, setting] + [pendulum_cell(r) for r in runs])
    return (f"## Pendulum from {height} m\n\nus per step; energy made from nothing and lost before "
            "contact (shares of n m g 3 m); deepest penetration [mm].\n\n" +
            table(["engine", "setting"] + [f"n = {n}" for n in links], body))


def pendulum_cell(row):
    if row is None or "refused" in row:
        return "-"
    up, down = made(row)
    note = state(row)
    made_text = "blown up" if up > 1 else "%.2g %%, %.2g %%" % (100 * up, 100 * down)
    return f"{us(row)}; {made_text}; {pen(row)}" + (f" ({note})" if note else "")


def document(rows, processor):
    versions = {}
    for row in rows:
        if row.get("version"):
            versions[row["engine"]] = row["version"]
    text = ["# Beside other engines\n",
            f"Written by `bench/peers/run`. One pinned core of {processor}; every number is in "
            "`peers.csv`. Scenes, settings and what the columns mean: "
            "[peers](../../../docs/design/peers.md).\n",
            "Versions: " + ", ".join(f"{e} {v}" for e, v in versions.items()) + ".\n",
            "## Bars\n\n" + verdict(rows)]
    text.append(steps_table(rows, "rod", "Rod"))
    text.append(steps_table(rows, "four_balls", "Four balls"))
    text.append(steps_table(rows, "box", "Box"))
    stacks = [f"stack_{r}" for r in (1, 100, 1000)]
    text.append(scene_table(rows, stacks, "Stack", {
        "penetration [mm]": pen, "drift of the top [mm]": lambda r: mm(r["drift"]),
        "tilt": lambda r: "%.2g" % r["tilt"]}))
    text.append(scene_table(rows, ["quadruped", "humanoid"], "Robots", {
        "penetration [mm]": pen, "energy error in flight [J]": lambda r: "%.2g" % r["E_dev_free"],
        "joints open [mm]": lambda r: mm(r["joint_max"])}))
    text += [pendulum_table(rows, 10), pendulum_table(rows, 5)]
    text.append(scene_table(rows, ["pile_100", "pile_1000"], "Pile", {
        "penetration [mm]": pen, "contacts": lambda r: "%.0f" % r["contacts"],
        "speed at the end [m/s]": lambda r: "%.2g" % r["speed_end"]}))
    return "\n".join(part for part in text if part)


# ---- bars ---------------------------------------------------------------------------------------

# scenes that are judged by impacts run with the stepper that is made for them; the large pile with
# a tolerance with which all of its 4 s can be waited for
SETTING = {"rod": "located", "four_balls": "located", "pile_1000": "tol-0.03"}


def ours(rows, scene, h):
    setting = SETTING.get(scene, "cone")
    for row in rows:
        if (row["engine"], row["setting"], row["scene"], row["h"]) == ("rattleback", setting, scene, h):
            return row
    return None


def fastest(rows, scene, h, accurate=None):
    """Smallest time of another engine, among those that are accurate."""
    times = [(r["us"], r["engine"], r["setting"]) for r in rows
             if r["scene"] == scene and r["h"] == h and r["engine"] != "rattleback"
             and "refused" not in r and not state(r) and (accurate is None or accurate(r))]
    return min(times, default=None)


def bars():
    """Name, scene, step, measure of a row, bound [m or share]."""
    out = [("rod, `located`, within 2 mm", "rod", 0.00125, error, 2e-3),
           ("four balls, `located`, within 2 mm", "four_balls", 0.00125, error, 2e-3),
           ("box within 50 mm", "box", 0.001, error, 50e-3),
           ("box within 5 mm of equal compliance", "box", 0.001,
            lambda r: distance(r["bodies"][0], BOX_UNIFORM), 5e-3)]
    for ratio in (1, 100, 1000):
        out.append((f"stack {ratio} overlap and drift", f"stack_{ratio}", 0.005,
                    lambda r: max(r["pen_max"], r["drift"]), 1e-7))
    for z in (10, 5):
        for n in (3, 6, 12, 15, 24, 30, 60, 120, 240):
            name = f"pendulum_{n}_{z}"
            out.append((f"pendulum {n}, {z} m: energy made", name, 0.001, lambda r: made(r)[0], 5e-3))
            out.append((f"pendulum {n}, {z} m: energy lost", name, 0.001, lambda r: made(r)[1], 2e-2))
    out += [("pile of 1000, `--tol 0.03`: overlap", "pile_1000", 0.005, lambda r: r["pen_max"], 1e-6),
            ("quadruped overlap", "quadruped", 0.002, lambda r: r["pen_max"], 1e-6),
            ("humanoid overlap", "humanoid", 0.002, lambda r: r["pen_max"], 1e-6)]
    return out


def verdict(rows):
    body = []
    for name, scene, h, value, bound in bars():
        row = ours(rows, scene, h)
        if row is None:
            continue
        if "refused" in row:
            body.append([name, row["refused"], "%.0e" % bound, "no", "", "", ""])
            continue
        got = value(row)
        met = got <= bound and not state(row)
        equal = fastest(rows, scene, h, lambda r, value=value, bound=bound: value(r) <= bound)
        any_one = fastest(rows, scene, h)
        body.append([name, "%.2g" % got, "%.0e" % bound, "yes" if met else f"no {state(row)}",
                     us(row), named(equal), named(any_one)])
    return table(["bar", "measured", "bound", "met", "us per step", "fastest that meets it",
                  "fastest of all"], body)


def named(best):
    return "-" if best is None else "%.3g %s %s" % best
