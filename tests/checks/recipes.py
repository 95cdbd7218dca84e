"""The recipes of CONTRIBUTING.md: every file they name is there, and a recipe that shows the places of a constant
names every source file that has it.

    <!-- places: RB_GEOM_ELLIPSOID "ellipsoid" -->      before the table of files, up to the next heading;
                                                        a word in quotes is a string of the sources

usage: recipes.py ROOT
"""
import os
import re
import sys

import tree

PAGE = "CONTRIBUTING.md"
PATH = re.compile(r"`((?:src|include|tests|docs|cli|viewer|tools|bench|scenes|python)/[\w./-]+\.\w+)`")
PLACES = re.compile(r"<!-- places: ([\w\" ]+) -->\n(.*?)(?=\n## |\Z)", re.DOTALL)
EXAMPLES = ("foo",)     # of a name that the reader chooses


def check(text, exists, sources):
    """Findings; `sources` is {name: text} of the files in which places are looked for."""
    findings = [f"{PAGE}: {name} does not exist" for name in PATH.findall(text)
                if not any(word in os.path.basename(name) for word in EXAMPLES) and not exists(name)]
    for words, section in PLACES.findall(text):
        named = set(PATH.findall(section))
        for word in words.split():
            pattern = re.escape(word) if word.startswith('"') else rf"\b{word}\b"
            having = {n for n, t in sources.items() if re.search(pattern, t)}
            findings += [f"{PAGE}: the recipe of {word} does not name {name}" for name in sorted(having - named)]
    return findings


def main():
    root = sys.argv[1]
    sources = {n: tree.read(root, n) for n in tree.c_files(root) if n.startswith(("src/", "cli/"))}
    text = tree.read(root, PAGE)
    findings = check(text, lambda name: os.path.exists(os.path.join(root, name)), sources)
    tree.finish(findings, f"{len(PATH.findall(text))} files of the recipes are there, none is missing")


if __name__ == "__main__":
    main()
