"""What users complain of in other engines, as tests of `rattleback run` on scenes/acceptance.

Each test turns numbers of its scene, so that the behaviour is right and not the case.

usage: acceptance.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import csv
import math
import os
import tempfile

from harness import ROOT, check, check_run, rattleback, run_tests, sanitized, strict_json

# A sanitizer makes steps ten times as slow: it runs a part of the long ones.
SHARE = 0.05 if sanitized() else 1.0


def scene(name, *changes):
    """The text of a scene with some of it replaced; what is to be replaced must be there."""
    with open(os.path.join(ROOT, "scenes/acceptance", name + ".xml")) as file:
        text = file.read()
    for old, new in changes:
        check(old in text, f"{name}: no {old!r}")
        text = text.replace(old, new)
    return text


def run(text, *arguments, status=0):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.xml")
        with open(path, "w") as file:
            file.write(text)
        result = rattleback("run", path, *arguments, "--json", timeout=300)
    return strict_json(check_run(result, status))


def record(text, *arguments):
    """Columns of a recorded run."""
    with tempfile.TemporaryDirectory() as folder:
        path, table = os.path.join(folder, "scene.xml"), os.path.join(folder, "run.csv")
        with open(path, "w") as file:
            file.write(text)
        check_run(rattleback("run", path, *arguments, "--record", table, timeout=300), 0)
        with open(table, newline="") as file:
            rows = list(csv.reader(file))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def check_still(done, start):
    check(done["failures"] == 0, done)
    check(done["qpos"] == start, f"moved: {done['qpos']}")
    check(all(v == 0.0 for v in done["qvel"]), done["qvel"])


# ---- friction that sticks ----------------------------------------------------------------------

def test_a_pinched_capsule_does_not_slip_by_a_bit():
    for squeeze, step in ((12, 0.001), (12, 0.002), (60, 0.005), (31.7, 0.002)):
        text = scene("pinch", ('ctrl="-12"', f'ctrl="-{squeeze}"'))
        done = run(text, "--key", "squeezed", "--step", str(step), "--time", str(60 * SHARE))
        check_still(done, [0, 0, 0, 0.2, 1, 0, 0, 0])


def test_what_is_pinched_too_gently_falls():
    done = run(scene("pinch", ('ctrl="-12"', 'ctrl="-0.44"')), "--key", "squeezed", "--time", "0.5")
    fall = 0.5 * (9.81 - 0.44 / 0.045) * 0.25
    check(abs(0.2 - done["qpos"][3] - fall) < 0.01 * fall + 1e-4, done["qpos"])


def test_a_resting_cube_rests_for_an_hour():
    start = run(scene("resting_cube"), "--time", "0.005")["qpos"]
    check_still(run(scene("resting_cube"), "--time", str(3600 * SHARE)), start)


def test_a_slope_holds_to_a_millionth():
    mu = 0.4
    for way in (-1, 1):
        angle = math.atan(mu) + way * 1e-6
        lean = f"{9.81 * math.sin(angle):.17g} 0 {-9.81 * math.cos(angle):.17g}"
        done = run(scene("incline", ("3.643545 0 -9.108399", lean)))
        if way < 0:
            check_still(done, [0, 0, 0.1, 1, 0, 0, 0])
        else:
            wanted = 9.81 * (math.sin(angle) - mu * math.cos(angle))
            check(abs(done["qvel"][0] - wanted) < 1e-3 * wanted, done["qvel"], wanted)


def test_a_fast_cube_stays_on_the_ground():
    for size, speed, mu in ((0.05, 6, 0.5), (0.05, 6, 0.9), (0.02, 11, 0.3)):
        text = scene("sliding_cube", ("0 0 0.05", f"0 0 {size}"),
                     ("0.05 0.05 0.05", f"{size} {size} {size}"), ('friction="0.5"', f'friction="{mu}"'),
                     ('qvel="6 ', f'qvel="{speed} '))
        for step, accuracy, bound in ((0.001, "strict", 1e-9), (0.0005, "strict", 1e-9),
                                      (0.001, "standard", 2e-6 * size), (0.001, "fast", 2e-4 * size)):
            length = speed * speed / (2 * mu * 9.81)
            end = 1.1 * speed / (mu * 9.81)
            table = record(text, "--key", "start", "--step", str(step), "--time", str(end),
                           "--accuracy", accuracy)
            height = max(abs(z - size) for z in table["q:cube:2"])
            check(height < bound, f"height {height} at mu {mu}, {accuracy}")
            check(abs(table["q:cube:0"][-1] - length) < speed * step, table["q:cube:0"][-1], length)
            check(table["v:cube:0"][-1] == 0.0, table["v:cube:0"][-1])


def test_a_sliding_ball_rolls_at_five_sevenths():
    table = record(scene("sliding_ball"), "--key", "start")
    check(abs(table["v:ball:0"][-1] - 2.5) < 1e-9, table["v:ball:0"][-1])
    check(abs(table["v:ball:4"][-1] - 25.0) < 1e-8, table["v:ball:4"][-1])
    begin = next(t for t, v in zip(table["time"], table["v:ball:0"]) if v < 2.5 + 1e-9)
    check(abs(begin - 2 * 3.5 / (7 * 0.3 * 9.81)) <= 0.002, begin)


# ---- masses ------------------------------------------------------------------------------------

def test_heavy_on_light_stands():
    for mass in ("1e2", "1e4", "1e6"):
        done = run(scene("heavy_on_light", ("1e6", mass)))
        check(done["residual_max"] < 1e-10 and done["penetration_max"] < 1e-9, done)
        check_still(done, [0, 0, 0.1, 1, 0, 0, 0, 0, 0, 0.3, 1, 0, 0, 0, 0, 0, 0])


HEAVY = ((1, 1e3, 1e6), (1e6, 1, 1e6), (1, 10, 100, 1e3, 1e4, 1e5, 1e6), (2, 3e5, 7, 8e5))


def test_towers_of_all_masses_stand_for_every_step():
    for masses in HEAVY:
        bodies = "".join(f'''<body pos="0 0 {0.1 + 0.2 * k!r}"><freejoint/><geom type="box"
                         size="0.1 0.1 0.1" mass="{m}"/></body>''' for k, m in enumerate(masses))
        text = f'''<mujoco><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody>
               </mujoco>'''
        for step in (0.001, 0.005, 0.01):
            done = run(text, "--step", str(step), "--time", "0.5")
            check(done["failures"] == 0 and done["residual_max"] < 1e-10, (masses, step, done))
            check(done["penetration_max"] < 1e-9 and not any(done["qvel"]), (masses, step, done))


def test_a_million_kilograms_hang_on_ten_links_in_both_coordinates():
    links = "".join(f'''<body pos="0 0 {-0.2 * (k > 0)}"><joint axis="{k % 2} {1 - k % 2} 0"/>
                    <geom type="capsule" size="0.02" fromto="0 0 -0.02 0 0 -0.18" mass="{m}"/>'''
                    for k, m in enumerate([1] * 9 + [1e6]))
    text = f"<mujoco><worldbody>{links}{'</body>' * 10}</worldbody></mujoco>"
    for coordinates in ("minimal", "maximal"):
        done = run(text, "--coordinates", coordinates, "--time", "1")
        check(done["failures"] == 0 and done["residual_max"] < 1e-10, done)
        check(done["loop_error_max"] < 1e-10 and not any(done["qvel"]), done)


def test_chains_of_all_masses_fall():
    for heavy in (1e3, 1e4, 1e6):
        links = "".join(f'''<body pos="{0.2 * (k > 0)} 0 {0.5 * (k == 0)}" euler="0 {0.3 * (k == 0)} 0">
                        <{"joint axis='0 1 0'" if k else "freejoint"}/><geom type="capsule" size="0.03"
                        fromto="0.04 0 0 0.16 0 0" mass="{m}"/>''' for k, m in enumerate([1] * 5 + [heavy]))
        text = f'''<mujoco><compiler angle="radian"/><option timestep="0.002"/><default><geom friction="0.5"/>
               </default><worldbody><geom type="plane" size="9 9 1"/>{links}{'</body>' * 6}</worldbody></mujoco>'''
        done = run(text, "--time", "0.35", "--accuracy", "strict")
        check(done["failures"] == 0 and done["residual_max"] < 1e-10, (heavy, done))
        check(done["penetration_max"] < 1e-9, (heavy, done))


def test_heavy_falls_on_light():
    for mass in ("1e3", "1e6"):
        text = scene("heavy_on_light", ("1e6", mass), ('pos="0 0 0.3"', 'pos="0.03 0.02 0.35"'),
                     ("0 0 0.3 1 0 0 0", "0.03 0.02 0.35 1 0 0 0"))
        done = run(text, "--key", "start", "--accuracy", "strict")
        check(done["failures"] == 0, done)
        check(done["residual_max"] < 1e-9 and done["penetration_max"] < 1e-9, done)
        check(abs(done["qpos"][9] - 0.3) < 1e-8, done["qpos"])


# ---- thin and tight ----------------------------------------------------------------------------

def test_a_bullet_meets_a_foil_and_passes_beside_it():
    for speed, step in ((100, 0.01), (1000, 0.01), (37.3, 0.005)):
        text = scene("bullet", ("100 0 0 0 0 0  100", f"{speed} 0 0 0 0 0  {speed}"))
        done = run(text, "--key", "start", "--step", str(step), "--time", "0.05")
        check(abs(done["qpos"][0] - (0.5 - 5e-7 - 0.005)) < 1e-9, done["qpos"])
        check(abs(done["qpos"][7] - 0.05 * speed) < 1e-9 * speed, done["qpos"])
        check(done["qpos"][8:10] == [0.106, 0], done["qpos"])


def test_what_passes_beside_an_edge_falls_freely():
    for step in (0.02, 0.01, 0.002):
        text = scene("bullet", ('gravity="0 0 0"', 'gravity="0 0 -9.81"'), ("0.106", "0.1051"))
        done = run(text, "--key", "start", "--step", str(step), "--time", "0.04")
        check(abs(done["qvel"][6] - 100) < 1e-9, (step, done["qvel"]))
        check(abs(done["qvel"][8] + 9.81 * 0.04) < 1e-9, (step, done["qvel"]))
    for step in (0.005, 0.002, 0.001):
        done = run(scene("peg"), "--step", str(step), "--time", "0.1")
        check(abs(done["qpos"][2] - (0.085 - 0.5 * 9.81 * 0.01)) < 1e-12, (step, done["qpos"]))


def test_a_peg_with_ten_micrometres_enters_and_without_stands():
    done = run(scene("peg"))
    check(abs(done["qpos"][2] - 0.03) < 1e-9 and done["failures"] == 0, done)
    done = run(scene("peg", ("0.02001", "0.01999")))
    check(abs(done["qpos"][2] - 0.08) < 1e-9 and done["failures"] == 0, done)


# ---- bounces -----------------------------------------------------------------------------------

def test_an_elastic_ball_returns_ten_thousand_times():
    for law in ("stronge", "poisson"):
        period = 2 * math.sqrt(2 / 9.81)
        done = run(scene("bounce"), "--time", str(1e4 * SHARE * period), "--restitution-law", law)
        check(abs(done["impacts"] - 1e4 * SHARE) <= 1 and done["failures"] == 0, done["impacts"])
        check(abs(done["energy_end"] - done["energy_start"]) / 9.81 < 1e-9, done)
        check(done["energy_created_max"] < 1e-12, done["energy_created_max"])


def test_a_ball_comes_to_rest_when_its_bounces_end():
    for e, step in ((0.5, 0.01), (0.5, 0.001), (0.8, 0.005)):
        table = record(scene("bounce"), "--restitution", str(e), "--step", str(step), "--time", "5")
        end = math.sqrt(2 / 9.81) * (1 + 2 * e / (1 - e))
        rest = step + max(t for t, v in zip(table["time"], table["v:ball:2"]) if v != 0.0)
        check(abs(rest - end) <= step, rest, end)


# ---- loops -------------------------------------------------------------------------------------

def test_a_four_bar_linkage_walks_with_closed_loops():
    for ctrl in ("3", "-5", "12"):
        done = run(scene("four_bar", ('ctrl="3"', f'ctrl="{ctrl}"')), "--key", "pulled", "--accuracy", "strict")
        check(done["failures"] == 0, done)
        check(done["loop_error_max"] < 1e-10, done["loop_error_max"])
        check(done["residual_max"] < 1e-10 and done["penetration_max"] < 1e-9, done)


# ---- spin --------------------------------------------------------------------------------------

def test_a_gyroscope_turns_about_the_vertical():
    table = record(scene("gyroscope"), "--key", "spinning")
    w, x, y, z = (table[f"q:pivot:{k}"] for k in range(4))
    tip = [(1 - 2 * (c * c + d * d), 2 * (b * c + a * d), 2 * (b * d - a * c))
           for a, b, c, d in zip(w, x, y, z)]
    rate = 9.81 * 0.1 / (0.005 * 1000)
    turned = math.atan2(tip[-1][1], tip[-1][0])
    check(abs(turned - rate * table["time"][-1]) < 2e-3, turned, rate)
    check(max(abs(t[2]) for t in tip) < 1e-3, max(abs(t[2]) for t in tip))


def test_a_nut_flips_and_keeps_its_energy():
    table = record(scene("flip"), "--key", "spinning")
    energy = table["energy"]
    check(max(abs(e - energy[0]) for e in energy) < 1e-6 * abs(energy[0]), energy[0])
    inertia = (0.001, 0.002, 0.003)
    spin = [sum((i * table[f"v:nut:{3 + k}"][n]) ** 2 for k, i in enumerate(inertia))
            for n in range(len(energy))]
    check(max(abs(s - spin[0]) for s in spin) < 1e-6 * spin[0], spin[0])
    middle = table["v:nut:4"]
    flips = sum(1 for a, b in zip(middle, middle[1:]) if a * b < 0)
    check(flips >= 3, flips)


# ---- the same again ----------------------------------------------------------------------------

def test_cold_and_warm_agree():
    text = scene("sliding_cube", ('qvel="6 0 0 0 0 0"', 'qvel="3 1 0 0 0 4"'))
    warm = run(text, "--key", "start", "--time", "0.3")
    cold = run(text, "--key", "start", "--time", "0.3", "--cold")
    apart = max(abs(a - b) for a, b in zip(warm["qvel"], cold["qvel"]))
    check(apart < 1e-8, apart)


def test_contacts_are_never_dropped():
    bodies = "".join(f'<body pos="{i % 10} {i // 10} 0.1"><freejoint/>'
                     '<geom type="box" size="0.1 0.1 0.1"/></body>' for i in range(200))
    text = f'<mujoco><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>'
    done = run(text, "--time", "0.01")
    check(done["contacts_max"] == 800 and done["failures"] == 0, done["contacts_max"])


if __name__ == "__main__":
    run_tests(globals())
