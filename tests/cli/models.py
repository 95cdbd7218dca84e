"""Tests of the commands that begin with a model file: info and compute, bench dynamics.

usage: models.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import glob
import json
import math
import os
import tempfile
import time

from harness import (ROOT, SHARED, answers, check, check_run, rattleback, run_tests, stored,
                     strict_json)

PENDULUM = "scenes/robots/double_pendulum.xml"
TUMBLER = "scenes/robots/tumbler.xml"
FOUR_BAR = "scenes/robots/four_bar.xml"
HAND = "scenes/robots/hand.xml"
ARM = "scenes/robots/arm.urdf"
QUADRUPED = "scenes/robots/quadruped.xml"


def info(path, *options):
    return strict_json(check_run(rattleback("info", "--json", path, *options), 0))


def compute(path, what, *states, options=()):
    text = "\n".join(json.dumps(s) for s in states)
    source = ["--state", "-"] if states else []
    out = check_run(rattleback("compute", path, "--what", what, *source, *options, text=text), 0)
    return answers(out)


def near(a, b, tol):
    if isinstance(a, (int, float)):
        return abs(a - b) <= tol * max(1.0, abs(b))
    return len(a) == len(b) and all(near(x, y, tol) for x, y in zip(a, b))


def multiply(A, x):
    return [math.fsum(a * b for a, b in zip(row, x)) for row in A]


# ---- info -------------------------------------------------------------------------------------


def test_info_counts():
    facts = info(QUADRUPED)
    for key, value in {"bodies": 13, "joints": 13, "nq": 19, "nv": 18, "geoms": 19, "actuators": 0,
                       "equalities": 0, "keyframes": 1, "trees": 1}.items():
        check(facts[key] == value, key, facts[key], "wanted", value)
    check(near(facts["mass"], 12.7, 1e-14), facts["mass"])
    check(near(facts["com"][2], 0.397637795, 1e-9), facts["com"])
    check(facts["joint_list"][0]["type"] == "free" and facts["joint_list"][1]["dof"] == 6, "joints")
    facts = info(HAND)
    check((facts["tendons"], facts["actuators"], facts["equalities"]) == (2, 4, 1), "hand")
    facts = info(ARM)
    check((facts["bodies"], facts["joints"], facts["nv"], facts["equalities"]) == (10, 8, 8, 1), "arm")
    facts = info(ARM, "--floating-base", "--friction", "0.25")
    check((facts["joints"], facts["nq"], facts["nv"]) == (9, 15, 14), "floating arm")
    check(all(g["friction"] == 0.25 for g in facts["geom_list"]), facts["geom_list"])


def test_info_draws_the_tree():
    out = check_run(rattleback("info", QUADRUPED), 0)
    lines = out.splitlines()
    check(lines[0].startswith("world"), lines[0])
    check(lines[1].startswith("+- trunk") and "5.7 kg" in lines[1] and "free root" in lines[1],
          lines[1])
    check(any(line.startswith("   |  +- fl_thigh") for line in lines), out)
    check(any("hinge fl_thigh_joint [-1.5, 3] rad  dof 7" in line for line in lines), out)
    check("mass 12.7 kg" in lines[-1], lines[-1])
    out = check_run(rattleback("info", HAND), 0)
    for sentence in ("index_pull", "on tendon index_cord", "thumb_couple", "closed",
                     "+0.012 index_1"):
        check(sentence in out, sentence, "is not in", out)


def test_info_names_what_has_no_name_as_records_do():
    text = """<mujoco><worldbody><body><joint/><geom size="0.1"/><site name="s"/></body></worldbody>
      <actuator><motor site="s"/></actuator><sensor><gyro site="s"/></sensor></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        info = check_run(rattleback("info", path), 0)
        record = check_run(rattleback("run", path, "--time", "0.002", "--record", "-", "--columns", "q,ctrl,sensor"), 0)
    titles = record.splitlines()[0].split(",")
    for title in ("q:body1.0", "ctrl:actuator0", "sensor:gyro.0:0"):
        check(title in titles and title.split(":")[1] in info, title, titles, info)


