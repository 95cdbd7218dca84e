"""A small reader of Markdown: fenced blocks, links, headings."""
import re
from dataclasses import dataclass

FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(.*)$")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
REFERENCE = re.compile(r"^\s*\[[^\]]+\]:\s*<?(\S+?)>?(\s|$)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


@dataclass
class Block:
    """One fenced block: ```WORDS, its first line in the file, its text."""
    words: list
    line: int
    text: str
    output: str = None          # text of an ```output block that follows, if any

    @property
    def language(self):
        return self.words[0] if self.words else ""


def split(text):
    """Returns (blocks, prose) where prose is a list of (line number, line) outside fences."""
    blocks, prose, fence, body, start = [], [], None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, indent, words = match.group(2), len(match.group(1)), match.group(3).split()
            body, start = [], number + 1
        elif fence is not None and match and match.group(2).startswith(fence) \
                and not match.group(3):
            blocks.append(Block(words, start, "\n".join(body) + "\n"))
            fence = None
        elif fence is not None:
            body.append(line[min(indent, len(line) - len(line.lstrip())):])
        else:
            prose.append((number, line))
    return attach_outputs(blocks), prose


def attach_outputs(blocks):
    """An ```output block is what the block before it must print."""
    kept = []
    for block in blocks:
        if block.language == "output" and kept:
            kept[-1].output = block.text
        else:
            kept.append(block)
    return kept


def links(prose):
    """Yields (line number, target) of every link in the prose; code spans are no links."""
    for number, line in prose:
        line = re.sub(r"`[^`]*`", "", line)
        for match in LINK.finditer(line):
            yield number, match.group(1)
        match = REFERENCE.match(line)
        if match:
            yield number, match.group(1)


def anchors(prose):
    """The fragments that the headings of a page can be reached by."""
    found = set()
    for _, line in prose:
        match = HEADING.match(line)
        if match:
            words = re.sub(r"[^\w\- ]", "", match.group(1).lower())
            found.add(words.replace(" ", "-"))
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found
