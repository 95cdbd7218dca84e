"""Numbers of the documents: each must be somewhere a reader can check it.

A number in the prose or in a table of a page, outside of code, generated parts and equations, must occur in a
file of bench/results (also rounded to two or three digits), in a test, a scene, a source file, or in a snippet of the
same page. Whole numbers up to 100, round ones, years, powers of ten, numbers of equations and of arXiv are not
looked at. A number of two digits is
easily found by chance; the check means something from three digits on.

There are no exceptions: record a number in bench/results, test it, or leave it out.

usage: page_numbers.py ROOT
"""
import re
import sys

import markdown
import tree

NUMBER = re.compile(r"(?<![\w.,/#-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w,]*\.?\d|[\w/])")
GENERATED = re.compile(r"<!-- results: .*?<!-- end of results -->", re.DOTALL)
WRITTEN = ("docs/design/results.md", "docs/manual/python-api.md")     # by commands
SOURCES = ("bench/results/", "tests/", "scenes/", "src/", "include/", "cli/", "python/", "viewer/", "fuzz/", "wasm/")
ENDINGS = (".c", ".h", ".py", ".csv", ".md", ".txt", ".jsonl", ".json", ".xml", ".urdf", ".mjs", ".cpp", ".sh", "/run")
LARGEST = 8_000_000     # bytes of a file that is still read


def plain(number):
    return number.replace(",", "")


def trivial(number):
    """Counts that need no source: up to 100, round numbers, years, powers of ten."""
    text = plain(number)
    value = float(text)
    if re.fullmatch(r"\d+", text):
        return value <= 100 or value % 100 == 0 or 1900 <= value <= 2100 or text.startswith("1" + "0" * (len(text) - 1))
    return bool(re.fullmatch(r"1e-?\d+|0\.\d|0\.5|1\.5|2\.5|\d\.0", text))


def spellings(number):
    """Ways in which a file may write the same number."""
    text = plain(number)
    found = {number, text}
    if "e" in text:
        mantissa, power = text.split("e")
        sign, digits = ("-", power[1:]) if power.startswith("-") else ("", power)
        found |= {f"{m}e{sign}{d}" for m in (mantissa, f"{float(mantissa):g}", f"{float(mantissa):.1f}")
                  for d in (digits, digits.zfill(2))}
        found |= {f"{float(text):.10f}".rstrip("0")} if sign and int(digits) <= 6 else set()
        found |= {f"{m}e+{d}" for m in (mantissa,) for d in (digits.zfill(2),)} if not sign else set()
    return found


def numbers(text):
    """(line, number) of what a page says outside of code, equations and generated parts."""
    blanked = GENERATED.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    _, prose = markdown.split(blanked)
    for line, words in prose:
        if words.startswith("    ") or words.startswith("#"):
            continue
        words = re.sub(r"arXiv \d+\.\d+|`[^`]*`|\]\([^)]*\)|\([A-Z]\.\d+[a-z]?\)|\[[A-Z][^\]]*\d{4}[^\]]*\]", " ", words)
        for match in NUMBER.finditer(words):
            if not trivial(match.group(1)):
                yield line, match.group(1)


class Sources:
    """All numbers of the files that count as sources."""

    def __init__(self, root):
        self.known, measured = set(), set()
        for name in tree.tracked_files(root):
            if name.startswith(SOURCES) and name.endswith(ENDINGS):
                text = tree.read(root, name)
                if len(text) < LARGEST:
                    found = set(re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", text))
                    self.known |= found
                    if name.startswith("bench/results/"):
                        measured |= found
        self.rounded = {k for value in measured for k in rounded(value)}

    def has(self, number):
        return any(s in self.known or s in self.rounded for s in spellings(number))


def rounded(text):
    """A measured number with two and three digits, as prose writes it."""
    try:
        value = float(plain(text))
    except ValueError:
        return
    if len(text) < 4 or not 0.0 < abs(value) < 1e15:
        return
    for digits in (2, 3):
        yield f"{value:.{digits}g}"


def missing(root):
    sources = Sources(root)
    for name in tree.markdown_files(root):
        if name in WRITTEN or not (name.startswith("docs/") or name in ("README.md", "CONTRIBUTING.md")):
            continue
        text = tree.read(root, name)
        own = "\n".join(block.text + (block.output or "") for block in markdown.split(text)[0])
        inside = set(re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", own))
        for line, number in numbers(text):
            if plain(number) not in inside and not sources.has(number):
                yield name, line, number


def main():
    findings = [f"{name}:{line}: {number} is in no file of bench/results, tests or sources"
                for name, line, number in missing(sys.argv[1])]
    tree.finish(findings, "numbers of the pages have a source")


if __name__ == "__main__":
    main()
