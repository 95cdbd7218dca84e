"""Instructions of one forward dynamics with the compliance of four points on serial chains, counted
by callgrind, and the slope of their growth: 1 is linear.

A call costs the difference between a run with 11 calls and one with 1. Counts do not depend on the
machine's load; they do depend on the compiler.

usage: instructions.py PATH_TO_rattleback [--csv FILE] [--limit SLOPE]
"""
import argparse
import csv
import math
import re
import shutil
import subprocess
import sys

LINKS = (10, 32, 100, 316, 1000)
MORE = 10
SKIPPED = 77


def collected(program, links, calls):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "bench",
               "dynamics", "--chain", str(links), "--calls", str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def slope(x, y):
    a, b = [math.log(v) for v in x], [math.log(v) for v in y]
    n, sa, sb = len(a), sum(a), sum(b)
    return (n * sum(p * q for p, q in zip(a, b)) - sa * sb) / (n * sum(p * p for p in a) - sa * sa)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--csv")
    parser.add_argument("--limit", type=float, default=1.1)
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(SKIPPED)
    counts = []
    for links in LINKS:
        per_call = (collected(args.program, links, 1 + MORE) -
                    collected(args.program, links, 1)) / MORE
        counts.append(per_call)
        print(f"{links:5d} links  {per_call:12.0f} instructions  {per_call / links:8.1f} per link",
              flush=True)
    found = slope(LINKS, counts)
    print(f"slope {found:.3f}, at most {args.limit}")
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [["links", "instructions"], *([n, int(c)] for n, c in zip(LINKS, counts))])
    sys.exit(0 if found <= args.limit else 1)


if __name__ == "__main__":
    main()
