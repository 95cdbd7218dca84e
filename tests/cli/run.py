"""Tests of the command: answers, exit statuses, messages for every kind of bad input.

usage: run.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import json
import math
import os
import pty
import resource
import subprocess
import tempfile
import time

import residuals
from harness import (PROGRAM, ROOT, answers, check, check_run, rattleback, run_tests, sanitized,
                     stored)

GOOD_LCP = '{"name": "good", "M": [[2, 1], [1, 2]], "q": [-5, -6]}'
GOOD_FRICTION = '{"name": "good", "mu": 0.5, "W": [[1,0,0],[0,1,0],[0,0,1]], "q": [-1, 0.2, 0]}'


# ---- answers ----------------------------------------------------------------------------------


def check_lcp_answer(problem, answer, tol):
    residual, scale = residuals.lcp_residual(problem, answer["z"])
    name = f'{problem.get("name")} by {answer["solver"]}'
    check(abs(residual - answer["residual"]) <= 1e-13 * scale + 1e-12 * residual, name,
          "reports residual", answer["residual"], "but has", residual)
    check(math.isclose(answer["scale"], scale, rel_tol=1e-12), name, "scale", answer["scale"], scale)
    check((answer["status"] == "solved") <= (residual <= tol * scale * (1 + 1e-6)), name,
          "is called solved with", residual, "at scale", scale)
    check((answer["status"] == "ray") == ("ray" in answer), name, "status and ray disagree")
    if "ray" in answer:
        check(residuals.is_ray(problem, answer["ray"]), name, "returns no ray")


def check_friction_answer(problem, answer, tol):
    residual, u = residuals.friction_residual(problem, answer["r"])
    _, q, mu, _ = residuals.condensed(problem)
    name = f'{problem.get("name")} by {answer["solver"]}'
    rounding = residuals.friction_rounding(problem, answer["r"])
    check(max(abs(a - b) for a, b in zip(u, answer["u"])) <= rounding, name, "u differs")

    # the natural map moves by at most (2 + mu) for a change of u, and r - P(r - u) as written here
    # rounds by some units of the last place of r
    size = 4 * 2.0 ** -52 * max(map(abs, answer["r"]))
    norm_q = math.sqrt(math.fsum(x * x for x in q))
    slack = (2 + max(mu)) * math.sqrt(len(q)) * (rounding + size) / norm_q
    check(abs(residual - answer["residual"]) <= slack, name, "reports residual",
          answer["residual"], "but has", residual, "slack", slack)
    check((answer["status"] == "solved") <= (residual <= 2 * tol), name,
          "is called solved with", residual)
    words = {"open", "stick", "slide", "unknown"}
    check(len(answer["modes"]) == answer["nc"] and set(answer["modes"]) <= words, "modes", answer)


def problems_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def check_file(command, path, check_answer, tol, wanted_exit, *options):
    code, out, err = rattleback(command, "--json", *options, path)
    check(code == wanted_exit, f"exit {code}, wanted {wanted_exit}\n{err}")
    by_name = {p["name"]: p for p in problems_of(path)}
    seen = answers(out)
    for answer in seen:
        check_answer(by_name[answer["name"]], answer, tol)
    check({a["name"] for a in seen} == set(by_name), "a problem has no answer")
    check((code == 0) == all(a["status"] == "solved" for a in seen), "exit status", code)
    return seen


def test_own_lcps_are_solved():
    seen = check_file("lcp", "scenes/problems/lcp.jsonl", check_lcp_answer, 1e-9, 0)
    check([a["name"] for a in seen] ==
          [p["name"] for p in problems_of(os.path.join(ROOT, "scenes/problems/lcp.jsonl"))], "order")
    for key in ("name status z residual solver pivots scale relative min_z min_w gap rcond path "
                "unique islands time_us").split():
        check(all(key in a for a in seen), "key", key, "missing")
    z = next(a["z"] for a in seen if a["name"] == "two_rows")
    check(max(abs(z[0] - 4 / 3), abs(z[1] - 7 / 3)) < 1e-14, "two_rows gives", z)


def test_own_friction_problems_are_solved():
    seen = check_file("friction", "scenes/problems/friction.jsonl", check_friction_answer, 1e-8, 0)
    for key in "name status r u residual solver modes path time_us".split():
        check(all(key in a for a in seen), "key", key, "missing")
    modes = {a["name"]: a["modes"] for a in seen}
    check(modes["puck_sticks"] == ["stick"] and modes["puck_slides"] == ["slide"], modes)


def test_all_solvers_answer_honestly():
    for command, check_answer, tol in (("lcp", check_lcp_answer, 1e-9),
                                       ("friction", check_friction_answer, 1e-8)):
        path = os.path.join(ROOT, f"scenes/problems/{command}.jsonl")
        code, out, _ = rattleback(command, "--json", "--solver", "all", path)
        by_name = {p["name"]: p for p in problems_of(path)}
        seen = answers(out)
        for answer in seen:
            check_answer(by_name[answer["name"]], answer, tol)
        check(code == (0 if all(a["status"] == "solved" for a in seen) else 1), "exit", code)
        solvers = {a["solver"] for a in seen}
        check({"auto"} < solvers and len(solvers) >= 4, solvers)
        pairs = [(a["name"], a["solver"]) for a in seen]
        check(len(pairs) == len(set(pairs)), "one answer per problem and solver")


def test_stored_lcps_are_answered_honestly():
    for name in ("lcp/lcp.jsonl", "lcp/mlcp.jsonl", "lcp/generated.jsonl"):
        path = stored(name)
        if not path:
            continue
        by_name = {p["name"]: p for p in problems_of(path)}
        code, out, _ = rattleback("lcp", "--json", path)
        seen = answers(out)
        check(len(seen) == len(by_name) and code in (0, 1), "answers", len(seen), "exit", code)
        for answer in seen:
            problem = by_name[answer["name"]]
            check_lcp_answer(problem, answer, 1e-9)
            if problem.get("solvable") is False or problem.get("status") in ("infeasible",
                                                                             "nosolution"):
                check(answer["status"] != "solved", answer["name"], "has no solution")
            if problem.get("solvable") or problem.get("status") == "solvable" or (
                    problem.get("solution_ok") and "z" in problem):
                check(answer["status"] == "solved", answer["name"], "has a solution, got",
                      answer["status"], answer["path"])


def test_stored_friction_problems_are_answered_honestly():
    path = stored("friction_contact/problems.jsonl")
    if not path:
        return
    small = [p for p in problems_of(path) if p["nc"] <= 60]  # plain Python has to keep up
    text = "".join(json.dumps(p) + "\n" for p in small)
    code, out, _ = rattleback("friction", "--json", "-", text=text)
    seen = answers(out)
    check(len(seen) == len(small) and code in (0, 1), "answers", len(seen), "exit", code)
    for problem, answer in zip(small, seen):
        check_friction_answer(problem, answer, 1e-8)


def test_rays_and_failures_exit_1():
    text = '{"name": "no_solution", "M": [[-1]], "q": [-1]}\n' + GOOD_LCP
    code, out, _ = rattleback("lcp", "--json", "-", text=text)
    first, second = answers(out)
    check(code == 1 and first["status"] in ("ray", "failed") and second["status"] == "solved", out)
    check_lcp_answer(json.loads(text.splitlines()[0]), first, 1e-9)


def test_contradictions_are_named():
    text = '{"name": "x", "M": [[1,1,0],[1,1,0],[0,0,1]], "q": [1,2,-1], "is_comp": [0,0,1]}'
    out = check_run(rattleback("lcp", "-", text=text), 1)
    check("contradicts the other equalities" in out, out)
    answer = answers(check_run(rattleback("lcp", "--json", "-", text=text), 1))[0]
    check(answer["bad_row"] in (0, 1), answer)


def test_answers_repeat_to_the_bit():
    path = "scenes/problems/friction.jsonl"

    def run(*options):
        out = check_run(rattleback("friction", "--json", *options, path), 0)
        return [{k: v for k, v in a.items() if k != "time_us"} for a in answers(out)]

    check(run() == run("--repeat", "5"), "repeated solves differ")


def test_table_is_for_people():
    out = check_run(rattleback("lcp", "scenes/problems/lcp.jsonl"), 0)
    lines = out.splitlines()
    check(lines[0].split() == "name n solver status relative iterations time path".split(), lines[0])
    check(all(lines[k].startswith(n) for k, n in ((1, "two_rows"), (4, "box_friction"))), out)
    columns = {line.index("auto") for line in lines[1:6]}
    check(columns == {lines[0].index("solver")}, "columns are not aligned", columns)
    check(any(line.split()[:5] == ["auto", "5", "5", "0", "0"] for line in lines), "summary", out)


def test_names_cannot_reach_the_terminal():
    text = '{"name": "a\\u001b[31mb", "M": [[1]], "q": [1]}'
    out = check_run(rattleback("lcp", "-", text=text), 0)
    check("\x1b" not in out and "a?[31mb" in out, repr(out))
    out = check_run(rattleback("lcp", "--json", "-", text=text), 0)
    check("\x1b" not in out and answers(out)[0]["name"] == "a\x1b[31mb", repr(out))


# ---- usage ------------------------------------------------------------------------------------


def test_help_and_version():
    with open(os.path.join(ROOT, "include/rattleback/base.h"), encoding="utf-8") as header:
        version = header.read().split('RB_VERSION "')[1].split('"')[0]
    check(check_run(rattleback("--version"), 0) == f"rattleback {version}\n", "version")
    for args in (["--help"], ["-h"], ["help"], ["lcp", "--help"], ["friction", "-h"],
                 ["impact", "--help"], ["bench", "--help"]):
        out = check_run(rattleback(*args), 0)
        check("usage: rattleback" in out, args, out)
        check("bench" in args or "example: rattleback" in out, args, "shows no example")


def test_examples_of_the_help_work():
    for args in (["--help"], ["lcp", "--help"], ["friction", "--help"], ["impact", "-h"]):
        out = check_run(rattleback(*args), 0)
        example = out.split("example: rattleback ")[1].split("\n")[0]
        check_run(rattleback(*example.split()), 0)


def test_bad_usage_exits_2():
    check_run(rattleback(), 2, "usage: rattleback")
    check_run(rattleback("swim"), 2, "unknown command swim", "friction")
    check_run(rattleback("lcp"), 2, "expected a file, or - for standard input")
    check_run(rattleback("lcp", "--speed", "x"), 2, "unknown option --speed", "--tol", "--solver")
    check_run(rattleback("lcp", "--solver"), 2, "--solver: expected a value")
    check_run(rattleback("lcp", "--json=1", "x"), 2, "--json takes no value")
    check_run(rattleback("lcp", "--solver", "magic", "x"), 2, "no such solver", "lemke", "auto")
    check_run(rattleback("friction", "--solver", "lemke", "x"), 2, "does not take", "nsgs")
    for tol in ("0", "-1", "nan", "inf", "1e-9x", ""):
        check_run(rattleback("lcp", "--tol", tol, "x"), 2, "--tol", "expected a number > 0")
    for count in ("0", "-1", "1.5", "99999999999", "x", ""):
        check_run(rattleback("lcp", "--max-iter", count, "x"), 2, "--max-iter", "an integer 1 ..")
        check_run(rattleback("lcp", "--repeat", count, "x"), 2, "--repeat", "expected an integer")


def test_options_are_taken():
    for options in (["--tol=1e-6"], ["--tol", "1e-12", "--max-iter", "50"], ["--no-unique"],
                    ["--solver", "lemke"], ["--repeat=3"]):
        out = check_run(rattleback("lcp", "--json", *options, "-", text=GOOD_LCP), 0)
        answer = answers(out)[0]
        check("lemke" not in options or answer["solver"] == "lemke", answer)
        check("--no-unique" not in options or answer["unique"] == "off", answer)
    check_run(rattleback("lcp", "-", "--", "--json", text=GOOD_LCP), 2, "--json: cannot be opened")
    check_run(rattleback("lcp", "--tol", "1e-300", "--solver", "pgs", "--max-iter", "1", "-",
                         text=GOOD_LCP), 1)


# ---- bad input --------------------------------------------------------------------------------

BAD_LCP = [
    ("hello", "line: not JSON"),
    ("[]", "line: an array; expected one JSON object"),
    ("{", "truncated"),
    ('{"M": [[1, 2], [3, 4]], "q": [1, 2', "truncated"),
    ('{"M": [[1, 2], [3]], "q": [1, 2]}', "M[1]: 1 numbers; expected 2"),
    ('{"M": [[1, 2], [3, 4]], "q": [1]}', "q: 1 numbers; expected 2"),
    ('{"M": [[1, 2, 3], [3, 4, 5]], "q": [1, 2]}', "M: 2 x 3; expected a square matrix"),
    ('{"M": [[NaN]], "q": [1]}', "no NaN"),
    ('{"M": [[1]], "q": [Infinity]}', "no Infinity"),
    ('{"M": [[1]], "q": [1e999]}', "expected finite numbers"),
    ('{"n": 0, "M": [], "q": []}', "n: 0; expected an integer 1 .. 20000"),
    ('{"M": [], "q": []}', "M: no rows"),
    ('{"n": 100000, "M": [[1]], "q": [1]}', "n: 100000 is over the limit"),
    ('{"n": 100000, "M": {"rows": 100000, "cols": 100000, "i": [], "j": [], "v": []}, "q": [1]}',
     "n: 100000 is over the limit"),
    ('{"M": [[1]], "q": [1], "lo": [2], "hi": [1]}', "lo = 2 > hi = 1"),
    ('{"M": [["1"]], "q": [1]}', "M[0][0]: a string; expected a number"),
    ('{"q": [1]}', "M: missing"),
    ('{"M": [[1]]}', "q: missing"),
    ('{"M": [[1]], "q": [1], "q": [2]}', "give every key once"),
    (GOOD_FRICTION, "rattleback friction"),
]

BAD_FRICTION = [
    ("nonsense", "line: not JSON"),
    ('{"mu": -0.1, "W": [[1,0,0],[0,1,0],[0,0,1]], "q": [1,2,3]}', "mu: contact 0 has -0.1"),
    ('{"mu": [1, 1], "W": [[1,0,0],[0,1,0],[0,0,1]], "q": [1,2,3]}', "mu: 2 numbers; expected 1"),
    ('{"mu": 1, "W": [[1,0],[0,1]], "q": [1,2,3]}', "W: 2 x 2; expected 3 x 3"),
    ('{"mu": 1, "W": [[1,0,0],[0,NaN,0],[0,0,1]], "q": [1,2,3]}', "no NaN"),
    ('{"mu": 1, "W": [[1,0,0],[0,1,0],[0,0,1]], "q": []}', "q: empty"),
    ('{"mu": 1, "nc": 100000, "W": [[1,0,0],[0,1,0],[0,0,1]], "q": [1,2,3]}', "nc: "),
    ('{"mu": 1, "dim": 2, "M": [[0]], "H": [[1,0]], "f": [1], "w": [0,0]}', "M: singular"),
    (GOOD_LCP, "rattleback lcp"),
]


def check_bad_lines(command, cases, good):
    for bad, sentence in cases:
        # alone, from standard input
        check_run(rattleback(command, "-", text=bad), 2, "stdin:1: ", sentence)
        # in a file between good lines: the others are answered
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mixed.jsonl"), "w", encoding="utf-8") as out:
                out.write("\n".join([good, bad, "", good]))
            result = rattleback(command, "--json", "mixed.jsonl", cwd=folder)
            out = check_run(result, 2, "mixed.jsonl:2: ", sentence)
            check([a["status"] for a in answers(out)] == ["solved", "solved"], bad, out)
            check(result[2].count("\n") == 1, "one message per bad line", result[2])


def test_bad_lcp_lines():
    check_bad_lines("lcp", BAD_LCP, GOOD_LCP)


def test_bad_friction_lines():
    check_bad_lines("friction", BAD_FRICTION, GOOD_FRICTION)


# ---- impacts ----------------------------------------------------------------------------------


GOOD_IMPACT = ('{"im1":1,"iI1":[[250,0,0],[0,250,0],[0,0,250]],"r1":[0,0,-0.1],"v1":[3,0,-1],'
               '"w1":[0,0,0],"im2":0,"iI2":[[0,0,0],[0,0,0],[0,0,0]],"r2":[0,0,0],"v2":[0,0,0],'
               '"w2":[0,0,0],"n":[0,0,1],"mu":0.1,"e":0.5}')

BAD_IMPACT = [
    ("nonsense", "line: not JSON"),
    (GOOD_IMPACT.replace('"mu":0.1', '"mu":-1'), "mu: -1; expected a number 0 .. 1e+30"),
    (GOOD_IMPACT.replace('"e":0.5', '"e":2'), "e: 2; expected a number 0 .. 1"),
    (GOOD_IMPACT.replace('"n":[0,0,1]', '"n":[0,0,0]'), "n: length 0; expected a unit vector"),
    (GOOD_IMPACT.replace('"im1":1', '"im1":0').replace("250", "0"), "both bodies are fixed"),
    (GOOD_IMPACT.replace('"r1":[0,0,-0.1],', ""), "r1: missing"),
    (GOOD_IMPACT.replace("[[250,0,0]", "[[-250,0,0]"), "iI1: has a negative eigenvalue"),
]


def momentum_and_energy(line, answer):
    """Velocities after, from the impulse by the definitions, and the energy they have lost."""
    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    for body, sign in (("1", 1.0), ("2", -1.0)):
        p = [sign * x for x in answer["impulse_on_1"]]
        turn = cross(line["r" + body], p)
        v = [a + line["im" + body] * b for a, b in zip(line["v" + body], p)]
        w = [a + sum(i * t for i, t in zip(row, turn))
             for a, row in zip(line["w" + body], line["iI" + body])]
        yield body, v, w


def test_impacts_are_resolved():
    for law in ("poisson", "newton", "stronge"):
        out = check_run(rattleback("impact", "--json", "--restitution-law", law,
                                   "scenes/problems/impact.jsonl"), 0)
        with open(os.path.join(ROOT, "scenes/problems/impact.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(text) for text in file]
        for line, answer in zip(lines, answers(out)):
            check(answer["law"] == line.get("law", law), answer)
            for body, v, w in momentum_and_energy(line, answer):
                for name, wanted in (("v", v), ("w", w)):
                    got = answer[name + body]
                    check(all(abs(a - b) < 1e-12 * (1 + abs(b)) for a, b in zip(got, wanted)),
                          line["name"], name, got, wanted)
            check(law == "newton" or answer["dE"] <= 1e-15, answer)
    phases = answers(check_run(rattleback("impact", "--json", "-", text=GOOD_IMPACT), 0))[0]["phases"]
    check(phases == ["slide-compression", "slide-restitution"], phases)


def test_stored_impacts_are_met():
    path = stored("impacts/impacts.jsonl")
    if not path:
        return
    with open(path, encoding="utf-8") as file:
        wanted = [json.loads(line) for line in file]
    got = answers(check_run(rattleback("impact", "--json", path), 0))
    for a, b in zip(wanted, got):
        check(b["difference"] <= 1e-10 and a["phases"] == b["phases"], a["name"], b)


def test_bad_impacts():
    check_bad_lines("impact", BAD_IMPACT, GOOD_IMPACT)
    check_run(rattleback("impact"), 2, "expected a file")
    check_run(rattleback("impact", "--restitution-law", "hooke", "x"), 2, "poisson, newton or stronge")


def test_random_impacts():
    out = check_run(rattleback("bench", "impacts", "--count", "20000", "--json"), 0)
    check(json.loads(out)["failures"] == 0, out)


def test_every_prefix_of_a_line_is_refused():
    for k in range(1, len(GOOD_LCP)):
        code, _, err = rattleback("lcp", "-", text=GOOD_LCP[:k])
        check(code == 2 and "stdin:1: " in err, f"{GOOD_LCP[:k]!r}: exit {code} {err}")


def test_marks_and_line_ends():
    text = "\ufeff" + GOOD_LCP + "\r\n\r\n" + GOOD_LCP + "\r\n"
    check(len(answers(check_run(rattleback("lcp", "--json", "-", text=text), 0))) == 2, "answers")


def test_missing_empty_and_unreadable_files():
    check_run(rattleback("lcp", "no/such/file"), 2, "no/such/file: cannot be opened: No such file")
    check_run(rattleback("lcp", "."), 2, ".: cannot be read: Is a directory")
    check_run(rattleback("lcp", "-", text=""), 2, "stdin: no problem in it")
    check_run(rattleback("lcp", "-", text="\n \n"), 2, "stdin: no problem in it")
    code, out, _ = rattleback("lcp", "no/such/file", "--json", "-", text=GOOD_LCP)
    check(code == 2 and answers(out)[0]["status"] == "solved", "the other file is still solved")


def test_many_bad_lines_are_counted():
    code, _, err = rattleback("lcp", "-", text="x\n" * 1000)
    check(code == 2 and err.count("\n") == 21 and "980 more bad lines" in err, err[-200:])


def check_bounded(path, sentence):
    """Refused within seconds and 1 GiB of memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    begin = time.monotonic()
    done = subprocess.run([PROGRAM, "lcp", path], capture_output=True, timeout=120,
                          preexec_fn=None if sanitized() else limit)
    err = done.stderr.decode()
    check(done.returncode == 2 and sentence in err, done.returncode, err[:500])
    check(time.monotonic() - begin < 30, "took", time.monotonic() - begin, "s")


