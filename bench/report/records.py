"""Reads bench/results: the newest folder that has a file, its machine and its revision.

Of two folders of one day that have a file the one of the machine of reference.txt counts. A line of machine.txt
replaces those before it that name the same file.
"""
import csv
import os
import re


# Seven digits, or more of them with a letter: seeds have none.
COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?:[0-9a-f]{7}|(?=\d*[a-f])[0-9a-f]{8,10})\b")


class Record:
    """One file of bench/results with where it comes from."""

    used = []       # all records that were read, in their order

    def __init__(self, root, name):
        self.name = name
        Record.used.append(self)
        folders = [f for f in os.listdir(root) if os.path.exists(os.path.join(root, f, name))]
        if not folders:
            raise FileNotFoundError(f"no folder of {root} has {name}")
        self.folder = max(folders, key=lambda f: (f[:10], is_reference(root, f), f))
        self.path = os.path.join(root, self.folder, name)
        self.notes = notes(os.path.join(root, self.folder, "machine.txt"))

    def rows(self):
        with open(self.path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def text(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def table(self, number=0):
        """The lines of one table of a Markdown file."""
        return self.tables()[number]

    def tables(self):
        tables, current = [], []
        for line in self.text().splitlines() + [""]:
            if line.startswith("|"):
                current.append(line.rstrip())
            elif current:
                tables.append(current)
                current = []
        return tables

    def note(self):
        stem = os.path.splitext(self.name)[0]
        said = [value for key, value in self.notes.items() if stem in (word.strip() for word in key.split(","))]
        if said:
            return said[-1]
        return self.notes.get("revision", "revision unknown")

    def cpu(self):
        return self.notes.get("cpu", "machine unknown").split(",")[0]

    def revisions(self):
        """The commits that the note names, in their order."""
        return list(dict.fromkeys(COMMIT.findall(self.note())))

    def source(self, up):
        """Where the numbers come from: a sentence with a link, seen from a folder `up`."""
        place = f"bench/results/{self.folder}/{self.name}"
        note = self.note().split(";")[0]
        return f"{self.folder[:10]}, {self.cpu()}: {note} ([data]({up}{place}))"


def made_by(names):
    """The command that renews a table."""
    return ["```sh no-run", f"bench/run --only {names}", "```", ""]


def is_reference(root, folder):
    cpu = notes(os.path.join(root, folder, "machine.txt")).get("cpu", "").split(",")[0]
    return cpu == notes(os.path.join(root, "reference.txt")).get("cpu")


def notes(path):
    """The lines `key: value` of a machine.txt."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        found = {}
        for line in file:
            key, _, value = line.rstrip("\n").partition(": ")
            if value:
                found.pop(key, None)    # the last one counts, also in their order
                found[key] = value
        return found


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else 0.5 * (values[middle - 1] + values[middle])


def short(value, digits=2):
    """A number as people write it: 0.26, 3.4, 27, 5,800, 2e-9."""
    if value == 0.0:
        return "0"
    if abs(value) >= 1e7 or abs(value) < 1e-3:
        return re.sub(r"e([+-])0*(\d)", lambda m: "e" + m.group(1).strip("+") + m.group(2),
                      f"{value:.1e}")
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if abs(value) >= 10.0 ** (digits - 1) else text


def length(millimetres):
    """A length given in mm, in the unit that suits it."""
    if millimetres < 1e-6:
        return "0" if millimetres == 0.0 else "< 1 nm"
    unit, size = next(u for u in (("m", 1e3), ("mm", 1.0), ("um", 1e-3), ("nm", 1e-6)) if millimetres >= u[1])
    value = millimetres / size
    return f"{value:.2g} {unit}" if value < 100.0 else f"{value:.0f} {unit}"
