"""Every message that docs/manual/troubleshooting.md explains is one that the sources can print.

Messages are the code spans of the first column of its tables with the heading `message`; `...` stands for
anything.

usage: messages.py ROOT
"""
import re
import sys

import markdown
import tree

PAGE = "docs/manual/troubleshooting.md"
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
LEAST = 4           # characters of a fragment that is looked for
BUILD = ("The following required packages",)    # of CMake, not ours


def literals(text):
    """String literals, those that C joins joined, without escapes."""
    text = text.replace('\\"', "\0")
    text = re.sub(r'"\s*(?:PRI\w+|[A-Z][A-Z_]+)?\s*\n?\s*"', "", text)
    return " ".join(STRING.findall(text)).replace("\0", '"')


def messages(text):
    """(line, message) of the tables of messages."""
    inside = False
    for number, line in markdown.split(text)[1]:
        if line.startswith("| message |"):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            for span in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                if not span.startswith(("RB_", "--")) and span not in ("located", "impulse"):
                    yield number, span


def main():
    root = sys.argv[1]
    names = [n for n in tree.tracked_files(root)
             if n.startswith(("src/", "cli/", "cmake/", "CMakeLists")) and n.endswith((".c", ".h", ".cmake", ".txt", ".in"))]
    known = " ".join(literals(tree.read(root, n)) for n in names)
    known = re.sub(r"%[-+ #0-9.*]*(?:zu|td|[a-z])", "...", known)
    findings, count = [], 0
    for number, message in messages(tree.read(root, PAGE)):
        count += 1
        message = re.sub(r"^\w+: ", "", message)       # of a file: the field comes first
        parts = [p.strip() for p in re.split(r"\.\.\.|-?\d[\d.e+-]*|\"[^\"]*\"|'[^']*'", message)]
        if message.startswith(BUILD):
            continue
        findings += [f"{PAGE}:{number}: no source prints {part!r}" for part in parts
                     if len(part) >= LEAST and part.rstrip(";") not in known]
    tree.finish(findings, f"{count} messages are those of the sources")


if __name__ == "__main__":
    main()
