"""Certified complementarity solvers, problem files, single impacts."""
from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _lib
from ._lib import CError, FIELDS, RattlebackError, Status, lib
from ._shared import MOST, check_count
from .model import number, numbers, pointer

LCP, BOX, CONE = 1, 2, 4
MODES = ("unknown", "open", "stick", "slide", "upper")

p, i, d, s = ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_char_p
_err = ctypes.POINTER(CError)
for _name, _result, _arguments in (
        ("rb_flat_solve", i, [p, s, d, i, i, i, p, p, p, p, p, _err]),
        ("rb_flat_problem_open", p, [s, i, _err]),
        ("rb_flat_problem_next", i, [p, p, p, _err]),
        ("rb_flat_problem_free", None, [p]),
        ("rb_flat_problem_close", None, [p]),
        ("rb_flat_problem_write", i, [s, i, p, _err]),
        ("rb_impact_frame", None, [p, p]),
        ("rb_impact_bodies", None, [p, p, p, p]),
        ("rb_impact_check", i, [p, _err]),
        ("rb_impact_solve", i, [p, p]),
        ("rb_impact_certify", i, [p, p, p]),
        ("rb_impact_push", None, [p, p]),
        ("rb_impact_phase_name", s, [i])):
    getattr(lib, _name).restype = _result
    getattr(lib, _name).argtypes = _arguments
del p, i, d, s


class ProblemError(RattlebackError, ValueError):
    """A problem that is refused: sizes, numbers that are not finite, lo > hi, .."""


class Solution:
    """An answer and its certificate.

    z: impulses, also called r for friction; w: W z + q, also called u; status: "solved" (certified),
    "ray" (Lemke ended on a ray that was checked) or "failed" (z is the best found); residual: as the
    command reports it; ray: or None; mode: of each row or contact, the warm start of the next solve;
    certificate: everything that was measured; path, solver, iterations: how it was found.
    """

    def __init__(self, z: np.ndarray, w: np.ndarray, mode: np.ndarray, ray: np.ndarray,
                 info: np.void, solver: str, cone: bool):
        self.z = z
        self.w = w
        self.status = ("failed", "solved", "ray")[int(info["outcome"])]
        self.ray = ray if self.status == "ray" else None
        self.mode = mode
        self.solver = solver
        names = info["cert"].dtype.names or ()
        self.certificate = {n: float(info["cert"][n]) for n in names}
        self.residual = self.certificate["relative" if cone else "residual"]
        self.iterations = int(info["iterations"])
        self.path = info["path"].decode()
        self.unique = ("off", "plain", "chosen", "not")[int(info["unique"])]
        self.islands = int(info["islands"])
        self.bad_row = int(info["bad_row"])

    @property
    def r(self) -> np.ndarray:
        """Impulses, z."""
        return self.z

    @property
    def u(self) -> np.ndarray:
        """Velocities, w."""
        return self.w

    @property
    def solved(self) -> bool:
        """Whether it is certified."""
        return self.status == "solved"

    @property
    def modes(self) -> list[str]:
        """Of each row or contact: open, stick, slide, .."""
        return [MODES[m] for m in self.mode]

    def __repr__(self) -> str:
        return (f"<{self.status}: n {len(self.z)}, residual {self.residual:.1e}, {self.solver}, path "
                f"{self.path!r}, {self.iterations} iterations>")


class Problem(NamedTuple):
    """A problem of a file: an LCP (mu None), with bounds lo, hi where it has some, or a friction
    problem. W is an array, or a scipy.sparse matrix where the file has triplets and SciPy is there."""
    name: str
    W: Any
    q: np.ndarray
    mu: np.ndarray | None = None
    lo: np.ndarray | None = None
    hi: np.ndarray | None = None
    dim: int = 3
    expected: str = ""
    line: int = 0

    @property
    def M(self) -> Any:
        """W of an LCP."""
        return self.W

    def solve(self, **options: Any) -> Solution:
        """By solve_friction where it has mu, else by solve_lcp."""
        if self.mu is not None:
            return solve_friction(self.W, self.q, self.mu, dim=self.dim, **options)
        return solve_lcp(self.W, self.q, self.lo, self.hi, **options)