def test_info_of_deep_and_long_trees():
    links = 3000
    text = '<robot name="long"><link name="l0"/>' + "".join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        f'ixz="0" iyz="0"/></inertial></link><joint name="j{k}" type="continuous">'
        f'<parent link="l{k - 1}"/><child link="l{k}"/></joint>' for k in range(1, links)) + "</robot>"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "long.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        begin = time.monotonic()
        out = check_run(rattleback("info", path), 0)
        check(f"({links}) l{links - 1}" in out, out[-300:])
        check(max(map(len, out.splitlines())) < 200, "lines grow with the depth")
        check(time.monotonic() - begin < 20, "took", time.monotonic() - begin)


def check_urdf(name, facts, expected):
    fixed = expected["joints_by_type"].get("fixed", 0)
    joints = sum(expected["joints_by_type"].values()) - fixed
    for key, value in {"bodies": expected["links"], "joints": joints,
                       "nv": expected["dof_fixed_base"], "geoms": expected["collisions"]}.items():
        check(facts[key] == value, name, key, facts[key], "wanted", value)
    check(near(facts["mass"], expected["total_mass"], 1e-8), name, "mass", facts["mass"])
    check(near(facts["com"], expected["com_zero_config"], 1e-8), name, "com", facts["com"])


def check_mjcf(name, facts, expected, replicated):
    check(facts["joints"] >= expected["joints"] + expected["freejoints"], name, "joints")
    if not replicated:
        check(facts["bodies"] == expected["bodies"], name, "bodies", facts["bodies"])
        check(facts["joints"] == expected["joints"] + expected["freejoints"], name, "joints")
    for key in ("actuators", "equalities", "keyframes", "tendons"):
        if not replicated:
            check(facts[key] == expected[key], name, key, facts[key], "wanted", expected[key])
    if expected["bodies_with_inertial"] == expected["bodies"] and not replicated:
        check(near(facts["mass"], expected["sum_explicit_mass"], 1e-9), name, "mass", facts["mass"])


def test_every_robot_is_counted():
    for collection in ("robots", "mujoco_models"):
        path = stored(f"{collection}/expected.json")
        if not path:
            continue
        with open(path, encoding="utf-8") as file:
            robots = json.load(file)
        for name, expected in robots.items():
            root = os.path.join(SHARED, "data", collection, name)
            model = os.path.join(root, expected["main"])
            packages = [f"--package={p}={root}" for p in ("example-robot-data", "drake_models")]
            facts = info(model, *packages)
            with open(model, encoding="utf-8") as file:
                replicated = "<replicate" in file.read()
            if model.endswith(".urdf"):
                check_urdf(name, facts, expected)
            else:
                check_mjcf(name, facts, expected, replicated)
            for warning in facts["warnings"]:
                check(set(warning) >= {"file", "line", "element", "text"}, name, warning)
                check(warning["line"] > 0 and os.path.exists(warning["file"]), name, warning)


def test_malformed_models_are_refused():
    folder = stored("mujoco_models/malformed")
    for path in sorted(glob.glob(os.path.join(folder, "*.xml"))) if folder else []:
        code, out, err = rattleback("info", path)
        check(code == 2 and out == "", path, code)
        name, line, sentence = err.split(":", 2)
        check(name == path and int(line) > 0 and len(sentence) > 20, err)
        check(rattleback("compute", path)[0] == 2, path)


def test_painleve_has_no_forces():
    """The rod after its impact (theory 3.5): sliding to the right there is no force, to the left one."""
    angle, spin = math.radians(30.0) + 4.0 * 0.383, 4.0
    height = 0.05 + 0.25 * math.sin(angle)
    rod = os.path.join(ROOT, "scenes/contact/rod.xml")
    for v_x in (0.0, -3.0):
        state = {"qpos": [0.0, height, angle], "qvel": [v_x, 0.25 * math.cos(angle) * spin, spin]}
        found = compute(rod, "acceleration", state)[0]["acceleration"]
        r, arm = 0.25 * math.sin(angle) + 0.05, 0.25 * math.cos(angle)
        slip = v_x + r * spin
        normal = 1.0 + arm * arm / 0.002
        friction = 0.6 * math.copysign(1.0, slip) * arm * r / 0.002
        check(abs(found["M"][0][0] - (normal + friction)) < 1e-9, (found, normal, friction))
        check(abs(found["q"][0] - (-9.81 + 0.25 * math.sin(angle) * spin ** 2)) < 1e-6, found)
        check(found["status"] == ("ray" if v_x == 0.0 else "solved"), found)
        lcp = json.dumps({"name": "rod", "n": 1, "M": found["M"], "q": found["q"]})
        out = rattleback("lcp", "-", "--json", text=lcp)[1]
        check(("solved" in out) == (v_x != 0.0), out)


