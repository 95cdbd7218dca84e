"""What the checks share: the files of the repository, and how a finding is reported."""
import os
import subprocess
import sys

# walked only where there is no git, for example in an unpacked archive
IGNORED_FOLDERS = {".git", ".cache", "__pycache__"}


def tracked_files(root):
    """Paths relative to root, sorted: what git tracks, else every file outside build folders."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False)
    if git.returncode == 0 and git.stdout:
        names = git.stdout.decode().split("\0")
    else:
        names = list(walked_files(root))
    return sorted(n for n in names if n and os.path.isfile(os.path.join(root, n)))


def walked_files(root):
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [s for s in subfolders
                         if s not in IGNORED_FOLDERS and not s.startswith("build")]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root)


def c_files(root):
    return [n for n in tracked_files(root) if n.endswith((".c", ".h"))]


def markdown_files(root):
    return [n for n in tracked_files(root) if n.endswith(".md")]


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def finish(findings, summary):
    """Prints findings ("file:line: sentence") and ends the program: 1 if there are any."""
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else summary)
    sys.exit(1 if findings else 0)
