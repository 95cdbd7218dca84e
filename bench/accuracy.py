#!/usr/bin/env python3
"""How the end of a run depends on --accuracy: the table of docs/manual/accuracy.md.

usage: accuracy.py PROGRAM [--time T] MODEL...

Each model runs T seconds (0.5) at strict, standard and fast. Told are the largest difference of a
coordinate from the end of the strict run [m] or [rad], the worst residual, the deepest overlap that
steps made, processor time of a step, and how many steps missed their accuracy. A run that is refused
is told by its status.
"""
import json
import os
import resource
import subprocess
import sys

WORDS = ("strict", "standard", "fast")


def run(program, model, word, time):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([program, "run", model, "--time", time, "--accuracy", word, "--lenient",
                           "--time-limit", "60", "--json"], capture_output=True, text=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return (json.loads(done.stdout), spent) if done.stdout.startswith("{") else (None, spent)


def describe(told, spent, strict):
    if told is None:
        return "not read"
    if told["failures"] or told["time_limit_reached"]:
        return f"ended at {told['time']:.3g} s"
    apart = max((abs(a - b) for a, b in zip(told["qpos"], strict["qpos"])), default=0.0)
    text = f"{1e6 * spent / max(1, told['steps']):.0f} us, {told['residual_max']:.0e}, {told['penetration_max']:.0e} m"
    if told["below_accuracy"]:
        text += f", {told['below_accuracy']} below"
    return text if told is strict else f"{apart:.0e}; {text}"


def main(words):
    time = "0.5"
    if "--time" in words:
        at = words.index("--time")
        time = words[at + 1]
        del words[at:at + 2]
    if len(words) < 2:
        sys.exit(__doc__)
    program, models = words[0], words[1:]
    print("| model | " + " | ".join(WORDS) + " |\n|" + "---|" * (1 + len(WORDS)))
    for model in models:
        runs = [run(program, model, word, time) for word in WORDS]
        cells = [describe(told, spent, runs[0][0]) for told, spent in runs]
        name = os.path.join(os.path.basename(os.path.dirname(model)), os.path.basename(model))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
