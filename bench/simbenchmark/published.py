"""The published errors of SimBenchmark: scene -> engine -> step [s] -> error. Versions of 2018, error
reduction off; the best variant of each engine. Quadruped: their robot, us per step on their machine."""

BIG = (0.1, 0.04, 0.01, 0.004, 0.001, 0.0004)


def row(*values, steps=BIG):
    return dict(zip(steps, values))


TABLES = {
    "rolling_y": {"RaiSim": {0.001: 4.08e-7}, "Bullet": {0.001: 7.26e-28}, "ODE": {0.001: 7.65e-9},
                  "MuJoCo": {0.001: 0.00236}, "DART": {0.001: 0.426}},
    "rolling_xy": {"RaiSim": {0.001: 4.09e-7}, "Bullet": {0.001: 3.85e-27}, "ODE": {0.001: 3.14},
                   "MuJoCo": {0.001: 0.00257}, "DART": {0.001: 3.14}},
    "bouncing": {"RaiSim": row(1.83e6, 4.74e4, 186, 4.76, 0.0186, 0.000477),
                 "ODE": row(2.03e6, 3.13e5, 1.88e4, 2.98e3, 185, 29.6),
                 "Bullet": row(7.68e8, 1.19e8, 7.41e6, 1.2e6, 7.52e4, 1.2e4),
                 "DART": row(7.67e8, 1.19e8, 7.38e6, 1.19e6, 7.23e4, 1.09e4)},
    "666": {"RaiSim": row(0.962, 0.25, 0.0153, 0.00211, 0.000135, 2.36e-5),
            "ODE": row(3.06, 0.237, 0.0161, 0.00208, 0.000155, 2.42e-5),
            "MuJoCo": row(11, 3.85, 0.933, 0.374, 0.095, 0.0392),
            "Bullet": row(2.78e5, 728, 37.4, 5.78, 0.382, 0.063),
            "DART": row(6.84, 1.37e3, 215, 9.29e3, 0.000282, 0.00718)},
    "elastic_666": {"RaiSim": row(1.19e8, 2.73e9, 5.18e6, 264, 8.37, 0.249),
                    "ODE": {0.1: 1.88e7, 0.01: 8.56e6, 0.004: 1.65e3, 0.001: 112, 0.0004: 17.5},
                    "Bullet": {0.1: 1.72e9, 0.01: 9.86e6, 0.004: 8.4e5, 0.001: 4.15e4,
                               0.0004: 3.56e3},
                    "DART": row(1.21e12, 5.96e9, 1.29e10, 6.61e6, 3.46e5, 5.24e4)},
    "quadruped": {"RaiSim": {0.005: 8.2}, "MuJoCo": {0.005: 35}, "Bullet": {0.005: 74},
                  "DART": {0.005: 117}, "ODE": {0.005: 462}},
}
