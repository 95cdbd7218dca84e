"""A study on a real local Ray cluster of two workers, one of which is killed in the middle.

Run by `make test-python-long`; needs Ray. Starts a head and two nodes of one CPU each by `ray start`,
kills the processes of one node, and checks that every item is in the result exactly once, with the
results of another executor.
"""
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

import rattleback as rb
from rattleback.studies import RayExecutor

SCENE = os.path.join(os.path.dirname(__file__), "../../scenes/robots/quadruped.xml")


def item(sample, seed):
    """A drop from a random height, slow enough that a node can die within."""
    rng = np.random.default_rng(seed)
    sim = rb.Sim(rb.Model.load(sample["scene"]))
    sim.q[2] += rng.uniform(0.0, 0.1)
    sim.step(200)
    time.sleep(sample["sleep"])
    return {"hash": sim.hash, "height": float(sim.q[2])}


class Node:
    """`ray start --block`: a worker node in a process group of its own."""

    def __init__(self, address, folder):
        command = [os.path.join(os.path.dirname(sys.executable), "ray"), "start", "--address",
                   address, "--num-cpus", "1", "--block", "--disable-usage-stats"]
        self.process = subprocess.Popen(command, start_new_session=True,
                                        stdout=open(os.path.join(folder, "node.log"), "a"),
                                        stderr=subprocess.STDOUT)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def private_token(folder):
    """The cluster of this test has a token of its own: what Ray keeps for the user is left alone, and
    nobody else can give it work. Set before Ray is imported, which reads it once."""
    path = os.path.join(folder, "token")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(secrets.token_hex(32))
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN_PATH"] = path


def wait_for(port, seconds=90):
    """Until somebody listens."""
    end = time.time() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            if time.time() > end:
                raise
            time.sleep(0.5)


def wait_for_cpus(ray, count, seconds=90):
    """Until so many workers are there."""
    end = time.time() + seconds
    while ray.cluster_resources().get("CPU", 0) < count:
        assert time.time() < end, f"node {count} did not start within {seconds} s"
        time.sleep(0.5)


def main():
    port = 6391
    address = f"127.0.0.1:{port}"
    folder = tempfile.mkdtemp()
    os.environ["RAY_TMPDIR"] = folder      # else a cluster that was killed is looked for later
    private_token(folder)
    scene = os.path.abspath(SCENE)
    samples = [{"scene": scene, "sleep": 0.3} for _ in range(40)]
    expected = rb.study(item, [{**s, "sleep": 0.0} for s in samples], "serial", seed=9)
    head = [os.path.join(os.path.dirname(sys.executable), "ray"), "start", "--head", "--port",
            str(port), "--num-cpus", "0", "--include-dashboard=false", "--block",
            "--disable-usage-stats"]
    boss = subprocess.Popen(head, start_new_session=True, stdout=subprocess.DEVNULL,
                            stderr=subprocess.STDOUT)
    nodes = []
    try:
        wait_for(port)
        executor = RayExecutor(address)
        for k in (1, 2):        # one after the other: a busy machine starts two too slowly
            nodes.append(Node(address, folder))
            wait_for_cpus(executor.ray, k)
        file = os.path.join(folder, "study.jsonl")
        killed = []

        class Watched:
            """Kills a node when ten items are done."""
            submit, result = executor.submit, staticmethod(executor.result)

            def as_completed(self, futures):
                for k, future in enumerate(executor.as_completed(futures)):
                    if k == 10:
                        nodes[0].kill()
                        killed.append(time.time())
                    yield future

        begin = time.time()
        result = rb.study(item, samples, Watched(), seed=9, file=file, progress=False)
        assert killed, "no node was killed"
        with open(file, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        indices = sorted(r["index"] for r in rows if "index" in r)
        assert indices == list(range(40)), indices
        assert list(result) == list(expected)
        print(f"ok: 40 items once each in {time.time() - begin:.1f} s, a node killed after 10")
        executor.shutdown()
    finally:
        for node in nodes[1:]:
            node.kill()
        os.killpg(boss.pid, signal.SIGKILL)
        boss.wait()


if __name__ == "__main__":
    main()
