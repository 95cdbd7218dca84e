"""Residuals of complementarity answers, recomputed from the problem line and the answer alone.

Plain Python, exact sums (math.fsum), nothing shared with the C code.
"""
import math


def dense(matrix):
    """A list of rows from either form of a matrix."""
    if isinstance(matrix, list):
        return matrix
    rows = [[0.0] * matrix["cols"] for _ in range(matrix["rows"])]
    for i, j, v in zip(matrix["i"], matrix["j"], matrix["v"]):
        rows[i][j] += v
    return rows


def times(rows, x):
    return [math.fsum(a * b for a, b in zip(row, x)) for row in rows]


def solve(rows, b):
    """Gauss elimination with row exchanges."""
    a = [list(row) + [value] for row, value in zip(rows, b)]
    n = len(a)
    for c in range(n):
        best = max(range(c, n), key=lambda i: abs(a[i][c]))
        a[c], a[best] = a[best], a[c]
        for i in range(c + 1, n):
            factor = a[i][c] / a[c][c]
            if factor:
                a[i] = [x - factor * y for x, y in zip(a[i], a[c])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - math.fsum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


# ---- linear, boxed, mixed ---------------------------------------------------------------------


def bounds(problem, n):
    if "is_comp" in problem:
        return [0.0 if c else -math.inf for c in problem["is_comp"]], [math.inf] * n

    def side(key, missing, unbounded):
        if key not in problem:
            return [missing] * n
        values = problem[key] if problem[key] is not None else [None] * n
        return [unbounded if x is None else x for x in values]

    return side("lo", 0.0, -math.inf), side("hi", math.inf, math.inf)


def lcp_residual(problem, z):
    """(largest |mid(z - lo, w, z - hi)|, scale)"""
    M, q, n = dense(problem["M"]), problem["q"], len(problem["q"])
    lo, hi = bounds(problem, n)
    w = [math.fsum([a * b for a, b in zip(row, z)] + [c]) for row, c in zip(M, q)]
    residual = max(abs(sorted((z[i] - lo[i], w[i], z[i] - hi[i]))[1]) for i in range(n))
    largest = max(abs(x) for row in M for x in row)
    scale = max(1.0, max(map(abs, q)), largest * max(1.0, max(map(abs, z))))
    return residual, scale


def is_ray(problem, ray):
    """Eq. (C.5): ray >= 0, not 0, M ray >= 0, ray_i (M ray)_i = 0, up to rounding."""
    M = dense(problem["M"])
    size = max(map(abs, ray))
    largest = max(1.0, max(abs(x) for row in M for x in row))
    image = times(M, ray)
    slack = 1e-9 * largest * size
    return (size > 0.0 and min(ray) >= 0.0 and min(image) >= -slack
            and all(abs(a * b) <= slack * size for a, b in zip(ray, image)))


# ---- friction ---------------------------------------------------------------------------------


def condensed(problem):
    """(W, q, mu, dim) of a local or global problem."""
    dim = problem.get("dim", 3)
    if "W" in problem:
        W, q = dense(problem["W"]), problem["q"]
    else:
        M, H = dense(problem["M"]), dense(problem["H"])
        columns = [[row[c] for row in H] for c in range(len(H[0]))]
        solved = [solve(M, column) for column in columns]
        W = [[math.fsum(a * b for a, b in zip(column, x)) for x in solved] for column in columns]
        shift = times(columns, solve(M, problem["f"]))
        q = [a + b for a, b in zip(problem["w"], shift)]
    mu = problem["mu"]
    return W, q, mu if isinstance(mu, list) else [mu] * (len(q) // dim), dim


def project(x, mu):
    """The nearest point of {|x_t| <= mu x_n}."""
    normal, length = x[0], math.hypot(*x[1:])
    if length <= mu * normal:
        return list(x)
    if normal + mu * length <= 0.0:
        return [0.0] * len(x)
    top = (normal + mu * length) / (1.0 + mu * mu)
    return [top] + [mu * top * t / length for t in x[1:]]


def friction_residual(problem, r):
    """(|r - P(r - (u + mu |u_t| n))| / |q|, u)"""
    W, q, mu, dim = condensed(problem)
    u = [math.fsum([a * b for a, b in zip(row, r)] + [c]) for row, c in zip(W, q)]
    parts = []
    for c, coefficient in enumerate(mu):
        at = slice(c * dim, (c + 1) * dim)
        r_c, s_c = r[at], list(u[at])
        s_c[0] += coefficient * math.hypot(*u[at][1:])
        p_c = project([a - b for a, b in zip(r_c, s_c)], coefficient)
        parts += [a - b for a, b in zip(r_c, p_c)]
    norm_q = math.sqrt(math.fsum(x * x for x in q))
    return math.sqrt(math.fsum(x * x for x in parts)) / norm_q, u


def condition(rows):
    """|A| |A^-1| in the largest row sum."""
    n = len(rows)
    inverse = [solve(rows, [float(i == c) for i in range(n)]) for c in range(n)]  # its columns
    norm = max(math.fsum(map(abs, row)) for row in rows)
    return norm * max(math.fsum(abs(column[i]) for column in inverse) for i in range(n))


def friction_rounding(problem, r):
    """How far two evaluations of u in double precision may differ [units of u]: a unit in the last
    place of the largest sum of |W_ij r_j|, times what solving with M loses."""
    W, q, _, _ = condensed(problem)
    sizes = [math.fsum(abs(a * b) for a, b in zip(row, r)) + abs(c) for row, c in zip(W, q)]
    loss = condition(dense(problem["M"])) if "M" in problem else 1.0
    return 2.0 ** -51 * max(sizes) * loss
