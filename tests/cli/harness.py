"""What the tests of the command share: running it, checking, reporting."""
import json
import os
import subprocess
import sys
import time

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("RATTLEBACK_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")


def rattleback(*args, text="", cwd=ROOT, timeout=300):
    done = subprocess.run([PROGRAM, *args], input=text.encode(), capture_output=True, cwd=cwd,
                          timeout=timeout)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def check_run(result, status, *sentences):
    code, out, err = result
    check(code == status, f"exit {code}, wanted {status}\n{out}{err}")
    for sentence in sentences:
        check(sentence in err, f"{sentence!r} is not in {err!r}")
    return out


def strict_json(line):
    def refuse(token):
        raise AssertionError(f"{token} is not JSON")
    return json.loads(line, parse_constant=refuse)


def answers(out):
    return [strict_json(line) for line in out.splitlines()]


def stored(name):
    path = os.path.join(SHARED, "data", name)
    if not os.path.exists(path):
        print(f"    no {path}: set RATTLEBACK_SHARED")
        return None
    return path


def sanitized():
    """Address sanitizers reserve terabytes of addresses: a limit would end them at once."""
    return b"__asan_init" in subprocess.run(["nm", PROGRAM], capture_output=True).stdout


def run_tests(names):
    """Runs the functions test_* of a module's globals, those that contain a word of the command
    line where there are some; ends the program."""
    wanted = sys.argv[2:]
    failed = 0
    tests = [(n, f) for n, f in names.items() if n.startswith("test_") and callable(f)]
    for name, test in tests:
        if wanted and not any(w in name for w in wanted):
            continue
        begin = time.monotonic()
        try:
            test()
            print(f"ok      {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except (AssertionError, subprocess.TimeoutExpired, ValueError, KeyError, OSError) as error:
            failed += 1
            print(f"FAILED  {name}: {error!r}", flush=True)
    sys.exit(1 if failed else 0)
