"""A study on a real local Ray cluster of two workers, one of which is killed in the middle.

Run by `make test-python-long`; needs Ray. Starts a head and two nodes of one CPU each by `ray start`,
kills the processes of one node, and checks that every item is in the result exactly once, with the
results of another executor.
"""
import json
import os
import signal
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


def ray(*arguments):
    command = [os.path.join(os.path.dirname(sys.executable), "ray"), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)


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


def main():
    os.environ["RAY_DISABLE_IMPORT_WARNING"] = "1"
    port = 6391
    address = f"127.0.0.1:{port}"
    folder = tempfile.mkdtemp()
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
        time.sleep(8)
        nodes = [Node(address, folder) for _ in range(2)]
        time.sleep(10)
        executor = RayExecutor(address)
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
