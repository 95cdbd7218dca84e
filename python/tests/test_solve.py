"""Solvers, problem files, impacts, poses: the answers of the command."""
import json
import subprocess

import numpy as np
import pytest

import rattleback as rb
from conftest import SCENES, run_command

PROBLEMS = SCENES / "problems"


def answers(kind, path):
    done = run_command(kind, "--json", path)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", ["lcp", "friction"])
def test_answers_of_the_command(kind, tmp_path):
    path = PROBLEMS / f"{kind}.jsonl"
    problems = list(rb.read_problems(path))
    told = answers(kind, path)
    assert len(problems) == len(told) > 3
    for problem, answer in zip(problems, told):
        ours = problem.solve()
        assert problem.name == answer["name"] and ours.status == answer["status"]
        assert np.allclose(ours.z, answer.get("z", answer.get("r")), rtol=0, atol=1e-9)
        assert ours.residual <= 1e-8
    copy = tmp_path / "copy.jsonl"
    assert rb.write_problems(copy, problems) == len(problems)
    for one, two in zip(problems, rb.read_problems(copy, kind)):
        dense = [np.asarray(p.W.todense() if hasattr(p.W, "todense") else p.W) for p in (one, two)]
        assert np.array_equal(dense[0], dense[1]) and np.array_equal(one.q, two.q)
        assert two.solve().status == one.solve().status


def test_lcp():
    answer = rb.solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    assert np.allclose(answer.z, [4 / 3, 7 / 3]) and answer.status == "solved" and answer.solved
    assert answer.ray is None and answer.residual < 1e-12 and answer.modes == ["stick", "stick"]
    assert np.allclose(answer.w, 0.0, atol=1e-12) and "solved" in repr(answer)


def test_ray():
    answer = rb.solve_lcp([[0.0, 1.0], [-1.0, 0.0]], [1.0, -1.0], solver="lemke")
    assert answer.status == "ray" and answer.ray is not None
    assert np.all(answer.ray >= 0.0) and np.any(answer.ray > 0.0)


def test_bounds():
    M, q = np.diag([0.5, 0.5]), [-1.0, 3.0]
    answer = rb.solve_lcp(M, q, lo=[0, -0.6], hi=[np.inf, 0.6])
    assert np.allclose(answer.z, [2.0, -0.6])
    free = rb.solve_lcp([[2.0]], [4.0], lo=-np.inf)
    assert np.allclose(free.z, [-2.0])


