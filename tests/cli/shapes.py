"""The acceptance rows of stepping once more with cylinders, ellipsoids and hulls, on planes and on boxes.

The scenes are those of scenes/acceptance with another geom in place of a box or a ball, so that the pairs
without a closed form carry the load.

usage: shapes.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import math
import re

from acceptance import SHARE, check_still, record, run, scene
from harness import check, run_tests

PLANE = 'type="plane" size="10 10 1"'
TABLE = 'type="box" size="10 10 1" pos="0 0 -1"'


def prism(name, radius, half, sides=9):
    """The asset of an upright prism; its first corner looks along x. Vertices are single precision, as in
    MuJoCo: the height is right because its scale is not."""
    corners = [(radius * math.cos(2 * math.pi * k / sides), radius * math.sin(2 * math.pi * k / sides), z)
               for k in range(sides) for z in (-1, 1)]
    text = " ".join("%.17g %.17g %.17g" % c for c in corners)
    return f'<asset><mesh name="{name}" vertex="{text}" scale="1 1 {half}"/></asset>'


def with_geom(text, name, shape, assets="", floor=PLANE):
    """The scene with the geom `name` given another shape, the floor too."""
    pattern = r'(<geom name="%s") type="\w+" size="[^"]*"' % name
    check(re.search(pattern, text), f"no geom {name}")
    text = re.sub(pattern, r"\1 " + shape, text)
    text = text.replace(PLANE, floor)
    if assets and assets not in text:
        text = text.replace("<worldbody>", assets + "<worldbody>", 1)
    return text


def upright(radius, half):
    """Shapes that stand on a flat end, with their assets."""
    return [(f'type="cylinder" size="{radius} {half}"', ""),
            ('type="mesh" mesh="prism"', prism("prism", radius, half))]


# ---- rest --------------------------------------------------------------------------------------

def test_they_rest_for_a_minute():
    shapes = upright(0.5, 0.5) + [('type="ellipsoid" size="0.9 0.7 0.5"', "")]
    for shape, assets in shapes:
        for floor in (PLANE, TABLE):
            text = with_geom(scene("resting_cube"), "cube", shape, assets, floor)
            start = run(text, "--time", "0.005")["qpos"]
            check_still(run(text, "--time", str(60 * SHARE)), start)


def test_a_cylinder_lies_for_a_minute():
    text = with_geom(scene("resting_cube", ('euler="0 0 30"', 'euler="90 0 0"')), "cube",
                     'type="cylinder" size="0.5 0.7"', floor=TABLE)
    start = run(text, "--time", "0.005")["qpos"]
    check_still(run(text, "--time", str(60 * SHARE)), start)


def test_a_slope_holds_to_a_millionth():
    mu = 0.4
    for shape, assets in upright(0.2, 0.1):
        for floor in (PLANE, TABLE):
            for way in (-1, 1):
                angle = math.atan(mu) + way * 1e-6
                lean = f"{9.81 * math.sin(angle):.17g} 0 {-9.81 * math.cos(angle):.17g}"
                text = with_geom(scene("incline", ("3.643545 0 -9.108399", lean)), "block", shape,
                                 assets, floor)
                done = run(text)
                if way < 0:
                    check_still(done, [0, 0, 0.1, 1, 0, 0, 0])
                else:
                    wanted = 9.81 * (math.sin(angle) - mu * math.cos(angle))
                    check(abs(done["qvel"][0] - wanted) < 1e-3 * wanted, shape, floor, done["qvel"],
                          wanted)


# ---- masses ------------------------------------------------------------------------------------

def test_heavy_on_light_stands():
    for shape, assets in upright(0.1, 0.1):
        for mass in ("1e2", "1e6"):
            text = with_geom(scene("heavy_on_light", ("1e6", mass)), "light", shape, assets)
            text = with_geom(text, "heavy", shape, assets)
            done = run(text)
            check(done["residual_max"] < 1e-9 and done["penetration_max"] < 1e-9, done)
            check_still(done, [0, 0, 0.1, 1, 0, 0, 0, 0, 0, 0.3, 1, 0, 0, 0, 0, 0, 0])


# ---- thin --------------------------------------------------------------------------------------

def test_bullets_meet_a_foil_and_pass_beside_it():
    shapes = [('type="cylinder" size="0.005 0.005"', "", 0.005),
              ('type="ellipsoid" size="0.005 0.005 0.003"', "", 0.005),
              ('type="mesh" mesh="prism"', prism("prism", 0.005, 0.005), 0.005)]
    for shape, assets, nose in shapes:
        for speed, step in ((100, 0.01), (37.3, 0.005)):
            text = scene("bullet", ("100 0 0 0 0 0  100", f"{speed} 0 0 0 0 0  {speed}"))
            text = with_geom(text, "stopped", shape, assets)
            text = with_geom(text, "passing", shape, assets)
            table = record(text, "--key", "start", "--step", str(step), "--time", "0.05")
            farthest = max(table["q:stopped:0"])
            check(farthest < 0.5 - 5e-7 - 0.8 * nose, shape, farthest)
            check(max(table["penetration"]) < 1e-9, shape, max(table["penetration"]))
            check(abs(table["q:passing:0"][-1] - 0.05 * speed) < 1e-9 * speed, shape)
            check(table["q:passing:1"][-1] == 0.106 and table["q:passing:2"][-1] == 0, shape)


# ---- bounces -----------------------------------------------------------------------------------

def test_they_return_again_and_again():
    """Flat ends meet the floor in several points at once; with e = 1 the height comes back. A hull is level to
    1e-8 only, and every bounce enlarges that: it has fewer of them."""
    (can, _), (hull, assets) = upright(0.2, 0.1)
    for shape, assets, count in ((can, "", 1000), ('type="ellipsoid" size="0.3 0.2 0.1"', "", 1000),
                                 (hull, assets, 10)):
        period = 2 * math.sqrt(2 / 9.81)
        text = with_geom(scene("bounce"), "ball", shape, assets)
        count = max(10, count * SHARE)
        done = run(text, "--time", str(count * period), "--restitution-law", "poisson")
        check(abs(done["impacts"] - count) <= 1 and done["failures"] == 0, shape, done["impacts"])
        check(abs(done["energy_end"] - done["energy_start"]) / 9.81 < 1e-9, shape, done)
        check(done["energy_created_max"] < 1e-12, shape, done["energy_created_max"])


def test_they_come_to_rest_when_their_bounces_end():
    for shape, assets in upright(0.2, 0.1):
        for e, step in ((0.5, 0.01), (0.8, 0.005)):
            text = with_geom(scene("bounce"), "ball", shape, assets)
            table = record(text, "--restitution", str(e), "--step", str(step), "--time", "5")
            end = math.sqrt(2 / 9.81) * (1 + 2 * e / (1 - e))
            rest = step + max(t for t, v in zip(table["time"], table["v:ball:2"]) if v != 0.0)
            check(abs(rest - end) <= step, shape, rest, end)


if __name__ == "__main__":
    run_tests(globals())
