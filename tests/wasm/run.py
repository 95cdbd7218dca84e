"""rattleback.wasm in Node: models of scenes/ have the hashes that the command has, scenes and messages
are the command's, states go there and back, a pull moves a body, memory stays flat.

usage: run.py RATTLEBACK [--speed]   --speed: the time of both, side by side
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WASM = os.path.join(ROOT, "viewer", "dist", "rattleback.wasm")
MOST_BYTES = 1_500_000
MILLISECOND = {"h": "0.001"}

# model, seconds, key, further options: every formulation and stepper, every kind of shape and reader
RUNS = [
    ("contact/rod.xml", 1.0, "start", {}),
    ("contact/four_balls.xml", 0.5, "start", {}),
    ("contact/sliding_cube.xml", 0.5, "start", {"formulation": "stewart-trinkle"}),
    ("contact/sliding_cube.xml", 0.5, "start", {"formulation": "anitescu-potra"}),
    ("contact/cradle.xml", 0.5, "start", {"stepper": "located"}),
    ("robots/quadruped.xml", 1.0, None, {}),
    ("robots/quadruped.xml", 0.3, None, {"friction": "0.1", "restitution": "0.3", "accuracy": "strict"}),
    ("robots/every_force.xml", 0.5, None, {}),
    ("robots/hand.xml", 0.5, None, {}),
    ("robots/arm.urdf", 0.5, None, {}),
    ("robots/tumbler.xml", 0.5, None, {"h": "0.001"}),
    ("peers/humanoid.xml", 0.6, None, {}),
    ("poses/nut.xml", 0.5, None, {}),
    ("poses/tee.xml", 0.5, None, {}),
    ("impulse/ramp.xml", 0.5, "start", {"stepper": "hybrid"}),
    ("impulse/coins.xml", 0.1, None, {"stepper": "impulse"}),
    ("impulse/bowl.xml", 0.1, None, {}),
    ("toss/cube.xml", 0.5, None, {"stepper": "located"}),
    ("towers/jenga.xml", 0.05, None, {}),
    ("acceptance/four_bar.xml", 0.3, None, {}),
]


def native(command, path, seconds, key, options):
    words = {"h": "--step"}
    arguments = [command, "run", path, "--time", str(seconds), "--json"]
    if key:
        arguments += ["--key", key]
    for name, value in options.items():
        arguments += [words.get(name, "--" + name.replace("_", "-")), value]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def in_node(jobs):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "jobs.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(jobs, out)
        done = subprocess.run(["node", os.path.join(HERE, "node.mjs"), WASM, file], capture_output=True,
                              text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(good, text):
    if not good:
        sys.exit("wasm: " + text)


def compare_hashes(command, speed):
    scenes = os.path.join(ROOT, "scenes")
    expected, jobs = [], []
    for name, seconds, key, options in RUNS:
        path = os.path.join(scenes, name)
        expected.append(native(command, path, seconds, key, options))
        jobs.append({"model": path, "key": key, "options": options, "steps": expected[-1]["steps"]})
    for (name, *_, options), told, found in zip(RUNS, expected, in_node(jobs)):
        check("error" not in found, f"{name}: {found.get('error')}")
        check(found["steps"] == told["steps"], f"{name}: {found['steps']} of {told['steps']} steps: {found['message']}")
        check(found["hash"] == told["hash"], f"{name} {options}: {found['hash']}, the command has {told['hash']}; where numbers moved: make wasm")
        if speed:
            print(f"{name:32} {told['steps']:6} steps  native {told['cpu']:8.3f} s  wasm {found['cpu']:8.3f} s")
    print(f"{len(RUNS)} runs have the hash of the command")


def measure(command):
    """Ratio to the native build: runs short enough that nothing has come to rest, processor time of the fastest of a few."""
    for name, seconds, options in (("peers/quadruped.xml", 1, MILLISECOND), ("peers/humanoid.xml", 2, MILLISECOND),
                                   ("towers/jenga.xml", 0.25, {}), ("peers/stack_100.xml", 0.25, {})):
        side_by_side(command, name, seconds, options)


def side_by_side(command, name, seconds, options):
    """A run native and in Node, there with the certificate of every step."""
    path = os.path.join(ROOT, "scenes", name)
    told = min((native(command, path, seconds, None, options) for _ in range(5)), key=lambda run: run["cpu"])
    found = in_node([{"model": path, "steps": told["steps"], "options": options, "certified": 8}])[0]
    check(found.get("hash") == told["hash"], f"{name}: {found}")
    per = 1e6 / told["steps"]
    print(f"{name:20} {told['steps']:5} steps of {1e3 * seconds / told['steps']:.3g} ms, residual at most {found['residual']:.1e}: native "
          f"{told['cpu'] * per:.1f} us, wasm {found['cpu'] * per:.1f} us each, ratio {found['cpu'] / told['cpu']:.2f}, "
          f"wasm {seconds / found['cpu']:.1f} times real time")
    return found


def real_time(command):
    """Robots at 1 ms, each step certified, faster than the clock on one core."""
    for name, seconds in (("peers/quadruped.xml", 1), ("peers/humanoid.xml", 2)):
        found = side_by_side(command, name, seconds, MILLISECOND)
        check(found["cpu"] < seconds, f"{name}: {found['cpu']:.2f} s of processor for {seconds} s at 1 ms")
        check(found["residual"] <= 1e-6, f"{name}: residual {found['residual']:.1e}")


def compare_messages(command):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "broken.xml")
        with open(path, "w", encoding="utf-8") as out:
            out.write("<mujoco>\n<worldbody>\n<body><geom type='cube' size='1'/></body></worldbody></mujoco>\n")
        done = subprocess.run([command, "run", path], capture_output=True, text=True, check=False)
        found = in_node([{"model": path, "steps": 1}])[0]
        check(done.returncode == 2 and found["error"] == done.stderr.strip(),
              f"message {found.get('error')!r}, the command says {done.stderr!r}")
    print("a broken model has the message of the command")


def more(command):
    done = subprocess.run(["node", os.path.join(HERE, "more.mjs"), WASM, os.path.join(ROOT, "scenes")],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stdout + done.stderr)
    print(done.stdout.strip())


def main():
    command = sys.argv[1]
    if not shutil.which("node"):
        print("node is not installed: rattleback.wasm is not tested")
        sys.exit(77)
    if "--speed" in sys.argv:
        measure(command)
        return
    size = os.path.getsize(WASM)
    check(size <= MOST_BYTES, f"{size} bytes, at most {MOST_BYTES} are allowed")
    print(f"rattleback.wasm has {size} bytes")
    compare_hashes(command, False)
    compare_messages(command)
    more(command)
    real_time(command)


main()
