"""Which files of a folder are robots, and copies of them in which no mesh is missing."""
import os
import re
import shutil
import struct
import xml.etree.ElementTree as ElementTree
import zlib

BOX = 0.05  # [m] edge of the box that stands in for a mesh
TRIANGLES = ((0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4),
             (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7))
MESHES = (".stl", ".obj")  # that both engines read


# ---- finding ----------------------------------------------------------------------------------


def root_of(path):
    try:
        return ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, UnicodeError):
        return None


def models_in(folder):
    """Scenes of a folder; where it has none, its files with bodies that no other one includes."""
    names = sorted(n for n in os.listdir(folder) if n.lower().endswith((".xml", ".urdf", ".mjcf")))
    scenes = [n for n in names if n.startswith("scene") and n.endswith(".xml")]
    if scenes:
        return [os.path.join(folder, n) for n in scenes]
    found, included = [], set()
    for name in names:
        root = root_of(os.path.join(folder, name))
        if root is None or root.tag not in ("mujoco", "robot", "mujocoinclude"):
            continue
        included |= {os.path.basename(i.get("file", "")) for i in root.iter("include")}
        bodies = root.find("link") if root.tag == "robot" else root.find("worldbody//body")
        if root.tag != "mujocoinclude" and (bodies is not None or root.find("include") is not None):
            found.append(name)
    return [os.path.join(folder, n) for n in found if n not in included]


def find_models(places):
    """(name, path, root folder of the collection) of all models in files and folders."""
    for place in places:
        if os.path.isfile(place):
            yield os.path.basename(place), place, os.path.dirname(os.path.abspath(place))
            continue
        for folder, inside, _ in os.walk(place):
            inside.sort()
            for path in models_in(folder):
                yield os.path.relpath(path, place), path, os.path.abspath(place)


# ---- what stands in ---------------------------------------------------------------------------


def corners(size):
    return [(x * size, y * size, z * size) for z in (-0.5, 0.5)
            for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))]


def write_box(path, scale):
    points = corners(BOX / (scale or 1.0))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if path.lower().endswith(".obj"):
        with open(path, "w", encoding="ascii") as out:
            out.writelines("v %g %g %g\n" % p for p in points)
            out.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in TRIANGLES)
        return
    with open(path, "wb") as out:
        out.write(b"box that stands in".ljust(80) + struct.pack("<I", len(TRIANGLES)))
        for t in TRIANGLES:
            out.write(struct.pack("<12fH", 0, 0, 0, *(x for i in t for x in points[i]), 0))


def write_picture(path):
    """One grey pixel as PNG."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data) & 0xffffffff))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
                  + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b""))


# ---- MJCF -------------------------------------------------------------------------------------


def elements(path, depth=0):
    """All elements of a file and of what it includes; includes are relative to the main file's
    folder or to the including file's."""
    root = root_of(path)
    if root is None or depth > 20:
        return
    yield from root.iter()
    for include in root.iter("include"):
        inner = os.path.join(os.path.dirname(path), include.get("file", ""))
        yield from elements(inner, depth + 1)


def missing_in(path):
    """(path, scale) of the meshes and pictures that an MJCF file asks for and that are not there."""
    everything = list(elements(path))
    folders = {"mesh": "", "texture": ""}
    strip = False
    for compiler in (e for e in everything if e.tag == "compiler"):
        for kind in folders:
            folders[kind] = compiler.get(kind + "dir") or compiler.get("assetdir") or folders[kind]
        strip = strip or compiler.get("strippath") == "true"
    scales = [e.get("scale") for e in everything if e.tag == "mesh" and e.get("scale")]
    for e in everything:
        if e.tag not in folders or not e.get("file"):
            continue
        name = os.path.basename(e.get("file")) if strip else e.get("file")
        file = os.path.join(os.path.dirname(path), folders[e.tag], name)
        if not os.path.exists(file):
            scale = e.get("scale") or (scales[0] if scales else "1")
            yield os.path.normpath(file), abs(float(scale.split()[0]))


def put(file, scale):
    if file.lower().endswith(".png"):
        write_picture(file)
    else:
        write_box(file, scale)


class Copies:
    """Copies of collections, made where something has to be put into them."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def of(self, root):
        if root not in self.made:
            copy = os.path.join(self.folder, str(len(self.made)))
            shutil.copytree(root, copy, copy_function=link_or_copy,
                            ignore=shutil.ignore_patterns(".git"))
            self.made[root] = copy
        return self.made[root]

    def complete(self, path, root):
        """The file, or one in a copy with boxes for what is missing; how many there are."""
        if path.lower().endswith(".urdf"):
            return self.complete_urdf(path, root)
        missing = dict(missing_in(path))
        if not missing:
            return path, 0
        copy, root = self.of(root), os.path.abspath(root)
        for file, scale in missing.items():
            inside = os.path.relpath(os.path.abspath(file), root)
            if not inside.startswith(".."):
                put(os.path.join(copy, inside), scale)
        return os.path.join(copy, os.path.relpath(os.path.abspath(path), root)), len(missing)

    def complete_urdf(self, path, root):
        """URDF names meshes by package; MuJoCo wants paths, and neither reads COLLADA: a copy with
        the paths of the meshes, boxes where there is none."""
        tree = ElementTree.parse(path)
        self.made.setdefault("urdf", 0)
        self.made["urdf"] += 1
        folder = os.path.join(self.folder, "urdf%d" % self.made["urdf"])
        os.makedirs(folder)
        boxes = 0
        for k, mesh in enumerate(tree.getroot().iter("mesh")):
            found = mesh_of_urdf(mesh.get("filename", ""), path, root)
            extension = os.path.splitext(found)[1].lower() if found else ".stl"
            target = os.path.join(folder, "mesh%d%s" % (k, extension))
            if found:
                link_or_copy(found, target)
            else:
                write_box(target, abs(float((mesh.get("scale") or "1").split()[0])))
                boxes += 1
            mesh.set("filename", os.path.basename(target))
        target = os.path.join(folder, os.path.basename(path))
        tree.write(target)
        return target, boxes


def mesh_of_urdf(name, path, root):
    """The file that a URDF means, if it is there and both engines read it; else None."""
    name = re.sub(r"^(package|file|model)://", "", name)
    if not name.lower().endswith(MESHES):
        return None
    folder, parts = os.path.dirname(os.path.abspath(path)), name.strip("/").split("/")
    places = [os.path.join(folder, name), "/" + name.lstrip("/")]
    places += [os.path.join(root, *parts[k:]) for k in range(len(parts))]
    while len(folder) >= len(root):
        places += [os.path.join(folder, *parts[k:]) for k in range(len(parts))]
        folder = os.path.dirname(folder)
    return next((p for p in places if os.path.isfile(p)), None)


def link_or_copy(source, target):
    """A second name for the bytes where that is possible: collections are large."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)
