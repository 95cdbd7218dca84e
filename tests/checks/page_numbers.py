"""Numbers of the documents: each must be in a file that its page names.

A number in the prose or in a table of a page, outside of code, generated parts and equations, must occur in a snippet
of the same page or in a file that the page names: by a link, by a path in code (`tests/step/test_node.c`, also by the
end of a path, `test_node.c` or `test_node`), or in a line <!-- numbers: FILE .. -->. Numbers of bench/results may be rounded to two or three digits.
A sentence or row that cites somebody (mujoco#3328, [Wilson 1927], arXiv) has its source in that. Whole numbers up to 100,
round ones, years, powers of ten, numbers of equations and of arXiv are not looked at.

There are no exceptions: record a number in bench/results, test it, or leave it out.

usage: page_numbers.py ROOT
"""
import os
import re
import sys

import markdown
import tree

NUMBER = re.compile(r"(?<![\w.,/#-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w,]*\.?\d|[\w/])")
GENERATED = re.compile(r"<!-- results: .*?<!-- end of results -->", re.DOTALL)
WRITTEN = ("docs/design/results.md", "docs/manual/python-api.md")     # by commands
BIBLIOGRAPHY = "docs/theory/references.md"
CITES = re.compile(r"\w#\d+|\[[A-Z][^\]]*\d{4}[^\]]*\]|arXiv \d|of \d{4}\b")
SOURCES = ("bench/results/", "tests/", "scenes/", "src/", "include/", "cli/", "python/", "viewer/", "fuzz/", "wasm/",
           "bench/", "tools/", "CMakeLists.txt")
ENDINGS = (".c", ".h", ".py", ".csv", ".md", ".txt", ".jsonl", ".json", ".xml", ".urdf", ".mjs", ".js", ".ts", ".cpp", ".sh", "/run")
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


NAMED = re.compile(r"\]\(([^)#]+)|`([\w./-]+)`|results: (?:table )?([\w.-]+\.\w+)|<!-- numbers: ([^>]*) -->")
SHIFT = re.compile(r"(\d+)u? << (\d+)")


def numbers_of(text):
    """All numbers of a source, those that are written as shifts included."""
    found = set(re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", text))
    found |= {n.rstrip("0").rstrip(".") for n in found if "." in n and "e" not in n}
    return found | {str(int(a) << int(b)) for a, b in SHIFT.findall(text.replace("(size_t)", ""))}


class Sources:
    """Numbers of the files that count as sources, read when a page names them."""

    def __init__(self, root):
        self.root, self.read = root, {}
        self.files = [n for n in tree.tracked_files(root) if n.startswith(SOURCES) and n.endswith(ENDINGS)]

    def named(self, page, text):
        """The files that a page names."""
        names = set()
        for link, code, generated, listed in NAMED.findall(text):
            names |= {os.path.normpath(os.path.join(os.path.dirname(page), link))} if link else set()
            names |= {n for n in (code, generated, *listed.split()) if "." in n or n.endswith("/run")}
            names |= {code + ".c"} if code.startswith("test_") else set()
        return [n for n in self.files if n in names or any(n.endswith("/" + x) for x in names)]

    def of(self, name):
        if name not in self.read:
            text = tree.read(self.root, name)
            found = numbers_of(text) if len(text) < LARGEST else set()
            if name.startswith("bench/results/"):
                found |= {k for value in found for k in rounded(value)}
            self.read[name] = found
        return self.read[name]

    def has(self, number, files):
        return any(s in self.of(name) for name in files for s in spellings(number))


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
        if name in (*WRITTEN, BIBLIOGRAPHY) or not (name.startswith("docs/") or name in ("README.md", "CONTRIBUTING.md")):
            continue
        text = tree.read(root, name)
        lines = text.splitlines()
        own = "\n".join(block.text + (block.output or "") for block in markdown.split(text)[0])
        inside, files = numbers_of(own), sources.named(name, text)
        for line, number in numbers(text):
            if plain(number) not in inside and not CITES.search(lines[line - 1]) and not sources.has(number, files):
                yield name, line, number


def main():
    findings = [f"{name}:{line}: {number} is in no file that the page names: bench/results, a test, a source"
                for name, line, number in missing(sys.argv[1])]
    tree.finish(findings, "numbers of the pages have a source")


if __name__ == "__main__":
    main()
