"""What is shown: pages, GLB and SVG files of runs, pages of models, and what is refused.
usage: view.py RATTLEBACK [words]"""
import base64
import json
import os
import re
import shutil
import struct
import tempfile
import xml.etree.ElementTree as ElementTree

from harness import ROOT, check, check_run, rattleback, run_tests

QUADRUPED = "scenes/robots/quadruped.xml"
MARK = "<!--rattleback:data-->"


def data_of(page, name="rb-replay"):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    tags = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.S)
    check(len(tags) == 1, f"{len(tags)} tags {name}")
    check(MARK not in text, "the mark is still there")
    return json.loads(tags[0])


def length(text, size):
    return len(base64.b64decode(text)) // size


def show(folder, *args, status=0):
    return check_run(rattleback("run", *args, "--html", os.path.join(folder, "run.html")), status)


def test_page_of_a_run():
    with tempfile.TemporaryDirectory() as folder:
        out = show(folder, QUADRUPED, "--time", "0.5")
        check("frames" in out and "rounded by at most" in out, out)
        data = data_of(os.path.join(folder, "run.html"))
        n, moving = data["n"], len(data["moving"])
        check(data["format"] == "rattleback replay 1" and n == 31, n)
        check(length(data["pose_u16"], 2) == n * moving * 6, "poses")
        check(length(data["time_f64"], 8) == n, "times")
        contacts = data["contacts"]
        count = length(contacts["mode_u8"], 1)
        check(length(contacts["start_u32"], 4) == n + 1 and count > 0, "starts")
        for key, size in (("pair_u32", 4), ("pos_u16", 6), ("normal_i16", 4), ("force_f32", 12)):
            check(length(contacts[key], size) == count, key)
        check(all(length(p["y_f32"], 4) == n for p in data["plots"]), "plots")
        hash_ = json.loads(check_run(rattleback("run", QUADRUPED, "--time", "0.5", "--json"), 0))["hash"]
        check(data["run"]["hash"] == hash_, "recording changed the run")


def test_humanoid_of_ten_seconds_is_small():
    with tempfile.TemporaryDirectory() as folder:
        out = show(folder, "scenes/peers/humanoid.xml", "--time", "10")
        motion = float(re.search(r"([\d.]+) MB of motion", out).group(1))
        check(motion <= 1.0, out)
        lost = float(re.search(r"at most ([\d.e+-]+) m", out).group(1))
        check(lost < 1e-3, out)


def test_a_thousand_bodies():
    with tempfile.TemporaryDirectory() as folder:
        show(folder, "scenes/peers/pile_1000.xml", "--time", "0.02", "--accuracy", "fast")
        data = data_of(os.path.join(folder, "run.html"))
        check(len(data["moving"]) >= 1000, len(data["moving"]))


def test_meshes_come_once():
    with tempfile.TemporaryDirectory() as folder:
        show(folder, "scenes/poses/nut.xml", "--time", "0.1")
        scene = data_of(os.path.join(folder, "run.html"))["scene"]
        mesh = scene["meshes"][0]
        words = base64.b64decode(mesh["vert_u16"])
        check(len(words) == 6 * mesh["nvert"] and mesh["nface"] > 0, mesh["nvert"])
        face = struct.unpack(f"<{3 * mesh['nface']}H", base64.b64decode(mesh["face_u16"]))
        check(max(face) < mesh["nvert"], "a face leads nowhere")


def test_events_and_shifts_are_marked():
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events.csv")
        show(folder, "scenes/impulse/ramp.xml", "--key", "start", "--stepper", "hybrid", "--events", events)
        kinds = {m["kind"] for m in data_of(os.path.join(folder, "run.html"))["marks"]}
        check("shift" in kinds and "impact" in kinds, kinds)
        with open(events, encoding="utf-8") as file:
            check(len(file.readlines()) > 2, "--events got none")


JAWS = """<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>
<body name='left' mocap='true' pos='-0.2 0 0'><geom name='jaw_left' type='box' size='0.05 0.3 0.1'/></body>
<body name='right' mocap='true' pos='0.2 0 0'><geom name='jaw_right' type='box' size='0.05 0.3 0.1'/></body>
<body name='part'><freejoint/><geom name='part' type='box' size='0.1 0.1 0.1'/></body></worldbody>
<custom><numeric name='rb.motion/left' data='0.1 0 0 0 0 0'/>
<numeric name='rb.motion/right' data='-0.1 0 0 0 0 0'/></custom></mujoco>"""


def test_a_jam_is_told():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "jaws.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(JAWS)
        show(folder, path, "--time", "2", status=1)
        data = data_of(os.path.join(folder, "run.html"))
        parts = data["jam"]["parts"]
        names = {data["scene"]["geoms"][g]["name"] for p in parts for g in (p["geom1"], p["geom2"])}
        check(names == {"jaw_left", "jaw_right", "part"}, names)
        balance = [0.0, 0.0, 0.0]
        for p in parts:  # on the part: its self-stress adds up to nothing
            sign = 1 if data["scene"]["geoms"][p["geom2"]]["name"] == "part" else -1
            balance = [b + sign * f for b, f in zip(balance, p["force"])]
        check(all(abs(b) < 1e-6 for b in balance), balance)
        check(data["marks"][-1]["kind"] == "jam" and data["run"]["failures"] == 1, data["marks"][-1])


