"""Every MJCF and URDF file below folders, as compare.py: what is read by one side and refused by the
other, and where answers differ. Not part of the tests: it is for collections that lie outside the
repository.

usage: sweep.py PATH_TO_rattleback [--states N] FOLDER...
"""
import argparse
import collections
import multiprocessing
import os
import re
import sys

import compare
from models import Model

ROOT_ELEMENT = re.compile(rb"<(mujoco|robot)[\s>]")


def model_files(folder):
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.endswith((".xml", ".urdf")):
                continue
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                root = ROOT_ELEMENT.search(re.sub(rb"<!--.*?-->", b"", file.read(), flags=re.S))
            if root and (root.group(1) == b"robot") == name.endswith(".urdf"):
                yield path


def judge(program, path, states):
    """(verdict, detail)"""
    model = Model(os.path.basename(path), path)
    try:
        compare.rattleback(program, "info", "--json", path)
        ours = None
    except compare.Failure as failure:
        ours = str(failure)
    try:
        _, total, _ = compare.compare(program, model, states, False)
    except compare.Failure as failure:
        if ours is None:
            return "answers differ", str(failure)
        return oracle_alone(model, ours)
    except Exception as error:  # pylint: disable=broad-except
        text = " ".join(str(error).split())
        return ("both refuse" if ours else "only the oracle refuses"), text
    bad = {k: e for k, e in total.items() if not e <= compare.TOLERANCES.get(k, compare.TOLERANCE)}
    if bad:
        return "answers differ", " ".join(f"{k} {e:.1e}" for k, e in bad.items())
    return "same", ""


def oracle_alone(model, ours):
    """We refuse: does the oracle, too?"""
    try:
        if model.urdf:
            compare.pinocchio_side.pin.buildModelFromUrdf(model.path)
        else:
            compare.mujoco_side.mujoco.MjModel.from_xml_path(model.path)
    except Exception:  # pylint: disable=broad-except
        return "both refuse", ours
    return "only we refuse", ours


def judge_apart(program, path, states):
    """In a process of its own: a reader of another project may crash on a file."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    child = fork.Process(target=lambda: theirs.send(judge(program, path, states)))
    child.start()
    theirs.close()
    try:
        answer = ours.recv()
    except EOFError:
        answer = ("the oracle crashes", "")
    child.join()
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--states", type=int, default=5)
    args = parser.parse_intermixed_args()
    counts = collections.Counter()
    for folder in args.folders:
        for path in model_files(folder):
            verdict, detail = judge_apart(args.program, path, args.states)
            counts[verdict] += 1
            print(f"{verdict:24s} {path}  {detail[:300]}", flush=True)
    print(", ".join(f"{n} {v}" for v, n in counts.items()))
    sys.exit(1 if counts["answers differ"] else 0)


if __name__ == "__main__":
    main()