@pytest.mark.parametrize("seed", range(3))
def test_sparse_is_dense(seed):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(seed)
    n = 30
    A = sparse.random(n, n, 0.1, random_state=seed).toarray()
    M, q = A @ A.T + np.eye(n), rng.normal(size=n)
    dense = rb.solve_lcp(M, q)
    for form in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array):
        answer = rb.solve_lcp(form(M), q)
        assert answer.solved and np.allclose(answer.z, dense.z, atol=1e-8)
    mu = rng.uniform(0.1, 1.0, n // 3)
    dense = rb.solve_friction(M, q, mu)
    answer = rb.solve_friction(sparse.csr_matrix(M), q, mu)
    assert dense.solved and answer.solved and np.allclose(answer.u, dense.u, atol=1e-6)
    r = dense.r.reshape(-1, 3)
    assert np.all(np.hypot(r[:, 1], r[:, 2]) <= mu * r[:, 0] + 1e-9)
    warm = rb.solve_friction(M, q, mu, warm=dense)
    assert warm.solved and warm.iterations <= max(dense.iterations, 1)
    assert rb.solve_lcp(M, q, warm=np.zeros(n)).solved


def test_one_coefficient_for_all():
    W, q = np.eye(6), np.array([-1.0, 0.3, 0.0, -2.0, 5.0, 0.0])
    one, many = rb.solve_friction(W, q, 0.5), rb.solve_friction(W, q, [0.5, 0.5])
    assert one.solved and np.array_equal(one.r, many.r)
    assert one.modes == ["stick", "slide"] and np.allclose(one.r[:3], [1, -0.3, 0])


def test_refusals(tmp_path):
    with pytest.raises(rb.ProblemError, match="finite"):
        rb.solve_lcp([[np.nan]], [1.0])
    with pytest.raises(ValueError, match="square"):
        rb.solve_lcp(np.zeros((2, 3)), [1.0, 2.0])
    with pytest.raises(ValueError, match="q"):
        rb.solve_lcp(np.eye(2), [1.0])
    with pytest.raises(TypeError):
        rb.solve_lcp(np.eye(2, dtype=complex), [1.0, 2.0])
    with pytest.raises(rb.ProblemError, match="expected"):
        rb.solve_lcp(np.eye(2), [1.0, 2.0], solver="magic")
    with pytest.raises(rb.ProblemError):
        rb.solve_lcp(np.eye(1), [1.0], lo=[2.0], hi=[1.0])
    with pytest.raises(rb.ProblemError):
        rb.solve_friction(np.eye(3), np.zeros(3), -1.0)
    with pytest.raises(ValueError, match="rows for each contact"):
        rb.solve_friction(np.eye(4), np.zeros(4), 1.0)
    path = tmp_path / "bad.jsonl"
    path.write_text('{"M": [[1]], "q": [1]}\n{"M": [[1, 2]], "q": [1]}\n')
    with pytest.raises(rb.ProblemError) as caught:
        list(rb.read_problems(path))
    assert caught.value.line == 2 and caught.value.file == str(path)
    with pytest.raises(OSError):
        rb.read_problems(tmp_path / "none.jsonl", "lcp")


def test_impacts():
    path = PROBLEMS / "impact.jsonl"
    told = answers("impact", path)
    for line, answer in zip(path.read_text().splitlines(), told):
        ours = rb.impact(json.loads(line))
        assert ours.status == answer["status"] == "solved" and ours.phases == answer["phases"]
        assert np.allclose(ours.impulse_on_1, answer["impulse_on_1"], rtol=0, atol=1e-14)
        assert np.allclose(ours.v1, answer["v1"]) and np.allclose(ours.w2, answer["w2"])
        assert ours.energy == pytest.approx(answer["dE"])
    ball = rb.impact(im1=1.0, v1=[0, 0, -2], n=[0, 0, 1], e=0.5)
    assert np.allclose(ball.impulse_on_1, [0, 0, 3]) and np.allclose(ball.v1, [0, 0, 1])
    with pytest.raises(rb.ProblemError, match="both bodies are fixed"):
        rb.impact(im1=0.0, v1=[0, 0, -2], n=[0, 0, 1])


@pytest.mark.parametrize("name, options", [
    ("box.xml", {}), ("tee.xml", {"precision": 0.1}), ("nut.xml", {"stepper": "fixed", "spin": 2.0}),
    ("bracket.stl", {"scale": 0.001, "friction": 0.2, "restitution_law": "newton"})])
def test_poses(name, options):
    """The numbers of the command, from the library, for any number of threads."""
    path = SCENES / "poses" / name
    found = dict(rb.poses(path, drops=60, seed=3, threads=2, **options))
    words = [w for k, v in options.items() for w in ("--" + k.replace("_", "-"), v)]
    told = json.loads(run_command("poses", "--json", "--drops", 60, "--seed", 3, *words, path).stdout)
    for times in ("cpu", "wall"):
        assert found.pop(times) > 0.0 and told.pop(times) > 0.0
    assert found == told


def test_poses_of_a_model():
    model = rb.Model.load(SCENES / "poses/box.xml")
    found = rb.poses(model, drops=20)
    assert found.poses == rb.poses(SCENES / "poses/box.xml", drops=20).poses and len(found.poses) == 6
    assert sum(p["count"] for p in found.poses) == 20 and found.failed == 0


@pytest.mark.parametrize("options, kind, text", [
    ({"drops": -1}, ValueError, "drops"), ({"drops": 2.5}, TypeError, "drops"),
    ({"threads": 0}, ValueError, "threads"), ({"height": 1e-4}, ValueError, "height"),
    ({"stepper": "none"}, ValueError, "stepper"), ({"nonsense": 1}, ValueError, "nonsense"),
    ({"spin": np.nan}, ValueError, "spin")])
def test_poses_refuse(options, kind, text):
    with pytest.raises(kind, match=text):
        rb.poses(SCENES / "poses/box.xml", **{"drops": 3, **options})


def test_poses_say_what_a_part_is():
    with pytest.raises(rb.ModelError, match="No such file"):
        rb.poses("nowhere.xml", drops=3)
    with pytest.raises(rb.ModelError, match="several bodies move") as caught:
        rb.poses(SCENES / "robots/double_pendulum.xml", drops=3)
    said = run_command("poses", SCENES / "robots/double_pendulum.xml")
    assert said.stderr.strip() == str(caught.value)


def test_impacts_refuse():
    with pytest.raises(TypeError, match="mass1"):
        rb.impact(mass1=1.0, n=[0, 0, 1])
    with pytest.raises(rb.ProblemError, match="n: expected the normal"):
        rb.impact(im1=1.0)
    with pytest.raises(ValueError, match="max_iter"):
        rb.solve_lcp([[1.0]], [1.0], max_iter=-1)
