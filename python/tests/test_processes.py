"""Threads, forks, signals, memory."""
import gc
import multiprocessing
import os
import resource
import signal
import threading
import time

import numpy as np
import pytest

import rattleback as rb
from conftest import ARM, LONG, SCENES


def test_threads(quadruped):
    hashes = [None] * 8

    def work(k):
        sim = rb.Sim(quadruped)
        sim.q[2] += 0.01 * k
        for _ in range(40):
            sim.step(5)
            sim.contacts
        hashes[k] = sim.hash

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(8):
        sim = rb.Sim(quadruped)
        sim.q[2] += 0.01 * k
        sim.step(200)
        assert hashes[k] == sim.hash


SPINNER = """
<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator></mujoco>"""


def long_rollout(model):
    """Far more steps than any machine takes in the time of a test, in few rows."""
    batch = rb.Batch(model, 4, threads=2)
    return batch, lambda: batch.rollout(np.zeros((4, 1000, model.nctrl)), skip=10 ** 6)


def one_world(i):
    """Of a batch, whose worlds other threads have stepped before."""
    def make(model):
        batch = rb.Batch(model, 4, threads=2)
        batch.step(3)
        return batch, lambda: batch[i].step(10 ** 9)
    return make


LONG_CALLS = {
    "sim": lambda m: (lambda s: (s, lambda: s.step(10 ** 9)))(rb.Sim(m)),
    "threads": lambda m: (lambda s: (s, lambda: s.step(10 ** 9)))(rb.Sim(m, threads=2)),
    "batch": lambda m: (lambda b: (b, lambda: b.step(10 ** 9)))(rb.Batch(m, 6, threads=2)),
    "rollout": long_rollout,
    "first world": one_world(0),
    "last world": one_world(3),
    "poses": lambda m: (None, lambda: rb.poses(SCENES / "poses/tee.xml", drops=10 ** 6, threads=2)),
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_interrupt(quadruped, name):
    """Calls of many minutes: none can end by itself before the signal comes, however fast the machine."""
    owner, call = LONG_CALLS[name](quadruped)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.time()
    with pytest.raises(KeyboardInterrupt):
        call()
    assert time.time() - begin < 60.0
    if owner is not None:
        assert np.max(owner.time) > 0.0
        owner.step(2)


def test_rows_of_a_rollout_ask():
    """A step of a row takes a microsecond and asks nobody; every few of them do."""
    batch = rb.Batch(rb.Model.from_string(SPINNER), 1, threads=1)
    asked = []
    old = signal.signal(signal.SIGALRM, lambda number, frame: asked.append(batch.q[0, 0]))
    try:
        for rows in (100_000, 300_000, 1_000_000):      # a fast machine needs more
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            batch.rollout(np.ones((1, rows, 1)))
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            if asked and asked[-1] != batch.q[0, 0]:
                return
    finally:
        signal.signal(signal.SIGALRM, old)
    pytest.fail("the signal was heard behind the last row")


def test_a_forked_sim_has_threads_of_its_own():
    sim = rb.Sim(rb.Model.load(SCENES / "peers/pile_100.xml"), threads=2)
    sim.step(20)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        sim.step(20)
        os.write(write, sim.hash.encode())
        del sim
        gc.collect()
        os._exit(0)
    sim.step(20)
    assert os.read(read, 16).decode() == sim.hash
    assert os.waitpid(child, 0)[1] == 0


def test_other_exceptions_of_handlers(quadruped):
    class Alarm(Exception):
        pass

    def handler(number, frame):
        raise Alarm("time is over")

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Alarm, match="time is over"):
            rb.Sim(quadruped).step(10 ** 9)
    finally:
        signal.signal(signal.SIGALRM, old)


def in_child(queue, batch, model):
    try:
        if batch is not None:
            batch.step(50)
        sim = rb.Sim(model)
        sim.step(100)
        queue.put((sim.hash, batch.hashes[0] if batch is not None else None))
    except BaseException as error:
        queue.put(repr(error))


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes(quadruped, way):
    batch = rb.Batch(quadruped, 4, threads=2)
    batch.step(50)
    context = multiprocessing.get_context(way)
    queue = context.Queue()
    child = context.Process(target=in_child,
                            args=(queue, batch if way == "fork" else None, quadruped))
    child.start()
    answer = queue.get(timeout=300)
    child.join()
    batch.step(50)
    sim = rb.Sim(quadruped)
    sim.step(100)
    assert answer == (sim.hash, sim.hash if way == "fork" else None)
    assert batch.hashes[0] == sim.hash and child.exitcode == 0


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_memory_is_flat():
    rounds = 100_000 if LONG else 3000
    warm = rounds // 10
    model = rb.Model.load(SCENES / "robots/quadruped.xml")
    begin = 0
    for k in range(rounds):
        if k == warm:
            gc.collect()
            begin = resident()
        own = rb.Model.from_string(ARM) if k % 10 == 0 else model.copy()
        sim = rb.Sim(own)
        sim.step()
        sim.contacts
        sim.q, sim.info, sim.save()
        if k % 50 == 0:
            rb.Batch(own, 3, threads=2).step()
        with pytest.raises(KeyError):
            own.body("nobody")
    gc.collect()
    assert resident() - begin < 8e6
