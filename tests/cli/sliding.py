"""Coulomb's law for a block that slides and spins on legs, by Runge-Kutta: the second method behind
the numbers in cli/reproduce/cube.c.

The block stays upright. Loads balance weight and the moments of friction at the height of the centre;
where more than three legs stand they share the load as equally soft ones do, N = a + b x + c y.
"""
import math


def solve3(A, b):
    """A x = b by Cramer's rule."""
    def det(m):
        return (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
                - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]))
    whole = det(A)
    return [det([[b[i] if j == k else A[i][j] for j in range(3)] for i in range(3)]) / whole
            for k in range(3)]


def loads(legs, slip, mu, height, weight):
    """Legs that would pull are left out."""
    standing = list(range(len(legs)))
    while True:
        A = [[0.0] * 3 for _ in range(3)]
        for i in standing:
            (x, y), (dx, dy) = legs[i], slip[i]
            balance = (1.0, x - mu * height * dx, y - mu * height * dy)
            for row in range(3):
                for k, basis in enumerate((1.0, x, y)):
                    A[row][k] += balance[row] * basis
        a, b, c = solve3(A, (weight, 0.0, 0.0))
        N = [0.0] * len(legs)
        for i in standing:
            N[i] = a + b * legs[i][0] + c * legs[i][1]
        worst = min(standing, key=lambda i: N[i])
        if N[worst] >= 0.0 or len(standing) == 3:
            return N
        standing.remove(worst)


def rate(state, legs, mu, mass, inertia, height, gravity):
    _, _, angle, vx, vy, omega = state
    c, s = math.cos(angle), math.sin(angle)
    at = [(c * x - s * y, s * x + c * y) for x, y in legs]
    slip = []
    for x, y in at:
        ux, uy = vx - omega * y, vy + omega * x
        speed = math.hypot(ux, uy)
        slip.append((ux / speed, uy / speed))
    N = loads(at, slip, mu, height, mass * gravity)
    force = [(-mu * n * dx, -mu * n * dy) for n, (dx, dy) in zip(N, slip)]
    return (vx, vy, omega, sum(f[0] for f in force) / mass, sum(f[1] for f in force) / mass,
            sum(x * f[1] - y * f[0] for (x, y), f in zip(at, force)) / inertia)


def slide(legs, mu, h, speed=5.0, omega=2.0 * math.pi, height=0.5, mass=1.0, inertia=1.0 / 6.0,
          gravity=9.81):
    """Time, and (x, y, angle) where the energy is spent."""
    def energy(x):
        return 0.5 * mass * (x[3] ** 2 + x[4] ** 2) + 0.5 * inertia * x[5] ** 2

    def moved(x, k, t):
        return tuple(a + t * b for a, b in zip(x, k))

    def f(x):
        return rate(x, legs, mu, mass, inertia, height, gravity)

    state, time = (0.0, 0.0, 0.0, 0.0, speed, omega), 0.0
    while True:
        k1 = f(state)
        k2 = f(moved(state, k1, h / 2))
        k3 = f(moved(state, k2, h / 2))
        k4 = f(moved(state, k3, h))
        after = tuple(x + h / 6 * (a + 2 * b + 2 * c + d)
                      for x, a, b, c, d in zip(state, k1, k2, k3, k4))
        if energy(after) > energy(state) or energy(after) < 1e-9:
            return time, state[:3]
        state, time = after, time + h
