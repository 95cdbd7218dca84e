"""Words that do not belong in tracked files: machine paths, private hosts, unfinished business.

usage: words.py ROOT
"""
import re
import sys

import tree

# these spell the words in order to forbid or to test them
EXEMPT = ("tests/checks/words.py", "tests/checks/self_test.py")

FORBIDDEN = [
    (re.compile(r"(?<![\w.])/(work|home|root|Users|mnt)/"), "an absolute path of one machine"),
    (re.compile(r"https?://(localhost|\d+\.\d+\.\d+\.\d+)"), "an address of one machine"),
    (re.compile(r"\b[\w-]+\.(internal|corp|lan)\b(?![\w(/])"), "a private host"),
    (re.compile(r"\b(registry|artifactory|nexus|pypi-proxy)\.[\w-]+\.\w+"), "a registry host"),
    (re.compile(r"--(extra-)?index-url|\bproxy\.golang\b"), "a registry setting"),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished business"),
    (re.compile(r"\bnot (yet )?implemented\b", re.IGNORECASE), "unfinished business"),
]

TEXT_ENDINGS = (".c", ".h", ".md", ".py", ".sh", ".txt", ".cmake", ".json", ".jsonl", ".in", ".csv",
                "Makefile", "/run", ".yml", "install-deps")


def check_text(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, reason in FORBIDDEN:
            match = pattern.search(line)
            if match:
                yield f"{name}:{number}: {match.group(0)!r} is {reason}"


def main():
    root = sys.argv[1]
    names = [n for n in tree.tracked_files(root)
             if n not in EXEMPT and (n.endswith(TEXT_ENDINGS) or n.startswith("tools/"))]
    findings = [f for n in names for f in check_text(n, tree.read(root, n))]
    tree.finish(findings, f"{len(names)} files, no forbidden word")


if __name__ == "__main__":
    main()