def test_what_a_mesh_is_for_contacts():
    shape = ('vertex="-1 -1 -0.5 1 -1 -0.5 1 -1 0.3 0 -1 -0.3 -1 -1 0.3 -1 1 -0.5 1 1 -0.5 1 1 0.3 0 1 -0.3 '
             '-1 1 0.3" face="0 1 2 0 2 3 0 3 4 5 7 6 5 8 7 5 9 8 0 6 1 0 5 6 1 7 2 1 6 7 2 8 3 2 7 8 3 9 4 '
             '3 8 9 4 5 0 4 9 5"')
    text = (f'<mujoco><asset><mesh name="groove" {shape}/></asset><custom><numeric name="rb.surface/%s" data="1"/>'
            '</custom><worldbody><geom name="bin" type="mesh" mesh="groove"/><geom name="lid" type="mesh" '
            'mesh="groove" pos="0 0 2"/><geom name="seen" type="mesh" mesh="groove" contype="0" '
            'conaffinity="0"/><body name="b" pos="0 0 9"><freejoint/><geom name="part" type="mesh" '
            'mesh="groove"/></body></worldbody></mujoco>')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text % "bin")
        found = {g["name"]: g["collides_as"] for g in info(path)["geom_list"]}
        check(found == {"bin": "surface", "lid": "hull", "seen": "nothing", "part": "hull"}, found)
        out = check_run(rattleback("info", path), 0)
        check("geom bin of world, mesh groove: surface, 16 triangles" in out, out)
        check("geom part of b, mesh groove: hull, 8 vertices" in out and "1 more touch nothing" in out, out)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text % "part")
        check_run(rattleback("info", path), 2, "m.xml:1: ", "part", "its body moves")


def test_angles_that_miss_a_right_one_are_noticed():
    text = ('<robot name="r"><link name="a"/><link name="w"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
            'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">'
            '<origin rpy="%s 0 0"/><axis xyz="0 0 1"/><parent link="a"/><child link="w"/></joint></robot>')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.urdf")
        for rpy, misses in (("1.5708", True), ("1.57", True), ("1.5707963267948966", False), ("1.5", False)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text % rpy)
            found = [w for w in info(path)["warnings"] if "--snap-angles" in w["text"]]
            check(len(found) == misses, (rpy, found))
            rot = compute(path, "frames", options=("--snap-angles",))[0]["frames"]
            rot = rot["w"]["rot"] if isinstance(rot, dict) else [f for f in rot if f["body"] == "w"][0]["rot"]
            flat = [x for row in rot for x in (row if isinstance(row, list) else [row])]
            exact = all(min(abs(x), abs(x - 1.0), abs(x + 1.0)) < 1e-15 for x in flat)
            check(exact == (rpy != "1.5"), (rpy, flat))


def test_what_was_ignored_is_listed():
    text = ('<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1" margin="0.1"/>'
            '</body></worldbody>\n<actuator>\n'
            '<general name="a" joint="j" gaintype="user"/></actuator></mujoco>')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        found = [w for w in info(path)["warnings"] if w["physics"]]
        check(len(found) == 1 and found[0]["line"] == 3 and found[0]["file"] == path, found)
        out = check_run(rattleback("info", path), 0)
        check(f"{path}:3: " in out and "changes the motion" in out, out)
        check_run(rattleback("compute", path), 0, f"{path}:3: warning: ")
        code, _, err = rattleback("compute", "--lenient", path)
        check(code == 0 and err == "", err)


# ---- compute ----------------------------------------------------------------------------------


