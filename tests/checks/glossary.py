"""Words of our own: what docs/glossary.md lists is used where it says, and what newcomers had to decode is not
used where users read, nor in comments of the headers and of most sources.

usage: glossary.py ROOT [PROGRAM]       PROGRAM: the command, whose help texts are read too
"""
import os
import re
import subprocess
import sys

import markdown
import tree

ENTRY = re.compile(r"^\| ([^|]+) \| ([^|]+) \| \[[^\]]+\]\(([^)#]+)(?:#[^)]*)?\) \|$")

# what a newcomer had to decode, and what to write instead (the exact names of JSON keys are code spans)
COINED = [
    (re.compile(r"\b(is|are|was|were|be) told\b|\btold (by|as|again)\b", re.I), "reported, given"),
    (re.compile(r"\btells (how|what|the|which|whether|when|about)\b", re.I), "reports, shows"),
    (re.compile(r"\b(is|are|what is) led\b", re.I), "kinematic, moved by the caller"),
    (re.compile(r"\bin vain\b", re.I), "without success"),
    (re.compile(r"\bforetold|foretell", re.I), "predicted"),
    (re.compile(r"\bwhat (stands|lies|rests)\b", re.I), "bodies at rest"),
    (re.compile(r"\bwho gives\b|\bwhoever\b", re.I), "name the option or the caller"),
    (re.compile(r"\brungs?\b", re.I), "method"),
    (re.compile(r"\bladder\b", re.I), "sequence of methods"),
    (re.compile(r"\bdoes not get on\b|\bdo not get on\b", re.I), "does not converge"),
]
# pages of one module that explain the word before they use it
EXPLAINED = {"docs/manual/solvers.md": ("rung",), "docs/glossary.md": ("rung",), "docs/manual/python-api.md": ("rung",)}


# sources whose comments are not yet rewritten
OLD_COMMENTS = ("src/solve/cone_", "src/step/solve_islands.c")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def comments(root):
    """(name, line, comment) of headers, sources and the command."""
    for name in tree.c_files(root):
        if not name.startswith(("include/", "src/", "cli/")) or name.startswith(OLD_COMMENTS):
            continue
        text = tree.read(root, name)
        for match in COMMENT.finditer(text):
            yield name, text.count("\n", 0, match.start()) + 1, re.sub(r"`[^`]*`", "", match.group())


def user_pages(root):
    return [n for n in tree.markdown_files(root) if n == "README.md" or n.startswith("docs/manual/")]


def coined(name, text):
    _, prose = markdown.split(text)
    for number, line in prose:
        plain = re.sub(r"`[^`]*`", "", line)
        for pattern, better in COINED:
            match = pattern.search(plain)
            if match and not any(w in match.group(0).lower() for w in EXPLAINED.get(name, ())):
                yield f"{name}:{number}: {match.group(0)!r}: {better}"


def entries(root):
    """A word of the glossary is on the page that its entry names."""
    for number, line in enumerate(tree.read(root, "docs/glossary.md").splitlines(), 1):
        match = ENTRY.match(line)
        if not match or match.group(1) in ("word", "---"):
            continue
        word, page = match.group(1).strip(), os.path.normpath(os.path.join("docs", match.group(3)))
        text = tree.read(root, page).lower().replace("\n", " ")
        if word.lower() not in text and word.lower().rstrip("s") not in text:
            yield f"docs/glossary.md:{number}: {page} does not use {word!r}"


def help_texts(program):
    overview = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    yield "--help", overview
    for name in re.findall(r"^  ([a-z]+) {2,}\S", overview, flags=re.M):
        yield f"{name} --help", subprocess.run([program, name, "--help"], capture_output=True, text=True,
                                               check=True).stdout


def main():
    root = sys.argv[1]
    findings = list(entries(root))
    for name in user_pages(root):
        findings += coined(name, tree.read(root, name))
    for name, line, text in comments(root):
        findings += [f"{name}:{line}: {p.search(text).group(0)!r}: {better}" for p, better in COINED if p.search(text)]
    for name, text in help_texts(sys.argv[2]) if len(sys.argv) > 2 else ():
        findings += [f"{name}: {p.search(text).group(0)!r}: {better}" for p, better in COINED if p.search(text)]
    tree.finish(findings, "words of the glossary are used where it says; user pages and comments have no coined word")


if __name__ == "__main__":
    main()