def test_lines_of_100_megabytes():
    cases = {
        "numbers": (b'{"M": [[', b"1,", b'1]], "q": [1]}'),
        "letters": (b"", b"x", b""),
        "brackets": (b"", b"[", b""),
        "objects": (b'{"a": [', b"{},", b"{}]}"),
        "string": (b'{"name": "', b"y", b'"}'),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "long.jsonl")
        for name, (begin, unit, end) in cases.items():
            with open(path, "wb") as out:
                out.write(begin + unit * (100_000_000 // len(unit)) + end + b"\n")
            check_bounded(path, "long.jsonl:1: line: over the limit of 64 MiB")
            # just below the limit of bytes the other budgets hold
            with open(path, "wb") as out:
                out.write(begin + unit * (60_000_000 // len(unit)) + end + b"\n")
            check_bounded(path, "long.jsonl:1: ")


def test_output_that_cannot_be_written():
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "lcp", "scenes/problems/lcp.jsonl"], stdout=full,
                                  stderr=subprocess.PIPE, cwd=ROOT)
        check(done.returncode == 2 and b"standard output" in done.stderr, done)
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([PROGRAM, "lcp", "scenes/problems/lcp.jsonl"], stdout=write_end,
                          stderr=subprocess.PIPE, cwd=ROOT)
    os.close(write_end)
    check(done.returncode == 2 and b"standard output" in done.stderr, done)


def test_progress_is_for_terminals():
    _, _, err = rattleback("lcp", "scenes/problems/lcp.jsonl")
    check(err == "", "stderr of a quiet run", repr(err))
    try:
        ours, theirs = pty.openpty()
    except OSError as why:
        print(f"    no terminal to be had here ({why}): the bar is not tested")
        return
    done = subprocess.run([PROGRAM, "lcp", "--json", "scenes/problems/lcp.jsonl"], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):  # a terminal hands over what it has at the time
            shown += chunk
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    check(b"100 %" in shown and b"5 problems" in shown, shown)
    check(len(answers(done.stdout.decode())) == 5, "the bar is not in the answers")


if __name__ == "__main__":
    run_tests(globals())