def test_pendulum_by_hand():
    """Both rods hang; M of two rods on hinges, numbers from the masses and inertias of info."""
    upper, lower = info(PENDULUM)["body_list"]
    m1, c1, I1 = upper["mass"], -upper["com"][2], upper["inertia"][1]
    m2, c2, I2 = lower["mass"], -lower["com"][2], lower["inertia"][1]
    arm = 0.5
    m22 = I2 + m2 * c2 ** 2
    m12 = m22 + m2 * arm * c2
    m11 = I1 + m1 * c1 ** 2 + I2 + m2 * (arm + c2) ** 2
    answer, = compute(PENDULUM, "mass,bias,fd,energy,frames,com")
    check(near(answer["mass"], [[m11, m12], [m12, m22]], 1e-14), answer["mass"])
    check(near(answer["bias"], [0, 0], 1e-14) and near(answer["fd"], [0, 0], 1e-13), answer)
    potential = 9.81 * (m1 * (2 - c1) + m2 * (2 - arm - c2))
    check(near(answer["energy"]["potential"], potential, 1e-14), answer["energy"])
    check(answer["energy"]["kinetic"] == 0, answer["energy"])
    check(near(answer["frames"]["lower"]["pos"], [0, 0, 1.5], 1e-15), answer["frames"])
    check(answer["frames"]["lower"]["quat"] == [1, 0, 0, 0], answer["frames"])
    # horizontal: the weights alone bend the elbow
    tilted, = compute(PENDULUM, "bias", {"qpos": [math.pi / 2, 0]})
    check(near(tilted["bias"], [9.81 * (m1 * c1 + m2 * (arm + c2)), 9.81 * m2 * c2], 1e-14), tilted)


def test_forward_and_inverse_are_one():
    for path in (PENDULUM, TUMBLER, FOUR_BAR, HAND, QUADRUPED, ARM):
        facts = info(path)
        state = {"qvel": [0.3 * math.sin(k + 1) for k in range(facts["nv"])],
                 "tau": [0.1 * math.cos(3 * k) for k in range(facts["nv"])]}
        if facts["actuators"]:
            state["ctrl"] = [0.2] * facts["actuators"]
        first, = compute(path, "fd,mass,bias,passive,actuation", state)
        second, = compute(path, "id", dict(state, qacc=first["fd"]))
        scale = max(map(abs, first["fd"]))
        check(near(second["id"], state["tau"], 1e-12 * max(1, scale)), path, second["id"])
        # M qacc + bias = tau + passive + actuation
        force = zip(multiply(first["mass"], first["fd"]), first["bias"], first["passive"],
                    first["actuation"]["force"], state["tau"])
        check(all(abs(m + b - p - a - t) < 1e-10 for m, b, p, a, t in force), path)


def test_compliance_is_what_jacobian_and_mass_say():
    points = [{"body": "hl_shank", "pos": [0, 0, -0.2]}, {"body": "trunk", "pos": [0.1, 0, 0]},
              {"body": "hl_shank", "pos": [0.01, 0, 0]}]
    answer, = compute(QUADRUPED, "compliance,jacobian,mass,points", {"points": points},
                      options=["--key", "crouched"])
    W, J = answer["compliance"], answer["jacobian"]
    check(len(W) == 9 and all(len(row) == 9 for row in W) and len(J) == 9, "sizes")
    check(all(abs(W[i][j] - W[j][i]) < 1e-12 for i in range(9) for j in range(9)), "symmetry")
    # column by column: qacc of a force at a point is fd with tau = J'
    states = [{"tau": J[i]} for i in range(9)] + [{}]
    results = compute(QUADRUPED, "fd", *states, options=["--key", "crouched"])
    rest = results[-1]["fd"]
    for i in range(9):
        change = [a - b for a, b in zip(results[i]["fd"], rest)]
        check(near(multiply(J, change), W[i], 1e-11), "column", i)
    world = answer["points"][0]["pos"]
    check(abs(world[2] - 0.3) < 0.35 and answer["points"][0]["body"] == "hl_shank", world)


def test_loops_are_kept():
    answer, = compute(FOUR_BAR, "loops", {"qvel": [0.4, 0.1, -0.2], "ctrl": [1.5]})
    loops = answer["loops"]
    check(loops["rows"] == 3 and loops["rank"] == 2 and loops["residual"] < 1e-12, loops)
    check(near(loops["error"], [0, 0, 0], 1e-12), loops["error"])
    rows = [a + b for a, b in zip(multiply(loops["jacobian"], loops["qacc"]), loops["bias"])]
    check(near(rows, [0, 0, 0], 1e-11), rows)


