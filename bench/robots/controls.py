"""The random controls of `rattleback run --ctrl-random`, number for number."""

MASK = (1 << 64) - 1


class Generator:
    """PCG32 as include/rattleback/base.h has it."""

    def __init__(self, seed):
        seed &= MASK
        self.state, self.stream = 0, ((seed << 1) | 1) & MASK
        self.next()
        self.state = (self.state + seed * 0x9e3779b97f4a7c15) & MASK
        self.next()

    def next(self):
        old = self.state
        self.state = (old * 6364136223846793005 + self.stream) & MASK
        x = (((old >> 18) ^ old) >> 27) & 0xffffffff
        turn = old >> 59
        return ((x >> turn) | (x << ((32 - turn) & 31))) & 0xffffffff

    def uniform(self, lo, hi):
        high, low = self.next() >> 5, self.next() >> 6
        return lo + float(high * 67108864 + low) / 9007199254740992.0 * (hi - lo)


def random_controls(seed, interval, ranges):
    """Controls of the interval-th HOLD seconds; a range per actuator, None where it has none."""
    generator = Generator(seed * 1000003 + interval)
    return [generator.uniform(*(r or (-1.0, 1.0))) for r in ranges]
