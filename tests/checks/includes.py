"""Dependencies point one way.

base <- math <- {solve, model} <- {dynamics, collide} <- {contact, sense} <- options <- correct <- step <- events; io uses model, solve and,
for files that speak in terms of the inertia of the finished model, dynamics;
front, poses and show stand beside io, in its library, and use all of it;
cli, bench, fuzz use the public headers only, and so does flat, which shares the threads of cli. Core rooms know the C
standard library and nothing else. Headers do not include each other in a circle.

usage: includes.py ROOT
"""
import os
import re
import sys

import tree

LEVEL = {"base": 0, "math": 1, "solve": 2, "model": 2, "dynamics": 3, "collide": 3,
         "contact": 4, "sense": 4, "options": 5, "correct": 6, "step": 7, "events": 8}
IO_MAY_USE = {"base", "math", "model", "solve", "dynamics"}
BESIDE_IO = {"front", "poses", "show"}    # of the same library: public headers, and what io offers

# Jansson, Expat, Qhull: design decision, formats may use libraries
IO_LIBRARIES = re.compile(r"(jansson|expat|png|libqhull_r/.*)\.h")

# the generated corpus, bench/*.c, is a library of its own that these share with the tests
CORPUS_USERS = ("cli", "bench", "fuzz")

C_STANDARD = {h + ".h" for h in (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
    "threads time uchar wchar wctype").split()}

# vector kernels may be written with intrinsics, beside their scalar twin
INTRINSICS = {"immintrin.h", "arm_neon.h"}

# contact reads the options of a step, rb_step_opts, and declares them for its formulations
OPTIONS = ("src/contact/contact.h", "rattleback/step.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def room_of(name):
    """The room a file belongs to: 'solve' for src/solve/*, 'cli', 'bench', 'include', ..."""
    parts = name.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def public_room(target):
    """rattleback/solve.h belongs to the room solve, spec.h to model, impact.h to contact,
    sensor.h to sense, step.h, which has the options of a step, to options; rattleback.h to nobody."""
    name = os.path.basename(target)[:-2]
    return {"spec": "model", "load": "io", "impact": "contact", "sensor": "sense", "step": "options"}.get(name, name)


def allowed_rooms(room):
    if room == "io":
        return IO_MAY_USE | {"io"}
    if room in BESIDE_IO:
        return set(LEVEL) | BESIDE_IO | {"io"}
    below = {r for r, level in LEVEL.items() if level < LEVEL[room]}
    return below | {room}


def judge_flat(target, quote):
    """A file in src/flat: public headers, its own room, the pool and the page of cli."""
    ok = target.startswith(("rattleback/", "flat/")) or target in ("pool.h", "bundle.h") or \
        (quote == "<" and target in C_STANDARD)
    return None if ok else f"flat uses public headers and its own room only, not {target}"


def judge_src(name, quote, target, siblings):
    """A file in src/: None, or a sentence about this include."""
    room = room_of(name)
    if room == "flat":
        return judge_flat(target, quote)
    if target.startswith("rattleback/"):
        owner = public_room(target)
        ok = owner in allowed_rooms(room) or (name, target) == OPTIONS
        return None if ok else f"{room} may not know {target}"
    if quote == '"':
        owner = target.split("/")[0] if "/" in target else room
        if owner not in LEVEL and owner not in BESIDE_IO | {"io"}:
            return f'"{target}" is in no room of src/'
        if owner not in allowed_rooms(room):
            return f"{room} may not include from {owner}: {target}"
        if "/" not in target and target not in siblings:
            return f'"{target}" is not beside this file'
        return None
    if room != "io":
        ok = target in C_STANDARD or (room == "math" and target in INTRINSICS)
        return None if ok else f"core rooms use the C standard library only, not <{target}>"
    ok = target in C_STANDARD or target in ("fcntl.h", "unistd.h", "sys/types.h", "sys/stat.h")
    return None if ok or IO_LIBRARIES.fullmatch(target) else f"io may not use <{target}>"


def judge_user(name, quote, target, own, corpus):
    """A file in cli/, bench/, fuzz/ or include/: public headers and the headers of its own folder, `own`."""
    room = room_of(name)
    if target.startswith("rattleback/"):
        return None
    if quote == "<":
        ok = room != "include" or target in C_STANDARD
        return None if ok else f"public headers use the C standard library only, not <{target}>"
    if target in own or (room in CORPUS_USERS and target in corpus):
        return None
    return f"{room} uses public headers and its own folder only, not \"{target}\""


def judge(name, quote, target, siblings, corpus):
    if name.startswith("src/"):
        return judge_src(name, quote, target, siblings)
    if name.split("/")[0] in ("cli", "bench", "fuzz", "include"):
        return judge_user(name, quote, target, siblings, corpus)
    return None


def resolve(name, target, names):
    """The repository path an include means, or None."""
    for candidate in (os.path.join(os.path.dirname(name), target), "src/" + target,
                      "include/" + target, "bench/" + target, "cli/" + target):
        if candidate in names:
            return candidate
    return None


def find_cycle(graph):
    """A list of files that include each other in a circle, or None."""
    state = {}

    def visit(node, path):
        state[node] = "open"
        for after in graph.get(node, ()):
            if state.get(after) == "open":
                return path[path.index(after):] + [after] if after in path else [node, after]
            if after not in state:
                found = visit(after, path + [after])
                if found:
                    return found
        state[node] = "done"
        return None

    for node in sorted(graph):
        if node not in state:
            found = visit(node, [node])
            if found:
                return found
    return None


def headers_in(folder, files):
    return {os.path.basename(n) for n in files if os.path.dirname(n) == folder}


def headers_below(folder, files):
    """The command includes its headers by their path below cli/: "run/run.h"."""
    return {n[len(folder) + 1:] for n in files if n.startswith(folder + "/") and n.endswith(".h")}


def check(files):
    """files: {path: text}. Findings as sentences."""
    findings, graph = [], {}
    corpus = headers_in("bench", files)
    command = headers_below("cli", files)
    for name, text in files.items():
        siblings = command if name.startswith("cli/") else headers_in(os.path.dirname(name), files)
        for number, quote, target in includes_of(text):
            if ".." in target.split("/"):
                findings.append(f"{name}:{number}: no '..' in includes: {target}")
                continue
            sentence = judge(name, quote, target, siblings, corpus)
            if sentence:
                findings.append(f"{name}:{number}: {sentence}")
            inside = quote == '"' or target.startswith("rattleback/")
            found = resolve(name, target, files) if inside else None
            if found:
                graph.setdefault(name, []).append(found)
    cycle = find_cycle(graph)
    if cycle:
        findings.append("includes go in a circle: " + " -> ".join(cycle))
    return findings


def main():
    root = sys.argv[1]
    files = {n: tree.read(root, n) for n in tree.c_files(root)}
    tree.finish(check(files), f"{len(files)} files include in the right direction")


if __name__ == "__main__":
    main()