def test_the_next_impact():
    scene = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
        <body pos="0 0 1"><freejoint/><geom name="ball" type="sphere" size="0.1"/></body>
        <body pos="2 0 1"><joint type="hinge" axis="0 1 0"/>
        <geom name="rod" type="capsule" fromto="0 0 0 1.2 0 0" size="0.05"/></body>
        </worldbody></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(scene)
        falls = compute(path, "toi")[0]["toi"]
        wanted = math.sqrt(2 * 0.9 / 9.81)
        check(falls["outcome"] == "hit" and falls["geom2"] == "ball", falls)
        check(wanted - 1e-9 <= falls["time"] <= wanted, falls)
        swings = compute(path, "toi", {"qvel": [0, 0, 0, 0, 0, 0, 3.0]})[0]["toi"]
        wanted = math.asin(0.95 / 1.2) / 3.0
        check(swings["geom2"] == "rod" and wanted - 1e-9 <= swings["time"] <= wanted, swings)
        nothing = compute(path, "toi", options=["--horizon", "0.1"])[0]["toi"]
        check(nothing["outcome"] == "none" and nothing["time"] is None, nothing)
        check_run(rattleback("compute", path, "--horizon", "x"), 2, "--horizon x: expected seconds")


def test_momentum_and_energy():
    answer, = compute(TUMBLER, "momentum,energy,com", {"qvel": [1, 2, 3, 0, 0, 0, 0, 0, 0]})
    mass = info(TUMBLER)["mass"]
    check(near(answer["momentum"]["linear"], [mass, 2 * mass, 3 * mass], 1e-14), answer)
    check(near(answer["momentum"]["angular"], [0, 0, 0], 1e-14), answer)
    check(near(answer["energy"]["kinetic"], 7 * mass, 1e-14), answer)
    check(answer["com"] == answer["momentum"]["com"], answer)


def test_maximal_coordinates():
    minimal, maximal = info(FOUR_BAR), info(FOUR_BAR, "--coordinates", "maximal")
    a, = compute(FOUR_BAR, "loops")
    b, = compute(FOUR_BAR, "loops", options=["--coordinates=maximal"])
    check(maximal["nv"] == 6 * minimal["nv"] and maximal["bodies"] == minimal["bodies"], maximal)
    check(near(maximal["mass"], minimal["mass"], 1e-14), "mass")
    check(near(maximal["com"], minimal["com"], 1e-14), "centre of mass")
    # the crank turns about y: its angular acceleration in both
    crank = next(j for j in maximal["joint_list"] if j["type"] == "free" and j["body"] == "crank")
    check(near(b["loops"]["qacc"][crank["dof"] + 4], a["loops"]["qacc"][0], 1e-9),
          a["loops"]["qacc"], b["loops"]["qacc"])


def test_states_in_many_forms():
    one = '{"name": "a", "qpos": [0.1, 0.2]}'
    pretty = json.dumps(json.loads(one), indent=2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "states.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([one, pretty, "", "{}", one + " "]))
        out = check_run(rattleback("compute", PENDULUM, "--what=bias", "--state", path), 0)
        seen = answers(out)
    check(len(seen) == 4 and seen[0] == seen[1] == seen[3] and "name" not in seen[2], seen)
    check(list(seen[0]) == ["name", "bias"], seen[0])
    out = check_run(rattleback("compute", PENDULUM, "--json", "--what", "mass"), 0)
    check(out == check_run(rattleback("compute", PENDULUM, "--what", "mass"), 0), "--json is implied")


def test_keys():
    by_name, = compute(PENDULUM, "energy", options=["--key", "raised"])
    by_index, = compute(PENDULUM, "energy", options=["--key", "0"])
    by_state, = compute(PENDULUM, "energy", {"qpos": [2.5, 0.3]})
    check(by_name == by_index == by_state, by_name, by_state)
    over, = compute(PENDULUM, "energy", {"qpos": [0, 0]}, options=["--key", "raised"])
    check(over == compute(PENDULUM, "energy")[0], "a state beats the keyframe")
    check_run(rattleback("compute", PENDULUM, "--key", "lowered"), 2, "--key lowered", "raised")
    check_run(rattleback("info", PENDULUM, "--key", "1"), 2, "--key 1", "the model has 1")
    check_run(rattleback("info", PENDULUM, "--key", "-1"), 2, "--key -1")


def test_quaternions_are_normalised():
    turned = {"qpos": [0, 0, 0, 2, 0, 0, 2, 1, 0, 0, 0]}
    answer, = compute(TUMBLER, "frames", turned)
    half = math.sqrt(0.5)
    check(near(answer["frames"]["handle"]["quat"], [half, 0, 0, half], 1e-15), answer)
    check(near(answer["frames"]["handle"]["rot"], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], 1e-15), answer)


