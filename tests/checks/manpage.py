"""The manual page has a section for each command, with every option of its help, and roff takes it.

usage: manpage.py TOOL PROGRAM
"""
import re
import shutil
import subprocess
import sys
import tempfile


def main(tool, program):
    page = subprocess.run([sys.executable, tool, program], capture_output=True, text=True, check=True).stdout
    plain = page.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    overview = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+) {2,}\S", overview, flags=re.M)
    missing = [] if len(names) >= 9 else ["the list of commands"]
    for name in names:
        section = plain.split(f".SH {name.upper()}\n")
        helped = subprocess.run([program, name, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"--[a-z-]+", helped))
        body = section[1].split("\n.SH ")[0] if len(section) == 2 else ""
        missing += [f"{name} {option}" for option in sorted(options) if option not in body]
        missing += [] if body else [name]
    if shutil.which("groff"):
        with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
            file.write(page)
            file.flush()
            warnings = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", file.name],
                                      capture_output=True, text=True, check=False).stderr
        missing += [line for line in warnings.splitlines() if "warning" in line or "error" in line]
    if missing:
        sys.exit("the manual page lacks: " + "; ".join(missing[:10]))
    print(f"{len(names)} commands")


if __name__ == "__main__":
    main(*sys.argv[1:])