def test_gltf_is_whole():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.glb")
        check_run(rattleback("run", QUADRUPED, "--time", "0.3", "--gltf", path, "--fps", "30"), 0)
        with open(path, "rb") as file:
            data = file.read()
        magic, version, size = struct.unpack("<4sII", data[:12])
        check((magic, version, size) == (b"glTF", 2, len(data)), magic, version, size)
        first, kind = struct.unpack("<I4s", data[12:20])
        check(kind == b"JSON" and first % 4 == 0, kind)
        tree = json.loads(data[20:20 + first])
        second, kind = struct.unpack("<I4s", data[20 + first:28 + first])
        check(kind == b"BIN\0" and second == len(data) - 28 - first, kind)
        check_gltf(tree, data[28 + first:])


def check_gltf(tree, binary):
    sizes, widths = {5126: "f", 5125: "I"}, {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
    values = []
    for accessor in tree["accessors"]:
        view = tree["bufferViews"][accessor["bufferView"]]
        width = widths[accessor["type"]]
        check(view["byteLength"] == 4 * width * accessor["count"], "length of a view")
        check(view["byteOffset"] % 4 == 0 and view["byteOffset"] + view["byteLength"] <= len(binary), "place of a view")
        end = view["byteOffset"] + view["byteLength"]
        x = struct.unpack(f"<{width * accessor['count']}{sizes[accessor['componentType']]}",
                          binary[view["byteOffset"]:end])
        values.append(x)
        if "min" in accessor:
            for k in range(width):
                check(min(x[k::width]) == accessor["min"][k] and max(x[k::width]) == accessor["max"][k], "bounds")
    check(tree["buffers"][0]["byteLength"] <= len(binary), "buffer")
    for mesh in tree["meshes"]:
        part = mesh["primitives"][0]
        corners = tree["accessors"][part["attributes"]["POSITION"]]["count"]
        check(max(values[part["indices"]]) < corners and part["material"] < len(tree["materials"]), "indices")
    seen = set()
    for node in tree["nodes"]:
        for child in node.get("children", []):
            check(child not in seen and 0 < child < len(tree["nodes"]), "a node has two parents")
            seen.add(child)
        check("mesh" not in node or node["mesh"] < len(tree["meshes"]), "mesh of a node")
    check(len(seen) == len(tree["nodes"]) - 1, "a node has no parent")
    animation = tree["animations"][0]
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        times = values[sampler["input"]]
        check(all(a < b for a, b in zip(times, times[1:])) and times[0] == 0.0, "times")
        width = 3 if channel["target"]["path"] == "translation" else 4
        check(len(values[sampler["output"]]) == width * len(times), "samples")


def test_svg_is_a_strip():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.svg")
        check_run(rattleback("run", "scenes/contact/rod.xml", "--key", "start", "--svg", path, "--snapshots", "4"), 0)
        root = ElementTree.parse(path).getroot()
        space = "{http://www.w3.org/2000/svg}"
        pictures = root.findall(space + "svg")
        check(len(pictures) == 4, len(pictures))
        outlines = [p.findall(space + "path")[-1].get("d") for p in pictures]
        check(len(set(outlines)) == 4, "nothing moves")


def test_page_of_a_model():
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "view.html")
        out = check_run(rattleback("view", "scenes/poses/nut.xml", "--html", page, "--no-open"), 0)
        data = data_of(page, "rb-model")
        check(data["model"] in {f["path"] for f in data["files"]}, data["model"])
        for file in data["files"]:
            check(not file["path"].startswith("/"), file["path"])
            with open(os.path.join(ROOT, "scenes", "poses", os.path.basename(file["path"])), "rb") as on_disk:
                check(base64.b64decode(file["base64"]) == on_disk.read(), file["path"])
        with open(page, encoding="utf-8") as file:
            wasm = re.search(r'id="rb-wasm">([A-Za-z0-9+/=]+)<', file.read()).group(1)
        with open(os.path.join(ROOT, "viewer/dist/rattleback.wasm"), "rb") as file:
            check(base64.b64decode(wasm) == file.read(), "another engine")
        check("engine" in out, out)


def test_files_of_a_model_come_along():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "robot"))
        os.mkdir(os.path.join(folder, "robot", "parts"))
        with open(os.path.join(folder, "robot", "parts", "tetra.obj"), "w", encoding="utf-8") as file:
            file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        with open(os.path.join(folder, "robot", "more.xml"), "w", encoding="utf-8") as file:
            file.write("<mujoco><worldbody><body><freejoint/><geom type='mesh' mesh='t'/></body></worldbody></mujoco>")
        with open(os.path.join(folder, "robot", "m.xml"), "w", encoding="utf-8") as file:
            file.write("<mujoco><asset><mesh name='t' file='parts/tetra.obj'/></asset><include file='more.xml'/></mujoco>")
        page = os.path.join(folder, "view.html")
        check_run(rattleback("view", os.path.join(folder, "robot", "m.xml"), "--html", page, "--no-open"), 0)
        data = data_of(page, "rb-model")
        check({f["path"] for f in data["files"]} == {"m.xml", "more.xml", "parts/tetra.obj"}, data["files"])