def test_table_is_for_people():
    out = check_run(rattleback("compute", PENDULUM, "--what", "mass,energy", "--table"), 0)
    lines = out.splitlines()
    check(lines[0] == "mass" and len(lines[1].split()) == 2 and lines[3] == "energy", out)
    check(lines[4].split()[0] == "kinetic" and len({len(line) for line in lines[1:3]}) == 1, out)


# ---- bad input --------------------------------------------------------------------------------

BAD_STATES = [
    ("nonsense", "not JSON"),
    ("[1]", "expected one JSON object"),
    ('{"qpos": [1, 2', "ends inside a value"),
    ('{"qpos": [1]}', "qpos: 1 numbers; expected 2, one per coordinate (nq)"),
    ('{"qpos": [1, 2, 3]}', "qpos: 3 numbers; expected 2"),
    ('{"qvel": [1, 2, 3]}', "qvel: 3 numbers; expected 2, one per degree of freedom"),
    ('{"tau": []}', "tau: 0 numbers; expected 2"),
    ('{"qacc": [1]}', "qacc: 1 numbers; expected 2"),
    ('{"ctrl": [1]}', "ctrl: 1 numbers; expected 0, one per actuator"),
    ('{"qpos": [1, NaN]}', "no NaN"),
    ('{"qpos": [1, 1e999]}', "expected finite numbers"),
    ('{"qpos": [1, null]}', "qpos[1]: null; expected a number"),
    ('{"qpos": [1, "2"]}', "qpos[1]: a string; expected a number"),
    ('{"qpos": 3}', "qpos: a number; expected an array"),
    ('{"qpos": [1, 2], "qpos": [1, 2]}', "give every key once"),
    ('{"points": 3}', "points: a number; expected an array of points"),
    ('{"points": [3]}', "points[0]: a number; expected"),
    ('{"points": [{"pos": [0, 0, 0]}]}', "points[0].body: expected the name of a body"),
    ('{"points": [{"body": "hand", "pos": [0, 0, 0]}]}', 'points[0].body: "hand" is no body'),
    ('{"points": [{"body": "upper", "pos": [0, 0]}]}', "points[0].pos: expected three numbers"),
    ('{"points": [{"body": "upper", "pos": [0, 0, "x"]}]}', "points[0].pos[2]: a string"),
    ('{"name": 3}', "name: a number; expected a string"),
    ('{"time": "now"}', "time: a string; expected a number"),
]


def test_bad_states():
    for bad, sentence in BAD_STATES:
        check_run(rattleback("compute", PENDULUM, "--state", "-", text=bad), 2, "stdin:1: ", sentence)
    check_run(rattleback("compute", TUMBLER, "--state", "-", text='{"qpos": [0,0,0,0,0,0,0,1,0,0,0]}'),
              2, "qpos[3]: a quaternion of four zeros")
    out = check_run(rattleback("compute", PENDULUM, "--what", "com", "--state", "-",
                               text='{"qpos": [1]}\n{}'), 2, "stdin:1: ")
    check(len(answers(out)) == 1, "the other state is answered", out)
    text = '{\n  "qpos": [0,\n  nan]\n}'
    check_run(rattleback("compute", PENDULUM, "--state", "-", text=text), 2, "stdin:3: ")


def test_unknown_keys_are_told():
    result = rattleback("compute", PENDULUM, "--what", "com", "--state", "-", text='{"qvels": [1]}')
    out = check_run(result, 0, "stdin:1: qvels: unknown key", "qvel")
    check(len(answers(out)) == 1, out)


def test_bad_usage_exits_2():
    for command in ("info", "compute"):
        check_run(rattleback(command), 2, "no file; expected one model file")
        check_run(rattleback(command, PENDULUM, ARM), 2, "more than one file")
        check_run(rattleback(command, "no/such.xml"), 2, "no/such.xml: ")
        check_run(rattleback(command, "scenes"), 2, "scenes: ")
        check_run(rattleback(command, "README.md"), 2, "README.md:1: ")
        check_run(rattleback(command, "--speed", PENDULUM), 2, "unknown option --speed", "--key")
        check_run(rattleback(command, "--friction", "-1", ARM), 2, "--friction -1", "a number >= 0")
        check_run(rattleback(command, "--coordinates", "polar", ARM), 2, "minimal or maximal")
        check_run(rattleback(command, "--package", "=x", ARM), 2, "expected NAME=FOLDER")
    check_run(rattleback("compute", PENDULUM, "--what", "mass,speed"), 2, "--what speed", "energy")
    check_run(rattleback("compute", PENDULUM, "--what", ""), 2, "--what ")
    check_run(rattleback("compute", PENDULUM, "--state", "none.json"), 2, "none.json: cannot be opened")
    check_run(rattleback("compute", PENDULUM, "--state", "-", text=" \n"), 2, "no state in it")


