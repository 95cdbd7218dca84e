"""The models that are compared: our scenes, and the robots and scenes of the reference data."""
import glob
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("RATTLEBACK_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")


class Model:
    def __init__(self, name, path, packages=()):
        self.name, self.path, self.packages = name, path, list(packages)
        self.urdf = path.endswith(".urdf")

    def options(self):
        return [word for p in self.packages for word in ("--package", p)]


def own_models():
    for path in sorted(glob.glob(os.path.join(ROOT, "scenes", "robots", "*"))):
        if path.endswith((".xml", ".urdf")):
            yield Model(os.path.basename(path), path)


def reference_models():
    """As its READMEs say: package prefixes are the root of the robot's folder."""
    for collection in ("robots", "mujoco_models"):
        folder = os.path.join(SHARED, "data", collection)
        try:
            with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
                expected = json.load(file)
        except OSError:
            print(f"    no {folder}: set RATTLEBACK_SHARED")
            continue
        for name, facts in expected.items():
            root = os.path.join(folder, name)
            packages = [f"{p}={root}" for p in ("example-robot-data", "drake_models")]
            path = os.path.join(root, facts["main"])
            yield Model(name, path, packages if path.endswith(".urdf") else ())


def all_models():
    return list(own_models()) + list(reference_models())
