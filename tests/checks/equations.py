"""Equation numbers of docs/theory: each is given once, on the page that owns its letter, in order; what cites one
cites an equation that is there; and each equation is cited where it is used: in the code, on another page, or
once more on its own. Works are cited by the tags of docs/theory/references.md, [Jain 2011, 4.2]: each tag is there.

An equation is placed by the line that gives it; one that is given in a sentence by where its page names it first.
An equation on a line of its own is indented as code and ends with its number, `(S.12)`; others are given in a
sentence. `(S.11) to (S.15)` and `(S.11) .. (S.15)` cite all of the range.

usage: equations.py ROOT
"""
import re
import sys

import tree

GIVEN = re.compile(r"^ {4,}.*\(([A-Z])\.(\d+[a-z]?)\)\s*$")
CITED = re.compile(r"\(([A-Z])\.(\d+[a-z]?)\)")
RANGE = re.compile(r"\(([A-Z])\.(\d+)\) (?:to|\.\.) \(\1\.(\d+)\)")
TAG = re.compile(r"\[([A-Z][^\[\]()]{2,80}?\b(?:1[89]|20)\d\d\b[^\[\]()]*)\]")
WORK = re.compile(r"^\| \[([^\]]+)\]", re.MULTILINE)
LONGEST = 15        # a longer range names a page, not equations
OWNER = re.compile(r"^\| \[[^\]]+\]\(([\w-]+\.md)\) \| ([A-Z]) \|", re.MULTILINE)    # in docs/theory/README.md


def given(pages):
    """Places of each number: {('S', '12'): ['docs/theory/stepping.md:19']}."""
    places = {}
    for name, text in pages.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = GIVEN.match(line)
            if match:
                places.setdefault(match.groups(), []).append(f"{name}:{number}")
    return places


def cited(text):
    """The numbers that a text names, ranges included, with repetition."""
    keys = CITED.findall(text)
    for letter, first, last in RANGE.findall(text):
        if int(last) - int(first) <= LONGEST:
            keys += [(letter, str(k)) for k in range(int(first) + 1, int(last))]
    return keys


def check(theory, others):
    places = given(theory)
    findings = [f"{at[1]}: ({k[0]}.{k[1]}) is already at {at[0]}"
                for k, at in places.items() if len(at) > 1]
    known = {key for text in theory.values() for key in CITED.findall(text)}
    letters = {key[0] for key in known}
    for name, text in others.items():
        for number, line in enumerate(text.splitlines(), 1):
            for key in CITED.findall(line):
                if key[0] in letters and key not in known:
                    findings.append(f"{name}:{number}: docs/theory has no ({key[0]}.{key[1]})")
    return findings, len(known)


def unused(theory, others):
    """Equations that nothing cites but the line that gives them."""
    count = {}
    for text in list(theory.values()) + list(others.values()):
        for key in cited(text):
            count[key] = count.get(key, 0) + 1
    return [f"{at[0]}: ({k[0]}.{k[1]}) is cited nowhere" for k, at in given(theory).items() if count[k] < 2]


def order(page, letter):
    """Numbers of a letter in the order of its page."""
    places, sentences = {}, {}
    for number, line in enumerate(page.splitlines()):
        match = GIVEN.match(line)
        given = match.groups() if match else None
        if given and given[0] == letter:
            places.setdefault(given[1], number)
        for key in re.findall(rf"\({letter}\.(\d+[a-z]?)\)", line):
            sentences.setdefault(key, number)
    for key, number in sentences.items():
        places.setdefault(key, number)
    return sorted(places, key=lambda key: (places[key], int(re.match(r"\d+", key).group()), key))


def misordered(theory, owners):
    """Equations that do not follow the one before them on their page."""
    for letter, page in owners.items():
        found = order(theory.get(f"docs/theory/{page}", ""), letter)
        wrong = [(key, k + 1) for k, key in enumerate(found) if key != str(k + 1)]
        if wrong:
            key, number = wrong[0]
            yield f"docs/theory/{page}: ({letter}.{key}) is equation {number} of its page: tools/number-equations"


def misplaced(theory, owners):
    """Equations whose letter belongs to another page."""
    return [f"{at}: ({k[0]}.{k[1]}) belongs to docs/theory/{owners[k[0]]}"
            for k, places in given(theory).items() for at in places
            if k[0] in owners and not at.startswith(f"docs/theory/{owners[k[0]]}:")]


def unknown_works(references, texts):
    """Tags that no line of the list of references has; [A 1990; B 2001, 3] are two."""
    known = set(WORK.findall(references))
    for name, text in texts.items():
        for match in TAG.finditer(text):
            for part in re.sub(r"\s+(\*\s+)?", " ", match.group(1)).split(";"):
                tag = re.match(r".*?\b(?:1[89]|20)\d\d\b", part.strip())
                if tag and tag.group() not in known:
                    number = text.count("\n", 0, match.start()) + 1
                    yield f"{name}:{number}: docs/theory/references.md has no [{tag.group()}]"


def main():
    root = sys.argv[1]
    pages = {n: tree.read(root, n) for n in tree.markdown_files(root)}
    theory = {n: t for n, t in pages.items() if n.startswith("docs/theory/")}
    others = {n: t for n, t in pages.items() if n not in theory}
    others.update({n: tree.read(root, n) for n in tree.c_files(root)})
    owners = {letter: page for page, letter in OWNER.findall(theory.get("docs/theory/README.md", ""))}
    findings, count = check(theory, others)
    findings += unused(theory, others) + misplaced(theory, owners) + list(misordered(theory, owners))
    findings += unknown_works(theory.get("docs/theory/references.md", ""), {**theory, **others})
    tree.finish(findings, f"{count} equations, each once and in order; each is cited, and none is cited that is not there")


if __name__ == "__main__":
    main()