def test_models_without_mass_are_told():
    text = ('<mujoco><worldbody><body name="b"><joint name="j"/></body></worldbody></mujoco>')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        code, out, err = rattleback("compute", path, "--what", "fd,bias")
        refused = code == 2 and f"{path}:1: " in err
        told = code == 1 and answers(out)[0]["fd"] is None and "fd: " in err
        check(refused or told, code, out, err)


def falling(geom, assets=""):
    return ('<mujoco>%s<worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 1">'
            '<freejoint/>%s</body></worldbody></mujoco>' % (assets, geom))


BAD_SHAPES = [
    (falling('<geom type="cylinder" size="0 0.1"/>'), "size: number 1 must be positive"),
    (falling('<geom type="ellipsoid" size="0.1 nan 0.1"/>'), '"nan" is not a finite number'),
    (falling('<geom type="mesh" mesh="m"/>',
             '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 0"/></asset>'),
     "the points lie in a plane"),
    (falling('<geom type="mesh" mesh="m"/>',
             '<asset><mesh name="m" vertex="0 0 0 1 0 0 2 0 0 3 0 0"/></asset>'), "m.xml:1: <mesh"),
    (falling('<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" vertex="0 0 0"/></asset>'),
     "m.xml:1: <mesh"),
]


def test_bad_shapes_are_refused():
    """No size, no number, no volume: a message, for every command that would collide them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.xml")
        for text, sentence in BAD_SHAPES:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            check_run(rattleback("compute", path, "--what", "gaps"), 2, "m.xml:1: ", sentence)
            check_run(rattleback("run", path, "--time", "0.01"), 2, "m.xml:1: ", sentence)


def test_gaps_of_poses_that_are_none():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(falling('<geom name="can" type="cylinder" size="0.1 0.2"/>'))
        for bad in ("NaN", "1e400", "-Infinity"):
            state = '{"qpos": [0, 0, %s, 1, 0, 0, 0]}' % bad
            for what in ("gaps", "toi"):
                check_run(rattleback("compute", path, "--what", what, "--state", "-", text=state), 2)
        state = '{"qpos": [0, 0, 1e200, 1, 0, 0, 0]}'  # its square is no number
        check_run(rattleback("compute", path, "--what", "gaps", "--state", "-", text=state), 2,
                  "too far away")
        far = compute(path, "gaps", {"qpos": [0, 0, 1e100, 1, 0, 0, 0]})[0]["gaps"][0]
        check(far["gap"] == 1e100 and "error" not in far, far)


def test_help_has_examples_that_work():
    for args in (["info", "--help"], ["compute", "-h"], ["bench", "dynamics", "--help"]):
        out = check_run(rattleback(*args), 0)
        check("usage: rattleback" in out, out)
        example = out.replace("Example", "example").split("example: rattleback ")[1].split("\n")[0]
        check_run(rattleback(*example.split()), 0)


def test_bench_dynamics():
    out = check_run(rattleback("bench", "dynamics", "--chain", "12", "--json"), 0)
    rows = answers(out)
    check({r["way"] for r in rows} >= {"rb_forward", "rb aba", "rb crba"}, rows)
    check(all(r["residual"] < 1e-12 and r["ns"] > 0 and r["nv"] == 12 for r in rows), rows)
    check_run(rattleback("bench", "dynamics", "--chain", "5", "--calls", "3"), 0)
    check_run(rattleback("bench", "dynamics", "--calls", "3"), 2, "--calls needs --chain")
    check_run(rattleback("bench", "dynamics", "--chain", "0"), 2, "--chain")
    check_run(rattleback("bench", "dynamics", "--model", "none.xml"), 2, "none.xml")


def test_demo_moves_robots():
    out = check_run(rattleback("bench", "demo", "--robots", "--json"), 0)
    rows = answers(out)
    check({r["robot"] for r in rows} >= {"double pendulum", "quadruped", "tumbler"}, rows)
    for row in rows:
        check(row["gained"] < 5e-3 and row["lost"] < 2e-2 and row["failed"] == 0, row)


if __name__ == "__main__":
    run_tests(globals())
