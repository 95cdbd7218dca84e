"""What the core asks of the outside world, and what it shows to it.

The library prints nothing, never exits, reads no clock; of libm it uses only functions whose bits
are the same everywhere. Both are read from the symbol table, where no macro can hide them.

usage: symbols.py STATIC_LIBRARY SHARED_LIBRARY
"""
import re
import subprocess
import sys

import tree

LIBM_EXACT = "sqrt fabs fmin fmax floor ldexp frexp"
LIBC = ("malloc realloc free memcpy memmove memset memcmp strcmp strncmp strlen strchr strnlen "
        "snprintf vsnprintf abort")
ALLOWED = set((LIBM_EXACT + " " + LIBC).split())

# the compiler's own: stack protector, fortified copies, position-independent code, cpu dispatch
COMPILER = re.compile(r"_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__\w+_chk|__cpu_\w+|__gcov\w*"
                      r"|__cxa_finalize|__gmon_start__|_ITM_\w+|_init|_fini|__assert_fail")


def symbols(library, *options):
    answer = subprocess.run(["nm", *options, library], capture_output=True, text=True, check=True)
    for line in answer.stdout.splitlines():
        fields = line.split()
        if fields and not line.endswith(":"):
            yield fields[-1].split("@")[0]


def check_needs(names):
    return [f"the core calls {n}: not in the list of tests/checks/symbols.py"
            for n in sorted(set(names))
            if not n.startswith("rb_") and n not in ALLOWED and not COMPILER.fullmatch(n)]


def check_shows(names):
    return [f"the shared library exports {n}: exported names begin with rb_"
            for n in sorted(set(names))
            if not n.startswith("rb_") and not COMPILER.fullmatch(n)]


def main():
    static, shared = sys.argv[1:3]
    needs = list(symbols(static, "--undefined-only"))
    shows = list(symbols(shared, "--dynamic", "--defined-only"))
    findings = check_needs(needs) + check_shows(shows)
    if not shows:
        findings.append(f"{shared} exports nothing")
    outside = sorted({n for n in needs if not n.startswith("rb_")})
    tree.finish(findings, "the core needs only: " + " ".join(outside))


if __name__ == "__main__":
    main()
