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


@pytest.mark.parametrize("make", [lambda m: rb.Sim(m), lambda m: rb.Batch(m, 6, threads=2)],
                         ids=["sim", "batch"])
def test_interrupt(quadruped, make):
    sim = make(quadruped)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.time()
    with pytest.raises(KeyboardInterrupt):
        sim.step(10 ** 9)
    assert time.time() - begin < 5.0
    assert np.max(sim.time) > 0.0
    sim.step(2)


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
    answer = queue.get(timeout=60)
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
