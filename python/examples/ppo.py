"""Proximal policy optimisation in NumPy, on any of the environments with continuous actions.

    python python/examples/ppo.py --env Hopper --actions 1000000 --plot curve.svg

Two hidden layers of 64 for the policy and for the value, a Gaussian of fixed shape, generalised
advantages, observations normalised as they come. Everything that takes time is a Batch in C, or a
matrix product. Writes the learning curve as CSV, and draws it where Matplotlib is there.
"""
import argparse
import csv
import sys
import time

import gymnasium
import numpy as np

import rattleback.gym  # noqa: F401 - registers the environments


class Net:
    """tanh layers with their own Adam."""

    def __init__(self, sizes, rng, last=1.0):
        self.W = [rng.normal(size=(a, b)) / np.sqrt(a) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]
        self.W[-1] *= last
        self.m = [np.zeros_like(p) for p in self.parameters()]
        self.s = [np.zeros_like(p) for p in self.parameters()]
        self.t = 0

    def parameters(self):
        return self.W + self.b

    def forward(self, x):
        self.x = [x]
        for k, (W, b) in enumerate(zip(self.W, self.b)):
            x = x @ W + b
            if k < len(self.W) - 1:
                x = np.tanh(x)
            self.x.append(x)
        return x

    def backward(self, g):
        """Gradients of the parameters from that of the output."""
        dW, db = [None] * len(self.W), [None] * len(self.W)
        for k in reversed(range(len(self.W))):
            if k < len(self.W) - 1:
                g = g * (1.0 - self.x[k + 1] ** 2)
            dW[k], db[k] = self.x[k].T @ g, g.sum(0)
            g = g @ self.W[k].T
        return dW + db

    def descend(self, gradients, rate):
        self.t += 1
        size = np.sqrt(sum(np.sum(g * g) for g in gradients))
        scale = min(1.0, 0.5 / (size + 1e-12))
        for p, g, m, s in zip(self.parameters(), gradients, self.m, self.s):
            g = scale * g
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            p -= rate * (m / (1 - 0.9 ** self.t)) / (np.sqrt(s / (1 - 0.999 ** self.t)) + 1e-8)


class Normaliser:
    """Mean and variance of all that was seen."""

    def __init__(self, size):
        self.n, self.mean, self.M2 = 1e-4, np.zeros(size), np.ones(size) * 1e-4

    def add(self, x):
        n, mean = len(x), x.mean(0)
        delta, total = mean - self.mean, self.n + n
        self.mean += delta * n / total
        self.M2 += ((x - mean) ** 2).sum(0) + delta ** 2 * self.n * n / total
        self.n = total

    def __call__(self, x):
        return np.clip((x - self.mean) / np.sqrt(self.M2 / self.n + 1e-8), -10.0, 10.0)


class Agent:
    """Policy and value. The deviation of the actions shrinks as training goes on."""

    def __init__(self, observations, actions, rng):
        self.policy = Net([observations, 64, 64, actions], rng, 0.01)
        self.value = Net([observations, 64, 64, 1], rng)
        self.log_std = -0.5 * np.ones(actions)
        self.rng = rng

    def act(self, x):
        mean = self.policy.forward(x)
        noise = self.rng.normal(size=mean.shape)
        return mean + np.exp(self.log_std) * noise, self.log_p(noise), self.value.forward(x)[:, 0]

    def log_p(self, noise):
        return -0.5 * np.sum(noise ** 2, 1) - self.log_std.sum()

    def improve(self, x, a, old, advantage, target, rate, clip=0.2):
        """One step on a minibatch: the clipped objective, and squares of the value."""
        std = np.exp(self.log_std)
        noise = (a - self.policy.forward(x)) / std
        ratio = np.exp(self.log_p(noise) - old)
        use = ((advantage > 0) & (ratio < 1 + clip)) | ((advantage < 0) & (ratio > 1 - clip))
        weight = np.where(use, -ratio * advantage, 0.0) / len(x)
        self.policy.descend(self.policy.backward(weight[:, None] * noise / std), rate)
        error = self.value.forward(x)[:, 0] - target
        self.value.descend(self.value.backward(error[:, None] / len(x)), rate)


