"""The hash after 200 steps is that of the command: from Sim, and from Batch with 1 and 2 threads."""
from concurrent.futures import ThreadPoolExecutor

import pytest

import rattleback as rb
from conftest import LONG, SCENES, run_json

STEPS = 200
FILES = sorted(p for ending in ("xml", "urdf") for p in SCENES.rglob(f"*.{ending}"))
MOST_BODIES = 60    # larger ones take up to minutes
FEW_BODIES = 20     # worlds of which cost nothing


def from_sim(model):
    """The simulation behind its steps, and the error that ended them or None."""
    sim = rb.Sim(model)
    try:
        sim.step(STEPS)
    except rb.StepError as error:
        return sim, error
    return sim, None


def from_batch(model, n, threads):
    batch = rb.Batch(model, n, threads=threads)
    batch.step(STEPS)
    return set(batch.hashes)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SCENES)))
def test_same_bits(path):
    model = rb.Model.load(path)
    large = model.nbody > MOST_BODIES
    if large and not LONG:
        pytest.skip(f"{model.nbody} bodies: RB_LONG=1 runs it")
    time = repr(STEPS * rb.Sim(model).timestep)
    with ThreadPoolExecutor(2 if large else 1) as pool:     # scenes of minutes take two cores
        told = pool.submit(run_json, "run", path, "--json", "--time", time)
        single = pool.submit(from_sim, model)
        worlds = [pool.submit(from_batch, model, 3 if model.nbody <= FEW_BODIES else threads, threads)
                  for threads in (1, 2)]
    told, (sim, error) = told.result(), single.result()
    if error is not None:
        assert told["failures"] == 1 and error.steps == told["steps"], error
    else:
        assert told["steps"] == STEPS
    assert sim.hash == told["hash"]
    for found in worlds:
        assert found.result() == {told["hash"]}


def test_options_are_those_of_the_command(quadruped):
    path = SCENES / "robots/quadruped.xml"
    told = run_json("run", path, "--json", "--time", "0.2", "--stepper", "located", "--friction",
                    "0.3", "--accuracy", "strict", "--start-height", "0.5")
    sim = rb.Sim(quadruped, stepper="located", friction=0.3, accuracy="strict")
    sim.q[2] = 0.5
    sim.step(100)
    assert sim.hash == told["hash"]
    again = rb.Sim(quadruped)
    again.q[2] = 0.5
    again.step(100, stepper="located", friction=0.3, accuracy="strict")
    assert again.hash == told["hash"]


@pytest.mark.parametrize("scheme", ["node", "semi-implicit", "moreau-jean"])
def test_schemes(quadruped, scheme):
    told = run_json("run", SCENES / "robots/quadruped.xml", "--json", "--time", "0.1", "--scheme",
                    scheme, "--start-height", "0.44")
    sim = rb.Sim(quadruped, scheme=scheme)
    sim.q[2] = 0.44
    sim.step(told["steps"])
    assert sim.hash == told["hash"] and told["steps"] == 50


def test_the_scheme_midpoint_is_refused(quadruped):
    sentence = "scheme midpoint: expected node, semi-implicit or moreau-jean; node, the default"
    with pytest.raises(rb.InputError, match=sentence):
        rb.Sim(quadruped, scheme="midpoint")
    with pytest.raises(rb.InputError, match=sentence):
        rb.Sim(quadruped).step(1, scheme="midpoint")


def test_keyframe():
    path = SCENES / "contact/rod.xml"
    model = rb.Model.load(path)
    sim = rb.Sim(model, key="start")
    sim.step(50)
    told = run_json("run", path, "--json", "--key", "start", "--time", repr(50 * sim.timestep))
    assert sim.hash == told["hash"]


def test_time_in_pieces(quadruped):
    one, many = rb.Sim(quadruped), rb.Sim(quadruped)
    for sim in (one, many):
        sim.q[2] += 0.05
    one.step(100)
    for _ in range(100):
        many.step()
    assert one.hash == many.hash and one.time == many.time
