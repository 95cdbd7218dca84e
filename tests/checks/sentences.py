"""Length of the documents: words, and the median number of words in a sentence, of all pages and of each.

Sentences are those of paragraphs and list items, of at least four words, and end with a full stop, a question mark
or a colon before code or a table. Tables, code, generated parts, headings and link targets are left out.

usage: sentences.py ROOT [--pages]       --pages lists each page
"""
import re
import statistics
import sys

import markdown
import tree

LIMIT = 20          # median words in a sentence, of all pages together
PAGE_LIMIT = 22     # of one page with MANY sentences
MANY = 10
LEAST = 4           # fewer words are a label, not a sentence
GENERATED = re.compile(r"<!-- results: .*?<!-- end of results -->", re.DOTALL)
WRITTEN = ("docs/design/results.md",)   # by a command as a whole


def sentences(text):
    """The sentences of a page, as lists of words."""
    _, prose = markdown.split(GENERATED.sub("", text))
    blocks, current = [], []
    for _, line in prose:
        bare = line.strip()
        if bare.startswith("|"):
            blocks.append(" ".join(current))
            current = []
        elif not bare or bare.startswith(("#", "!", "<")) or line.startswith("    "):
            blocks.append(" ".join(current))
            current = []
        elif re.match(r"([-*]|\d+\.) ", bare):
            blocks.append(" ".join(current))
            current = [bare.split(" ", 1)[1]]
        else:
            current.append(bare)
    blocks.append(" ".join(current))
    for block in blocks:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block)
        plain = re.sub(r"`[^`]*`", "CODE", plain)
        for sentence in re.split(r"(?<=[.?!])[*)]*\s+(?=[A-Z*\[\"(])", plain):
            words = sentence.split()
            if len(words) >= LEAST:
                yield words


def pages(root):
    return [n for n in tree.markdown_files(root)
            if n not in WRITTEN and (n.startswith("docs/") or n in ("README.md", "CONTRIBUTING.md"))]


def main():
    root = sys.argv[1]
    lengths = {n: [len(s) for s in sentences(tree.read(root, n))] for n in pages(root)}
    words = sum(len(tree.read(root, n).split()) for n in tree.markdown_files(root) if n.startswith("docs/"))
    everything = [length for page in lengths.values() for length in page]
    median = statistics.median(everything)
    if "--pages" in sys.argv:
        for name, page in sorted(lengths.items(), key=lambda e: -statistics.median(e[1] or [0])):
            print(f"{statistics.median(page or [0]):5.1f} {max(page or [0]):4d} {len(page):5d}  {name}")
    findings = [f"docs: median sentence of {median:g} words; expected below {LIMIT}"] if median >= LIMIT else []
    findings += [f"{name}: median sentence of {statistics.median(page):g} words; expected at most {PAGE_LIMIT}"
                 for name, page in lengths.items() if len(page) >= MANY and statistics.median(page) > PAGE_LIMIT]
    tree.finish(findings, f"{len(everything)} sentences, median {median:g} words; docs/ has {words} words")


if __name__ == "__main__":
    main()
