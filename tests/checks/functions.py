"""No function is longer than 120 lines, counted from its opening to its closing brace.

clang-format puts both braces of a function in column 0, so no parser is needed.

usage: functions.py ROOT
"""
import re
import sys

import tree

LIMIT = 120
SHOWN = 5

NAME = re.compile(r"(\w+)\s*\(")


def heading(lines, opening):
    """The lines of the declaration above the brace in lines[opening], as one text."""
    first = opening
    while first > 0 and lines[first - 1].strip() and not lines[first - 1].startswith(("}", "#")):
        first -= 1
    return " ".join(lines[first:opening])


def functions_of(text):
    """Yields (name, line of the opening brace, length)."""
    lines = text.splitlines()
    opening = None
    for number, line in enumerate(lines):
        if line == "{":
            opening = number
        elif line.startswith("}") and opening is not None:
            match = NAME.search(heading(lines, opening))
            if match:
                yield match.group(1), opening + 1, number - opening + 1
            opening = None


def check(files):
    """files: {path: text}. Returns findings and all functions, the longest first."""
    functions = [(length, name, path, line) for path, text in files.items()
                 for name, line, length in functions_of(text)]
    functions.sort(key=lambda f: (-f[0], f[2], f[3]))
    findings = [f"{path}:{line}: {name} has {length} lines, the limit is {LIMIT}"
                for length, name, path, line in functions if length > LIMIT]
    return findings, functions


def main():
    root = sys.argv[1]
    findings, functions = check({n: tree.read(root, n) for n in tree.c_files(root)})
    for length, name, path, line in functions[:SHOWN]:
        print(f"{length:4d} lines  {name} ({path}:{line})")
    tree.finish(findings, f"{len(functions)} functions, none over {LIMIT} lines")


if __name__ == "__main__":
    main()
