"""Writes scenes/README.md, the index of the scenes, from the comment at the head of each file.

usage: index.py [--check]
"""
import os
import re
import sys

from files import keep

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = {
    "acceptance": "one promise each: what users of other engines complain about",
    "contact": "contact and impact, small",
    "gallery": "scenes of the playground that are nowhere else; `gallery.json` lists all of it",
    "impulse": "the scenes of the impulse and hybrid steppers",
    "papers": "experiments of papers, for `rattleback reproduce`",
    "peers": "timed beside other engines, for `bench/peers`",
    "poses": "parts for `rattleback poses`",
    "problems": "complementarity problems as JSON lines, for `lcp`, `friction` and `impact`",
    "robots": "mechanisms and robots",
    "simbenchmark": "the scenes of SimBenchmark",
    "toss": "tosses of a cube",
    "towers": "towers, walls, houses, dominoes and arches, for `bench/towers`",
}


def first_sentence(path):
    """Of the comment that a model file begins with."""
    with open(path, encoding="utf-8") as file:
        found = re.search(r"<!--(.*?)-->", file.read(4000), re.S)
    text = " ".join(found.group(1).split()) if found else ""
    sentence = re.split(r"(?<=[.:;]) ", text, maxsplit=1)[0].rstrip(".:;")
    return sentence.replace("|", "\\|")


def rows(folder):
    for inside, below, names in sorted(os.walk(os.path.join(HERE, folder))):
        below.sort()
        for name in sorted(names):
            path = os.path.join(inside, name)
            shown = os.path.relpath(path, HERE)
            if name.endswith((".xml", ".urdf")):
                yield f"| [`{shown}`]({shown}) | {first_sentence(path)} |"
            elif name.endswith((".jsonl", ".json", ".stl", ".obj")):
                yield f"| [`{shown}`]({shown}) | |"


def text():
    folders = sorted(n for n in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, n)) and n[0] not in "._")
    out = ["# Scenes", "",
           "Model files shared by tests, benchmarks and documentation. `scenes/index.py` writes this page from the",
           "comment at the head of each file.", "",
           "    rattleback run scenes/contact/rod.xml --key start --time 0.7", ""]
    for folder in folders:
        found = list(rows(folder))
        if found:
            out += [f"## {folder}", "", FOLDERS.get(folder, "").capitalize() + ".", "", "| file | what it is |",
                    "|---|---|", *found, ""]
    return "\n".join(out).rstrip() + "\n"


if __name__ == "__main__":
    STATUS = keep(HERE, {"README.md": text()}, sys.argv[1:])
    if STATUS is None:
        print(__doc__.strip(), file=sys.stderr)
    sys.exit(2 if STATUS is None else STATUS)
