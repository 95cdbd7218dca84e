#!/usr/bin/env python3
"""Joins tables of several runs of compare_collide: of every engine and pair the least time.

usage: least.py OUT RUN...      RUN: folders with collide.csv; writes OUT/collide.csv and collide.md
"""
import csv
import sys

OURS = ("rattleback", "rattleback V-Clip", "rattleback warm")
KINDS = {"apart": "distance", "touching": "manifold"}
TITLES = {"apart": "Apart", "touching": "Overlapping by up to 1 mm"}


def read(folders):
    rows = {}
    for folder in folders:
        with open(f"{folder}/collide.csv", newline="") as file:
            for row in csv.DictReader(file):
                key = (row["poses"], row["pair"], row["engine"])
                if key not in rows or float(row["ns"]) < float(rows[key]["ns"]):
                    rows[key] = row
    return rows


def table(rows, poses):
    mine = {key[1:]: row for key, row in rows.items() if key[0] == poses}
    engines = list(dict.fromkeys(engine for _, engine in mine))
    heads = {engine: f"{engine}: {row['answer']}" if row["answer"] else engine
             for (_, engine), row in mine.items()}
    lines = [f"\n{TITLES[poses]}, ns per query:\n",
             "| pair | " + " | ".join(heads[engine] for engine in engines)
             + " | best other with the same kind of answer / ours | best of all others / ours |",
             "|---|" + "---|" * (len(engines) + 2)]
    for pair in dict.fromkeys(pair for pair, _ in mine):
        of = {engine: mine[pair, engine] for engine in engines if (pair, engine) in mine}
        ns = {engine: float(row["ns"]) for engine, row in of.items()}
        ours = min(time for engine, time in ns.items() if engine in OURS)
        others = {engine: time for engine, time in ns.items() if engine not in OURS}
        alike = [time for engine, time in others.items() if of[engine]["answer"] == KINDS[poses]]
        cells = [f"{ns[engine]:.0f}" if engine in ns else "" for engine in engines]
        cells += [f"{min(alike) / ours:.2f}" if alike else "", f"{min(others.values()) / ours:.2f}"]
        lines.append(f"| {pair} | " + " | ".join(cells) + " |")
    return lines


def main(out, *folders):
    rows = read(folders)
    with open(f"{out}/collide.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, next(iter(rows.values())).keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())
    with open(f"{out}/collide.md", "w") as file:
        for poses in TITLES:
            file.write("\n".join(table(rows, poses)) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
