"""Equation numbers of docs/theory: each is given once, and what cites one cites an equation that is
there.

An equation on a line of its own is indented as code and ends with its number, `(S.12)`; others are
given in a sentence.

usage: equations.py ROOT
"""
import re
import sys

import tree

GIVEN = re.compile(r"^ {4,}.*\(([A-Z])\.(\d+[a-z]?)\)\s*$")
CITED = re.compile(r"\(([A-Z])\.(\d+[a-z]?)\)")


def given(pages):
    """Places of each number: {('S', '12'): ['docs/theory/stepping.md:19']}."""
    places = {}
    for name, text in pages.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = GIVEN.match(line)
            if match:
                places.setdefault(match.groups(), []).append(f"{name}:{number}")
    return places


def check(theory, others):
    places = given(theory)
    findings = [f"{at[1]}: ({k[0]}.{k[1]}) is already at {at[0]}"
                for k, at in places.items() if len(at) > 1]
    known = {key for text in theory.values() for key in CITED.findall(text)}
    letters = {key[0] for key in known}
    for name, text in others.items():
        for number, line in enumerate(text.splitlines(), 1):
            for key in CITED.findall(line):
                if key[0] in letters and key not in known:
                    findings.append(f"{name}:{number}: docs/theory has no ({key[0]}.{key[1]})")
    return findings, len(known)


def main():
    root = sys.argv[1]
    pages = {n: tree.read(root, n) for n in tree.markdown_files(root)}
    theory = {n: t for n, t in pages.items() if n.startswith("docs/theory/")}
    others = {n: t for n, t in pages.items() if n not in theory}
    others.update({n: tree.read(root, n) for n in tree.c_files(root)})
    findings, count = check(theory, others)
    tree.finish(findings, f"{count} equations, each once, and none is cited that is not there")


if __name__ == "__main__":
    main()