def advantages(rewards, values, last, over, discount=0.99, decay=0.95):
    out, carry = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        following = last if t == len(rewards) - 1 else values[t + 1]
        going = 1.0 - over[t]
        carry = rewards[t] + discount * following * going - values[t] + discount * decay * going * carry
        out[t] = carry
    return out


def train(name, actions, envs=64, horizon=128, seed=0, threads=2, quiet=False, rate=3e-4):
    """Rows (actions, seconds, mean return of the last 100 episodes) and the agent."""
    worlds = gymnasium.make_vec(f"rattleback/{name}-v0", num_envs=envs, threads=threads)
    rng = np.random.default_rng(seed)
    agent = Agent(worlds.single_observation_space.shape[0], worlds.single_action_space.shape[0], rng)
    normal = Normaliser(worlds.single_observation_space.shape[0])
    raw, _ = worlds.reset(seed=seed)
    returns, finished, curve, begin = np.zeros(envs), [], [], time.time()
    rounds = max(1, actions // (envs * horizon))
    fresh = np.zeros(envs, bool)        # the step behind an end is a reset, not a step
    for k in range(rounds):
        rows = []
        for _ in range(horizon):
            normal.add(raw)
            x = normal(raw)
            a, log_p, value = agent.act(x)
            raw, reward, ends, late, _ = worlds.step(np.clip(a, -1, 1).astype(np.float32))
            rows.append((x, a, log_p, value, reward, ends | late, ~fresh))
            returns += reward
            fresh = ends | late
            finished += list(returns[fresh])
            returns[fresh] = 0.0
        x, a, log_p, value, reward, over, use = map(np.array, zip(*rows))
        last = agent.value.forward(normal(raw))[:, 0]
        gain = advantages(reward, value, last, over)
        target, use = gain + value, use.ravel()
        flat = [v.reshape(-1, *v.shape[2:])[use] for v in (x, a, log_p, gain, target)]
        flat[3] = (flat[3] - flat[3].mean()) / (flat[3].std() + 1e-8)
        left = 1.0 - k / rounds
        for _ in range(5):
            for part in np.array_split(rng.permutation(len(flat[0])), 16):
                agent.improve(*(v[part] for v in flat), rate * left)
        agent.log_std[:] = -0.5 - 1.0 * (1.0 - left)
        mean = float(np.mean(finished[-100:])) if finished else float("nan")
        curve.append(((k + 1) * envs * horizon, time.time() - begin, mean))
        if not quiet and (k % 10 == 0 or k == rounds - 1):
            print(f"{curve[-1][0]:9d} actions  {curve[-1][1]:6.1f} s  return {mean:8.1f}", flush=True)
    return curve, agent


def plot(curve, name, path):
    try:
        import matplotlib
    except ImportError:
        sys.exit("--plot needs matplotlib: pip install 'rattleback[plot]'")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(6, 3.5))
    axes.plot([c[0] for c in curve], [c[2] for c in curve])
    axes.set_xlabel("actions")
    axes.set_ylabel("mean return of 100 episodes")
    axes.set_title(f"rattleback/{name}-v0, PPO in NumPy, {curve[-1][1]:.0f} s")
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Hopper", choices=sorted(rattleback.gym.TASKS))
    parser.add_argument("--actions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--csv", help="learning curve")
    parser.add_argument("--plot", help="the same as a figure")
    options = parser.parse_args()
    curve, _ = train(options.env, options.actions, seed=options.seed, threads=options.threads)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("actions", "seconds", "return"), *curve])
    if options.plot:
        plot(curve, options.env, options.plot)


if __name__ == "__main__":
    main()
