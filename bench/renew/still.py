"""Measurements that no change of the step moves: solvers, collision, dynamics, impacts, readers."""
import os
import re

from commands import ROOT


def friction(b):
    b.call("make", "-s", "-C", "bench/siconos", f"BUILD={b.build}")
    problems = b.needs(os.path.join(b.data, "friction_contact/problems.jsonl"), "a collection of friction problems")
    b.call(os.path.join(b.build, "bin/compare_siconos"), b.out, problems, 20, 2, ends=())


def campaign(b):
    b.ours("bench", "corpus", "--count", 50000, "--unique", 64, "--sample", 500, "--csv", b.file("campaign.csv"), ends=(0, 1))


def collide(b):
    b.call("bench/collide/run", b.out, b.build)


def gaps(b):
    said = b.call(os.path.join(b.build, "bin/test_convex"), ends=(0, 1), RATTLEBACK_PAIRS="20000", RATTLEBACK_SEED="50000000")
    rows, name = [], ""
    for line in said.splitlines():
        begun = re.match(r"\[ RUN +\] (\w+)", line)
        name = begun.group(1) if begun else name
        counts = re.search(r"types \d+ and \d+: (\d+) apart, (\d+) touch, (\d+) overlap; worst error (\S+)", line)
        if counts:
            rows.append([name.replace("_", " "), *counts.groups(), 0])
        if rows and line.startswith(("[  FAILED  ]", "[   ERROR")):
            rows[-1][-1] = 1
    if not rows:
        raise RuntimeError("test_convex printed no pairs")
    b.write_csv("gaps.csv", ("pair", "apart", "touch", "overlap", "worst_relative_error", "wrong"), rows)


def dynamics(b):
    b.call("bench/dynamics/run", b.out, b.build)


def oracle(b):
    b.call(b.python, "tests/oracle/run.py", b.program, "--csv", b.file("dynamics-oracle.csv"))


def impact(b):
    folder = b.needs(os.path.join(b.data, "impacts"), "a collection of impacts")
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jsonl"))
    parts = (("rattleback impact on the stored impacts", b.ours("impact", *files).splitlines()[-1:]),
             ("rattleback bench impacts --count 1000000", b.ours("bench", "impacts", "--count", 1000000).splitlines()),
             ("rattleback bench toi --count 100000", b.ours("bench", "toi", "--count", 100000).splitlines()))
    b.write_tables("impact.md", "Impacts and times of impact",
                   *(f"## {title}\n\n" + "\n".join("    " + line for line in lines if line) for title, lines in parts))


def fuzz(b, seconds=15):
    b.call("cmake", "--preset", "fuzz")
    b.call("cmake", "--build", "--preset", "fuzz")
    said = b.call("tools/run-fuzz", FUZZ_SECONDS=str(seconds))
    runs = re.findall(r"== (\w+) for .*?stat::number_of_executed_units: +(\d+)", said, re.DOTALL)
    if not runs:
        raise RuntimeError("the fuzzers printed no numbers")
    b.write_csv("fuzz.csv", ("target", "processor_minutes", "runs", "crashes"),
                [(f"fuzz_{name}", seconds / 60, count, 0) for name, count in runs])


def python_cost(b):
    b.call(b.python, os.path.join(ROOT, "bench/python/cost.py"), "--out", b.file("python_cost.txt"))