URDF = """<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material><link name="base">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><sphere radius="0.2"/></geometry><material name="blue"/></visual>
<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link></robot>"""


def test_visuals_of_a_urdf_come_behind_its_collisions():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(URDF)
        show(folder, path, "--floating-base", "--ground", "-1", "--time", "0.1")
        geoms = data_of(os.path.join(folder, "run.html"))["scene"]["geoms"]
        found = [(g["type"], g["collides"], g["rgba"]) for g in geoms]
        check(("sphere", 0, [0, 0, 1, 1]) == found[-1], found)
        check({t for t, c, _ in found[:-1] if c} == {"box", "plane"}, found)


def test_what_is_refused():
    check_run(rattleback("run", QUADRUPED, "--html", "run.txt"), 2, "ends in .html")
    check_run(rattleback("run", QUADRUPED, "--html", "/nowhere/run.html", "--time", "0"), 2, "No such file")
    check_run(rattleback("run", QUADRUPED, "--svg", "a.svg", "--camera", "up"), 2, "azimuth and elevation")
    check_run(rattleback("run", QUADRUPED, "--gltf", "a.gltf"), 2, "ends in .glb")
    check_run(rattleback("view", "scenes/nothing.xml", "--no-open"), 2, "nothing.xml")
    check_run(rattleback("view", QUADRUPED, "--size", "8x", "--no-open"), 2, "WIDTHxHEIGHT")
    check_run(rattleback("view"), 2, "expected one model file")


def with_environment(words, body):
    old = {name: os.environ.get(name) for name in words}
    os.environ.update(words)
    try:
        body()
    finally:
        for name, value in old.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def test_pictures_without_a_browser():
    with tempfile.TemporaryDirectory() as folder:
        png, mp4 = os.path.join(folder, "a.png"), os.path.join(folder, "a.mp4")
        nowhere = {"RB_CHROMIUM": "/nowhere/chromium"}
        with_environment(nowhere, lambda: check_run(rattleback("view", QUADRUPED, "--png", png), 2, "Chromium, which is not installed"))
        with_environment({"PATH": folder}, lambda: check_run(rattleback("view", QUADRUPED, "--mp4", mp4), 2, "ffmpeg, which is not installed"))
        with open(os.path.join(folder, "ffmpeg"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(os.path.join(folder, "ffmpeg"), 0o755)
        both = {"PATH": folder, **nowhere}
        with_environment(both, lambda: check_run(rattleback("view", QUADRUPED, "--mp4", mp4), 2, "Chromium, which is not installed"))
        check(os.listdir(folder) == ["ffmpeg"], "something was written")


def test_a_picture():
    if not shutil.which("chromium"):
        print("    chromium is not installed: no picture")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.png")
        check_run(rattleback("view", QUADRUPED, "--png", path, "--size", "320x240"), 0)
        with open(path, "rb") as file:
            head = file.read(24)
        check(head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:24]) == (320, 240), head)


def test_a_film():
    """What ffmpeg is given: a picture for each frame, at the rate that was asked for."""
    if not shutil.which("chromium"):
        print("    chromium is not installed: no film")
        return
    with tempfile.TemporaryDirectory() as folder:
        path, encoder = os.path.join(folder, "a.mp4"), os.path.join(folder, "ffmpeg")
        with open(encoder, "w", encoding="utf-8") as file:  # keeps what it is told and what it is given
            file.write('#!/bin/sh\necho "$@" > "$0.words"\nfor last; do :; done\nexec cat > "$last"\n')
        os.chmod(encoder, 0o755)
        way = {"PATH": folder + os.pathsep + os.environ["PATH"]}
        with_environment(way, lambda: check_run(rattleback("view", QUADRUPED, "--mp4", path, "--size", "160x120", "--time", "0.5", "--fps", "10"), 0))
        with open(path, "rb") as file:
            pictures = file.read()
        with open(encoder + ".words", encoding="utf-8") as file:
            check("-framerate 10 " in file.read(), "the rate")
        check(pictures.count(b"\xff\xd8\xff") == 6 and pictures.endswith(b"\xff\xd9"), pictures.count(b"\xff\xd8\xff"))


def test_reproduce_makes_pages():
    with tempfile.TemporaryDirectory() as folder:
        out, html = os.path.join(folder, "out"), os.path.join(folder, "pages")
        check_run(rattleback("reproduce", "rod", "--brief", "--out", out, "--html", html), 0)
        pages = [name for name in os.listdir(html) if name != "index.html"]
        check(pages, "no pages")
        with open(os.path.join(html, "index.html"), encoding="utf-8") as file:
            index = file.read()
        for name in pages:
            check(f'href="{name}"' in index, name)
            check(data_of(os.path.join(html, name))["n"] > 1, name)


run_tests(globals())
