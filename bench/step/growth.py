"""Instructions of a step of hanging chains without contact, counted by callgrind, and the slope of
their growth with the links: 1 is linear.

Steps of 1 ms. A step costs the difference between a run of 20 and one of 10, or between runs that
are as much longer as --after says.

usage: growth.py PATH_TO_rattleback [--limit SLOPE] [--after SECONDS]
"""
import argparse
import math
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINKS = (30, 480)
H = 1e-3
FEW, MORE = 10, 20
SKIPPED = 77


def collected(program, links, steps):
    scene = os.path.join(ROOT, f"scenes/papers/pendulum/chain_{links}.xml")
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "run",
               scene, "--key", "start", "--step", repr(H), "--time", repr(H * steps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--limit", type=float, default=1.15)
    parser.add_argument("--after", type=float, default=0.0, help="seconds before the steps")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(SKIPPED)
    counts, before = [], round(args.after / H)
    for links in LINKS:
        count = (collected(args.program, links, before + MORE) -
                 collected(args.program, links, before + FEW)) / (MORE - FEW)
        counts.append(count)
        print(f"{links:5d} links  {count:12.0f} instructions  {count / links:8.1f} per link",
              flush=True)
    found = math.log(counts[1] / counts[0]) / math.log(LINKS[1] / LINKS[0])
    print(f"slope {found:.3f}, at most {args.limit}")
    sys.exit(0 if found <= args.limit else 1)


if __name__ == "__main__":
    main()
