"""No dead link inside the repository: files exist, fragments name a heading.

Links that leave the repository are not followed; tests need no network.

usage: links.py ROOT
"""
import os
import sys

import markdown
import tree


def check(root, names):
    findings, count = [], 0
    pages = {n: markdown.split(tree.read(root, n))[1] for n in names}
    for name, prose in pages.items():
        for number, target in markdown.links(prose):
            if "://" in target or target.startswith("mailto:"):
                continue
            count += 1
            sentence = judge(root, name, target, pages)
            if sentence:
                findings.append(f"{name}:{number}: {sentence}")
    return findings, count


def judge(root, name, target, pages):
    path, _, fragment = target.partition("#")
    page = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    if page.startswith("..") or os.path.isabs(page):
        return f"{target} leaves the repository"
    if not os.path.exists(os.path.join(root, page)):
        return f"{target} does not exist"
    if fragment and page in pages and fragment not in markdown.anchors(pages[page]):
        return f"{page} has no heading #{fragment}"
    return None


def main():
    root = sys.argv[1]
    names = tree.markdown_files(root)
    findings, count = check(root, names)
    tree.finish(findings, f"{count} links in {len(names)} pages lead somewhere")


if __name__ == "__main__":
    main()
