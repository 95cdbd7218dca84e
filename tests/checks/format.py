"""Every tracked C file is as clang-format writes it.

The answer depends on the version, so only the one of Debian 12 is asked; with another one, or
none, the check is skipped (exit 77) and says so. `make format` repairs.

usage: format.py ROOT
"""
import re
import shutil
import subprocess
import sys

import tree

WANTED = 14
SKIPPED = 77


def find_clang_format():
    for name in (f"clang-format-{WANTED}", "clang-format"):
        program = shutil.which(name)
        if not program:
            continue
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        match = re.search(r"version (\d+)", answer.stdout)
        if match and int(match.group(1)) == WANTED:
            return program
    return None


def main():
    root = sys.argv[1]
    program = find_clang_format()
    if not program:
        print(f"skipped: clang-format {WANTED} is not installed")
        sys.exit(SKIPPED)
    names = tree.c_files(root)
    answer = subprocess.run([program, "--dry-run", "-Werror", *names], cwd=root,
                            capture_output=True, text=True, check=False)
    findings = [l for l in answer.stderr.splitlines() if ": error:" in l]
    if answer.returncode != 0 and not findings:
        findings = [answer.stderr.strip() or f"clang-format ended with {answer.returncode}"]
    tree.finish(findings, f"{len(names)} files are formatted")


if __name__ == "__main__":
    main()