class _Flat:
    """rb_flat_problem and the arrays it points to."""

    def __init__(self, kind: int, n: int):
        size = _lib.struct_size("rb_flat_problem")
        self.buffer = (ctypes.c_uint64 * (size // 8 + 1))()
        self.address = ctypes.addressof(self.buffer)
        self.kept: list[Any] = []
        self.number("kind", kind)
        self.number("n", n)

    def number(self, name: str, value: int) -> None:
        at = self.address + FIELDS["rb_flat_problem"][name].offset
        ctypes.c_int.from_address(at).value = value

    def array(self, name: str, value: np.ndarray | None) -> None:
        if value is None:
            return
        self.kept.append(value)
        at = self.address + FIELDS["rb_flat_problem"][name].offset
        ctypes.c_void_p.from_address(at).value = value.__array_interface__["data"][0]

    def text(self, name: str, value: str) -> None:
        self.kept.append(value.encode())
        at = self.address + FIELDS["rb_flat_problem"][name].offset
        ctypes.c_char_p.from_address(at).value = self.kept[-1]

    def matrix(self, W: Any, block: int, name: str) -> None:
        n = W.shape[0]
        if not _is_sparse(W):
            self.array("dense", numbers(W, (n, n), name))
            return
        if W.dtype.kind not in "fiu":
            raise TypeError(f"{name}: expected numbers, not {W.dtype}")
        bsr = W.tocsr().tobsr((block, block)).astype(np.float64)
        bsr.sum_duplicates()
        bsr.sort_indices()
        self.number("bs", block)
        self.number("nptr", len(bsr.indptr))
        self.number("nblk", len(bsr.indices))
        self.number("nval", bsr.data.size)
        self.array("ptr", np.ascontiguousarray(bsr.indptr, np.int32))
        self.array("col", np.ascontiguousarray(bsr.indices, np.int32))
        self.array("val", np.ascontiguousarray(bsr.data))


def _is_sparse(W: Any) -> bool:
    return hasattr(W, "tocsr") and hasattr(W, "tobsr")


def _square(W: Any, name: str) -> Any:
    if not _is_sparse(W):
        W = np.asarray(W)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"{name}: expected a square matrix, not the shape {W.shape}")
    return W


def _lcp_problem(M: Any, q: Any, lo: Any, hi: Any) -> _Flat:
    M = _square(M, "M")
    n = M.shape[0]
    boxed = lo is not None or hi is not None
    flat = _Flat(BOX if boxed else LCP, n)
    flat.matrix(M, 1, "M")
    flat.array("q", numbers(q, (n,), "q"))
    if boxed:
        low = 0.0 if lo is None else numbers(lo, None, "lo")
        high = np.inf if hi is None else numbers(hi, None, "hi")
        flat.array("lo", _spread(low, n, "lo"))
        flat.array("hi", _spread(high, n, "hi"))
    return flat


def _spread(x: Any, n: int, name: str) -> np.ndarray:
    if np.ndim(x) and np.shape(x) != (n,):
        raise ValueError(f"{name}: expected one number, or the shape ({n},), not {np.shape(x)}")
    return np.ascontiguousarray(np.broadcast_to(np.asarray(x, np.float64), (n,)))


def _friction_problem(W: Any, q: Any, mu: Any, dim: int) -> _Flat:
    W = _square(W, "W")
    n = W.shape[0]
    if dim not in (2, 3):
        raise ValueError(f"dim: expected 2 or 3, not {dim!r}")
    if n % dim:
        raise ValueError(f"W: expected {dim} rows for each contact, not {n} in all")
    flat = _Flat(CONE, n)
    flat.number("nc", n // dim)
    flat.number("dim", dim)
    flat.matrix(W, dim, "W")
    flat.array("q", numbers(q, (n,), "q"))
    flat.array("mu", _spread(numbers(mu, None, "mu"), n // dim, "mu"))
    return flat


def _solve(flat: _Flat, n: int, rows: int, cone: bool, solver: str, tol: float, max_iter: int,
           warm: Solution | np.ndarray | None, unique: bool) -> Solution:
    z, w, ray, mode = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(max(n, 1), np.uint8)
    if isinstance(warm, Solution):
        if warm.z.shape != (n,) or warm.mode.shape != (rows,):
            raise ValueError(f"warm: the answer of a problem of {len(warm.z)} rows, not {n}")
        z[:], mode[:rows] = warm.z, warm.mode
    elif warm is not None:
        z[:] = numbers(warm, (n,), "warm")
    if not number(tol, "tol") > 0.0:
        raise ValueError(f"tol: expected a number > 0, not {tol}")
    max_iter = check_count(max_iter, "max_iter", 0, MOST)
    info, err = np.zeros(1, _lib.dtype_of("rb_info")), CError()
    status = lib.rb_flat_solve(flat.address, solver.encode(), tol, max_iter, warm is not None,
                               unique, pointer(z), pointer(w), pointer(mode), pointer(ray),
                               pointer(info), ctypes.byref(err))
    if status == Status.NOMEM:
        raise MemoryError("out of memory in a solve")
    if status:
        raise ProblemError(_lib.sentence(err, status), Status(status))
    return Solution(z, w, mode[:rows], ray, info[0], solver, cone)


def solve_lcp(M: Any, q: Any, lo: Any = None, hi: Any = None, *, solver: str = "auto",
              tol: float = 1e-9, max_iter: int = 0, warm: Solution | np.ndarray | None = None,
              unique: bool = True) -> Solution:
    """w = M z + q, z >= 0, w >= 0, z.w = 0; with bounds lo <= z <= hi where they are given (infinite
    ones are allowed: -inf and inf make a free variable and an equation).

    M: array or scipy.sparse matrix. solver: auto, lemke, murty, dantzig, judice-pires, pgs, ..; tol:
    relative residual to certify; warm: the answer of a problem like this one, or a guess of z;
    unique: where there are several answers, the limit of uniform compliance. The answer's `status`
    says whether it is certified: failing to solve raises nothing, a malformed problem does."""
    flat = _lcp_problem(M, q, lo, hi)
    n = len(np.asarray(q))
    return _solve(flat, n, n, False, solver, tol, max_iter, warm, unique)


def solve_friction(W: Any, q: Any, mu: Any, *, dim: int = 3, solver: str = "auto",
                   tol: float = 1e-8, max_iter: int = 0,
                   warm: Solution | np.ndarray | None = None, unique: bool = True) -> Solution:
    """u = W r + q with exact Coulomb cones: |r_t| <= mu r_n, contact triples (n, t1, t2), or pairs
    (n, t) with dim=2. mu: one number, or one for each contact. The rest as solve_lcp; solvers: auto,
    nsgs, newton, admm, .."""
    flat = _friction_problem(W, q, mu, dim)
    n = len(np.asarray(q))
    return _solve(flat, n, n // dim, True, solver, tol, max_iter, warm, unique)


# ---- files ---------------------------------------------------------------------------------------

def read_problems(path: str | os.PathLike[str], kind: str | None = None) -> Iterator[Problem]:
    """Problems of a file of JSON lines, "lcp" or "friction"; kind None: as its first line says. A bad
    line raises ProblemError with file and line; docs/manual/problem-files.md has the format."""
    path = os.fspath(path)
    if kind is None:
        kind = _guess_kind(path)
    if kind not in ("lcp", "friction"):
        raise ValueError(f"kind {kind!r}: expected lcp or friction")
    err = CError()
    reader = lib.rb_flat_problem_open(path.encode(), kind == "friction", ctypes.byref(err))
    if not reader:
        _lib.raise_model(err)
    return _read(reader)


def _guess_kind(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                try:
                    keys = json.loads(line)
                except ValueError:
                    break
                return "friction" if "mu" in keys else "lcp"
    return "lcp"


def _read(reader: int) -> Iterator[Problem]:
    try:
        while True:
            flat, entry, err = _Flat(LCP, 0), ctypes.c_void_p(), CError()
            status = lib.rb_flat_problem_next(reader, flat.address, ctypes.byref(entry),
                                              ctypes.byref(err))
            if status == Status.NOMEM:
                raise MemoryError("out of memory for a problem")
            if status:
                raise ProblemError(_lib.sentence(err, status), Status(status),
                                   err.file.decode(errors="replace"), err.line)
            if not entry.value:
                return
            try:
                yield _problem(flat.address)
            finally:
                lib.rb_flat_problem_free(entry)
    finally:
        lib.rb_flat_problem_close(reader)


def _problem(address: int) -> Problem:
    def array(name: str) -> np.ndarray | None:
        at = ctypes.c_void_p.from_address(address + FIELDS["rb_flat_problem"][name].offset)
        if not at.value:
            return None
        return _lib.field_view("rb_flat_problem", name, address, None).copy()

    def text(name: str) -> str:
        at = address + FIELDS["rb_flat_problem"][name].offset
        return (ctypes.c_char_p.from_address(at).value or b"").decode(errors="replace")

    def number(name: str) -> int:
        return _lib.read_int("rb_flat_problem", name, address)

    q, mu = array("q"), array("mu")
    assert q is not None
    return Problem(text("name"), _matrix(address, array), q, mu, array("lo"), array("hi"),
                   number("dim") or 3, text("expected"), number("line"))


def _matrix(address: int, array: Any) -> Any:
    bs = _lib.read_int("rb_flat_problem", "bs", address)
    if not bs:
        return array("dense")
    n = _lib.read_int("rb_flat_problem", "n", address)
    val, col, ptr = array("val"), array("col"), array("ptr")
    try:
        from scipy.sparse import bsr_matrix
    except ImportError:
        W = np.zeros((n, n))
        for row in range(n // bs):
            for k in range(ptr[row], ptr[row + 1]):
                W[row * bs:(row + 1) * bs, col[k] * bs:(col[k] + 1) * bs] = \
                    val[k * bs * bs:(k + 1) * bs * bs].reshape(bs, bs)
        return W
    return bsr_matrix((val.reshape(-1, bs, bs), col, ptr), shape=(n, n))


def write_problems(path: str | os.PathLike[str], problems: Iterable[Problem]) -> int:
    """Writes problems that read_problems and the command read back to the same bits; how many."""
    count = 0
    for problem in problems:
        if problem.mu is not None:
            flat = _friction_problem(problem.W, problem.q, problem.mu, problem.dim)
        else:
            flat = _lcp_problem(problem.W, problem.q, problem.lo, problem.hi)
        flat.text("name", problem.name)
        err = CError()
        if lib.rb_flat_problem_write(os.fspath(path).encode(), count > 0, flat.address,
                                     ctypes.byref(err)):
            raise ProblemError(_lib.sentence(err), Status(err.status or 2), err.file.decode())
        count += 1
    return count


# ---- single impacts ------------------------------------------------------------------------------

LAWS = ("poisson", "newton", "stronge")
_IMPACT_FIELDS = (*(f + k for k in "12" for f in ("im", "iI", "r", "v", "w")), "n", "mu", "e", "law",
                  "name")


class ImpactAnswer(NamedTuple):
    """What became of one frictional impact, world axes; signs as in the files of impacts: the
    normal points from body 2 to body 1, the impulse acts on body 1."""
    name: str
    status: str             # "solved": certified, else "failed"
    impulse_on_1: np.ndarray
    u_before: np.ndarray
    u_after: np.ndarray
    v1: np.ndarray
    w1: np.ndarray
    v2: np.ndarray
    w2: np.ndarray
    phases: list[str]
    energy: float           # change of the kinetic energy [J]
    certificate: dict[str, float]


def impact(problem: Any = None, *, law: str | None = None, **fields: Any) -> ImpactAnswer:
    """Resolves one frictional impact between two bodies.

    problem, or the same as keywords: im1, iI1 (3, 3), r1, v1, w1 of the first body (1/mass, inverse
    inertia, contact point minus centre of mass, velocities, world axes), im2, .. of the second (left
    out: fixed), n: normal from body 2 to body 1, mu, e, law: poisson, newton or stronge."""
    given = {**(problem or {}), **fields}
    if unknown := [k for k in fields if k not in _IMPACT_FIELDS]:
        raise TypeError(f"{', '.join(unknown)}: expected some of {', '.join(_IMPACT_FIELDS)}")
    if "n" not in given:
        raise ProblemError("n: expected the normal from body 2 to body 1")
    word = law or given.get("law") or "poisson"
    if word not in LAWS:
        raise ProblemError(f"law {word!r}: expected poisson, newton or stronge")
    bodies = [_impact_body(given, k) for k in ("1", "2")]
    n = numbers(given["n"], (3,), "n")
    R = np.empty(9)
    if not np.linalg.norm(n) > 0.0:
        raise ProblemError("n: expected a vector that has a length")
    lib.rb_impact_frame(pointer(n / np.linalg.norm(n)), pointer(R))
    problem_, err = np.zeros(1, _lib.dtype_of("rb_impact")), CError()
    problem_["mu"], problem_["e"] = float(given.get("mu", 0.0)), float(given.get("e", 0.0))
    problem_["law"] = LAWS.index(word)
    lib.rb_impact_bodies(pointer(bodies[1]), pointer(bodies[0]), pointer(R), pointer(problem_))
    if lib.rb_impact_check(pointer(problem_), ctypes.byref(err)):
        raise ProblemError(_lib.sentence(err))
    out = np.zeros(1, _lib.dtype_of("rb_impact_result"))
    status = lib.rb_impact_solve(pointer(problem_), pointer(out))
    if status:
        raise ProblemError("no impulse stops the approach: both bodies are fixed, or friction holds "
                           "the point against them" if status == Status.SINGULAR else
                           Status(status).text, Status(status))
    cert = np.zeros(1, _lib.dtype_of("rb_impact_certificate"))
    good = lib.rb_impact_certify(pointer(problem_), pointer(out), pointer(cert))
    axes = R.reshape(3, 3).T
    p_ = np.ascontiguousarray(axes @ out["p"][0])
    for body, sign in zip(bodies, (1.0, -1.0)):
        lib.rb_impact_push(pointer(body), pointer(sign * p_))
    phases = [lib.rb_impact_phase_name(int(k)).decode()
              for k in out["phase"][0][:int(out["nphase"][0])]]
    return ImpactAnswer(str(given.get("name", "")), "solved" if good else "failed", p_,
                        axes @ problem_["u"][0], axes @ out["u"][0], bodies[0]["v"][0].copy(),
                        bodies[0]["w"][0].copy(), bodies[1]["v"][0].copy(),
                        bodies[1]["w"][0].copy(), phases, float(out["energy"][0]),
                        {k: float(cert[k][0]) for k in cert.dtype.names or ()})


def _impact_body(given: dict[str, Any], k: str) -> np.ndarray:
    body = np.zeros(1, _lib.dtype_of("rb_impact_body"))
    body["im"] = float(given.get("im" + k, 0.0))
    body["iI"] = numbers(given.get("iI" + k, np.zeros((3, 3))), (3, 3), "iI" + k).reshape(9)
    for name in ("r", "v", "w"):
        body[name] = numbers(given.get(name + k, np.zeros(3)), (3,), name + k)
    return body
