"""Studies: a function of many samples, on this machine or on a cluster, each item once.

    result = rattleback.study(function, samples, executor=None, file="study.jsonl")

Items are numbered; item i gets a seed that depends on the study's seed and on i alone, so that
results do not depend on the executor, on the order in which items end, or on how often the study was
interrupted. With a file every finished item is on it at once, and the same call goes on where the
file ends.
"""
from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ._lib import RattlebackError

SEED_BITS = 2 ** 63


class StudyError(RattlebackError, RuntimeError):
    """An item that failed, or a file that belongs to another study."""


def item_seed(seed: int, index: int) -> int:
    """Seed of an item, the same on every machine."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] % SEED_BITS)


class Study(Sequence[Any]):
    """Results in the order of the samples. `seeds`, `seconds` (of each item), `samples`; `rows()`
    gives dictionaries, `save(path)` writes Parquet or JSON lines by its ending."""

    def __init__(self, samples: list[Any], seeds: list[int], results: list[Any],
                 seconds: list[float]):
        self.samples = samples
        self.seeds = seeds
        self.results = results
        self.seconds = seconds

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    def rows(self) -> list[dict[str, Any]]:
        """Items with index, seed, sample, result and seconds."""
        return [{"index": i, "seed": seed, "sample": sample, "result": result, "seconds": seconds}
                for i, (seed, sample, result, seconds)
                in enumerate(zip(self.seeds, self.samples, self.results, self.seconds))]

    def save(self, path: str | os.PathLike[str]) -> None:
        """To a file from which the same study goes on: .jsonl or .parquet."""
        store = _store(os.fspath(path), fresh=True)
        store.begin({"items": len(self)})
        for row in self.rows():
            store.add(row["index"], row["seed"], row["sample"], row["result"], row["seconds"])
        store.close()

    def __repr__(self) -> str:
        return f"<study: {len(self)} items, {sum(self.seconds):.1f} s of work>"


# ---- files ---------------------------------------------------------------------------------------

def _plain(value: Any) -> Any:
    """As JSON has it: arrays as lists, numbers of NumPy as numbers."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value


def _stored(value: Any) -> Any:
    """As it comes back from a file, so that results do not depend on what was done before."""
    try:
        return json.loads(json.dumps(_plain(value)))
    except TypeError as error:
        raise StudyError(f"a result cannot be written as JSON: {error}") from None


def _digest(sample: Any) -> str:
    """Names a sample: a file that has another one at its place belongs to another study."""
    text = json.dumps(_plain(sample), sort_keys=True,
                      default=lambda thing: type(thing).__name__)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Store:
    """Finished items on file: one line each, written through at once."""

    def __init__(self, path: str, fresh: bool):
        self.path = path
        self.head: dict[str, Any] | None = None
        self.done: dict[int, tuple[Any, float, str]] = {}
        if not fresh and os.path.exists(path):
            self._read()
        self.file = open(path, "w" if fresh else "a", encoding="utf-8")

    def _read(self) -> None:
        with open(self.path, "rb") as file:
            data = file.read()
        whole = data[:data.rfind(b"\n") + 1]       # a line that a crash cut short is done again
        if len(whole) < len(data):
            with open(self.path, "r+b") as file:
                file.truncate(len(whole))
        for number, line in enumerate(whole.decode().splitlines(), 1):
            try:
                row = json.loads(line)
            except ValueError:
                raise StudyError(f"{self.path}:{number}: is not a line of a study") from None
            if "study" in row:
                self.head = row["study"]
            else:
                self.done[row["index"]] = (row["result"], row["seconds"], row["sample"])

    def begin(self, head: dict[str, Any]) -> None:
        """The first line says which study this is; another one is refused."""
        if self.head is None:
            self.head = head
            self._write({"study": head})
        elif any(self.head.get(k) != v for k, v in head.items() if k != "items"):
            raise StudyError(f"{self.path}: belongs to another study: {self.head}, not {head}; "
                             "remove it, or take another name")

    def finished(self, samples: list[Any]) -> dict[int, tuple[Any, float]]:
        """Results that are there; all must be of these samples."""
        found = {}
        for i, (result, seconds, digest) in self.done.items():
            if i >= len(samples):
                continue
            if digest != _digest(samples[i]):
                raise StudyError(f"{self.path}: item {i} is that of another sample; remove the file, or "
                                 "take another name")
            found[i] = (result, seconds)
        return found

    def add(self, index: int, seed: int, sample: Any, result: Any, seconds: float) -> Any:
        """Writes an item, and returns its result as it is on file."""
        result, digest = _stored(result), _digest(sample)
        self._write({"index": index, "seed": seed, "sample": digest, "result": result,
                     "seconds": seconds})
        self.done[index] = (result, seconds, digest)
        return result

    def _write(self, row: dict[str, Any]) -> None:
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()


class _ParquetStore(_Store):
    """Parquet cannot be appended to: items go to PATH.jsonl and become PATH at the end."""

    def __init__(self, path: str, fresh: bool):
        import pyarrow
        import pyarrow.parquet
        self.arrow, self.parquet, self.target = pyarrow, pyarrow.parquet, path
        journal = path + ".jsonl"
        if not fresh and os.path.exists(path) and not os.path.exists(journal):
            self._unpack(path, journal)
        super().__init__(journal, fresh)

    def _unpack(self, path: str, journal: str) -> None:
        table = self.parquet.read_table(path)
        head = json.loads(table.schema.metadata[b"study"])
        with open(journal, "w", encoding="utf-8") as file:
            file.write(json.dumps({"study": head}) + "\n")
            for row in table.to_pylist():
                row["result"] = json.loads(row["result"])
                file.write(json.dumps(row) + "\n")

    def close(self) -> None:
        super().close()
        with open(self.path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        items = sorted((r for r in rows if "index" in r), key=lambda r: r["index"])
        columns = {"index": [r["index"] for r in items], "seed": [r["seed"] for r in items],
                   "seconds": [r["seconds"] for r in items], "sample": [r["sample"] for r in items],
                   "result": [json.dumps(r["result"]) for r in items]}
        for name in _scalar_names(items):
            columns[name] = [r["result"][name] for r in items]
        table = self.arrow.table(columns).replace_schema_metadata(
            {b"study": json.dumps(self.head).encode()})
        part = self.target + ".part"
        self.parquet.write_table(table, part)
        os.replace(part, self.target)
        os.remove(self.path)


def _scalar_names(items: list[dict[str, Any]]) -> list[str]:
    """Members of results that are a number or a text in every item: columns of their own."""
    if not items or not all(isinstance(r["result"], dict) for r in items):
        return []
    first = items[0]["result"]
    return [k for k in first if k not in ("index", "seed", "seconds", "sample", "result") and
            len({type(r["result"].get(k)) for r in items}) == 1
            and isinstance(first[k], (int, float, str, bool))]


def _store(path: str, fresh: bool = False) -> _Store:
    return (_ParquetStore if path.endswith(".parquet") else _Store)(path, fresh)


# ---- work ----------------------------------------------------------------------------------------

class SceneStudy:
    """What a study of a scene does with an item: options of steps and parameters of the model from
    the sample, some time, and the state at the end."""

    def __init__(self, model: Any, time: float = 1.0, key: str | int | None = None):
        self.model = model
        self.time = time
        self.key = key

    def __call__(self, sample: Any, seed: int) -> dict[str, Any]:
        from .sim import Sim
        sample = dict(sample or {})
        changes = {k: sample.pop(k) for k in ("mass", "gravity") if k in sample}
        model = self.model.copy() if changes else self.model
        for body, mass in changes.get("mass", {}).items():
            model.set_mass(body, mass)
        if "gravity" in changes:
            model.set_gravity(changes["gravity"])
        q, v = sample.pop("q", None), sample.pop("v", None)
        if "mu" in sample:
            sample["friction"] = sample.pop("mu")
        sim = Sim(model, self.key, **sample)
        if q is not None:
            sim.q = q
        if v is not None:
            sim.v = v
        sim.step(round(self.time / sim.timestep))
        info = sim.info
        return {"q": sim.q.tolist(), "v": sim.v.tolist(), "hash": sim.hash, "energy": info.energy,
                "residual": info.residual, "penetration": info.penetration,
                "contacts": info.contacts}


def _call(function: Callable[[Any, int], Any], index: int, sample: Any,
          seed: int) -> tuple[int, Any, float]:
    begin = time.perf_counter()
    return index, function(sample, seed), time.perf_counter() - begin


def _takes_seed(function: Callable[..., Any]) -> bool:
    import inspect
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    if any(p.name == "seed" or p.kind == p.VAR_KEYWORD for p in parameters):
        return True
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) > 1


class _Seedless:
    def __init__(self, function: Callable[[Any], Any]):
        self.function = function

    def __call__(self, sample: Any, seed: int) -> Any:
        return self.function(sample)


class RayExecutor:
    """Ray as an executor: submit() makes tasks, which Ray gives to another worker where one dies.

    address: of a cluster; None: the one that this machine belongs to, or a new one on it alone. What
    is large, such as a model, is sent to each worker once."""

    def __init__(self, address: str | None = None, retries: int = 10, **options: Any):
        try:
            import ray
        except ImportError:
            raise ImportError("the executor ray needs Ray: pip install 'rattleback[ray]'") from None
        self.ray = ray
        self.owned = not ray.is_initialized()
        if self.owned:
            self._connect(address, {"log_to_driver": False, **options})
        self.retries = retries
        self._shared: dict[int, tuple[Any, Any]] = {}
        self._remotes: dict[Any, Any] = {}

    def _connect(self, address: str | None, options: dict[str, Any]) -> None:
        try:
            self.ray.init(address=address or "auto", **options)
        except ConnectionError:
            if address is not None:
                raise
            self.ray.init(**options)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        remote = self._remotes.get(function)
        if remote is None:
            remote = self._remotes[function] = self.ray.remote(max_retries=self.retries)(function)
        return remote.remote(*[self._share(a) for a in arguments])

    def _share(self, argument: Any) -> Any:
        if not callable(argument):
            return argument
        found = self._shared.get(id(argument))
        if found is None:
            found = self._shared[id(argument)] = (argument, self.ray.put(argument))
        return found[1]

    def as_completed(self, futures: Iterable[Any]) -> Iterator[Any]:
        waiting = list(futures)
        while waiting:
            done, waiting = self.ray.wait(waiting, num_returns=1)
            yield from done

    def result(self, future: Any) -> Any:
        return self.ray.get(future)

    def shutdown(self) -> None:
        if self.owned:
            self.ray.shutdown()


class _Serial:
    """One after the other, in this process, when its result is asked for."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return lambda: function(*arguments)

    def as_completed(self, futures: Iterable[Any]) -> Iterator[Any]:
        return iter(futures)

    def result(self, future: Any) -> Any:
        return future()


class _Whole:
    """Something of the program itself, such as a function of a notebook, that is sent to other
    processes by value: they need not run the program to find it."""

    def __init__(self, thing: Any):
        self.thing = thing

    def __reduce__(self) -> Any:
        import cloudpickle
        return cloudpickle.loads, (cloudpickle.dumps(self.thing),)


def _needs_program(function: Any) -> bool:
    """Whether new processes would have to run the program to find the function."""
    inner = getattr(function, "function", function)
    inner = getattr(inner, "func", inner)                   # functools.partial
    if (getattr(inner, "__module__", None) or type(inner).__module__) == "__main__":
        return True
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        return True
    return False


def _sender(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """How things go to new processes: by value where the program would be needed, for which a program
    that is not guarded by __main__, a notebook or a lambda will not do."""
    if not _needs_program(function):
        return lambda thing: thing
    try:
        import cloudpickle
        cloudpickle.dumps(function)
        return _Whole
    except (ImportError, pickle.PicklingError, TypeError) as error:
        try:
            pickle.dumps(function)
            if os.path.exists(getattr(sys.modules["__main__"], "__file__", "")):
                return lambda thing: thing
        except (pickle.PicklingError, AttributeError, TypeError):
            pass
        raise TypeError("what: other processes cannot import this function: put it in a file of its "
                        "own, pip install cloudpickle, or say executor=\"threads\"") from error


class _NoProgram:
    """Processes that are started within do not run the program again."""

    def __init__(self, hide: bool):
        self.hidden: dict[str, Any] = {}
        self.names = ("__file__", "__spec__") if hide else ()

    def __enter__(self) -> None:
        main = sys.modules["__main__"]
        for name in self.names:
            if hasattr(main, name):
                self.hidden[name] = getattr(main, name)
                setattr(main, name, None)

    def __exit__(self, *raised: Any) -> None:
        for name, value in self.hidden.items():
            setattr(sys.modules["__main__"], name, value)


def _executor(executor: Any, workers: int | None) -> tuple[Any, Callable[[], None]]:
    """The executor, and how to end it."""
    if executor == "ray":
        ray = RayExecutor()
        return ray, ray.shutdown
    if executor is None or executor == "processes":
        import multiprocessing
        pool = concurrent.futures.ProcessPoolExecutor(
            workers or len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn"))
        return pool, lambda: pool.shutdown(cancel_futures=True)
    if executor == "threads":
        threads = concurrent.futures.ThreadPoolExecutor(workers)
        return threads, lambda: threads.shutdown(cancel_futures=True)
    if executor == "serial":
        return _Serial(), lambda: None
    if hasattr(executor, "submit"):
        return executor, lambda: None
    raise ValueError(f"executor {executor!r}: expected processes, threads, serial, ray, or an object "
                     "with submit()")


def _completed(executor: Any, futures: list[Any]) -> Iterator[Any]:
    if hasattr(executor, "as_completed"):
        return executor.as_completed(futures)
    return concurrent.futures.as_completed(futures)


def _bar(progress: bool | None, total: int, done: int) -> Any:
    if progress is False:
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, initial=done, disable=None if progress is None else False, unit="item")


def study(what: Any, samples: Iterable[Any], executor: Any = None, *, seed: int = 0,
          file: str | os.PathLike[str] | None = None, workers: int | None = None,
          progress: bool | None = None, name: str | None = None, **options: Any) -> Study:
    """Evaluates a function, or simulates a scene, for each sample.

    what: function(sample) or function(sample, seed), importable by other processes; or a Model or
    the path of one: then a sample is a dictionary of options of steps (mu, restitution, accuracy,
    ..), of mass, gravity, q and v, and options may have time= and key=.
    executor: None or "processes" (of this machine), "threads", "serial", "ray", or any object with
    the submit() of concurrent.futures.
    file: .jsonl or .parquet; finished items are on it at once, and the same call goes on from it.
    Every item is in the result exactly once. progress: None: a bar on a terminal.
    """
    from .model import Model
    items = list(samples)
    if isinstance(what, (str, os.PathLike)):
        what = Model.load(what)
    if isinstance(what, Model):
        what = SceneStudy(what, **options)
    elif options:
        raise TypeError(f"{', '.join(options)}: only for studies of a scene")
    if not callable(what):
        raise TypeError(f"what: expected a function, a Model or a path, not {type(what).__name__}")
    function = what if _takes_seed(what) else _Seedless(what)
    seeds = [item_seed(seed, i) for i in range(len(items))]
    head = {"name": name or getattr(what, "__name__", type(what).__name__), "seed": seed,
            "items": len(items)}
    store = _store(os.fspath(file)) if file is not None else None
    done: dict[int, tuple[Any, float]] = {}
    try:
        if store:
            store.begin(head)
            done = store.finished(items)
        _run(function, items, seeds, done, store, executor, workers, progress)
    finally:
        if store:
            store.close()
    return Study(items, seeds, [done[i][0] for i in range(len(items))],
                 [done[i][1] for i in range(len(items))])


def _run(function: Callable[[Any, int], Any], items: list[Any], seeds: list[int],
         done: dict[int, tuple[Any, float]], store: _Store | None, executor: Any,
         workers: int | None, progress: bool | None) -> None:
    total, tries = len(items), 0
    processes = executor is None or executor == "processes"
    send = _sender(function) if processes else lambda thing: thing
    bar = _bar(progress, total, len(done))
    try:
        while len(done) < total:
            left = [i for i in range(total) if i not in done]
            pool, end = _executor(executor, workers)
            try:
                with _NoProgram(send is _Whole):
                    futures = [pool.submit(_call, send(function), i, send(items[i]), seeds[i])
                               for i in left]
                for index, result, seconds in _results(pool, futures):
                    if index in done:
                        continue        # an executor may run an item twice: the first counts
                    if store:
                        result = store.add(index, seeds[index], items[index], result, seconds)
                    done[index] = (result, seconds)
                    if bar is not None:
                        bar.update()
            except concurrent.futures.BrokenExecutor as error:
                # a process died: what it had is done again, by new ones
                tries += 1
                if tries > RETRIES or (executor is not None and not isinstance(executor, str)):
                    raise StudyError(f"workers died {tries} times: {error}") from error
            finally:
                end()
    finally:
        if bar is not None:
            bar.close()


RETRIES = 10


def _results(pool: Any, futures: list[Any]) -> Iterator[tuple[int, Any, float]]:
    for future in _completed(pool, futures):
        yield pool.result(future) if hasattr(pool, "result") else future.result()


# ---- shipped studies -----------------------------------------------------------------------------

def pose_block(sample: Any, seed: int) -> dict[str, Any]:
    """Drops of a part: an item of study_poses."""
    from ._poses import poses
    found = poses(sample["part"], drops=sample["drops"], seed=1 + seed % 10 ** 9,
                  **sample.get("options", {}))
    return {"counts": [p["count"] for p in found["poses"]], "drops": sample["drops"],
            "down": [p["down"] for p in found["poses"]]}


def study_poses(part: str | os.PathLike[str], drops: int = 1000, blocks: int = 10,
                executor: Any = None, *, options: dict[str, Any] | None = None,
                **settings: Any) -> dict[str, Any]:
    """Stable poses of a part with drops shared out in blocks: counts, probabilities and their 95 %
    intervals (Wilson), for many more drops than one machine makes."""
    sizes = [drops // blocks + (k < drops % blocks) for k in range(blocks)]
    samples = [{"part": os.path.abspath(part), "drops": n, "options": options or {}}
               for n in sizes if n > 0]
    found = study(pose_block, samples, executor, **settings)
    counts = np.sum([r["counts"] for r in found], axis=0)
    low, high = wilson(counts, drops)
    return {"down": found[0]["down"], "counts": counts, "drops": drops,
            "probability": counts / drops, "low": low, "high": high, "study": found}


def wilson(counts: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of probabilities from counts (Wilson)."""
    from ._poses import interval
    low, high = zip(*(interval(int(k), n) for k in counts))
    return np.array(low), np.array(high)


def friction_sweep(scene: Any, coefficients: Iterable[float], time: float = 1.0,
                   executor: Any = None, **settings: Any) -> Study:
    """A scene with each of these sliding coefficients; settings are those of study()."""
    samples = [{"mu": float(mu)} for mu in coefficients]
    return study(scene, samples, executor, time=time, name="friction_sweep", **settings)


class TossLoss:
    """How far simulated tosses of a cube are from measured ones, for one (mu, e): the mean over
    frames of |dp|^2 / half side + angle^2, as the authors of the data count it.

    folder: with initial.csv and tosses.csv of the cube_toss data; model: of the cube on its table."""

    RATE, HALF = 148.0, 0.0524

    def __init__(self, model: Any, folder: str | os.PathLike[str], tosses: int | None = None,
                 substeps: int = 1, threads: int = 1):
        self.model = model
        self.folder = os.fspath(folder)
        self.count = tosses
        self.substeps = substeps
        self.threads = threads
        self._read: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_read": None}

    def _tosses(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        if self._read is None:
            self._read = read_tosses(self.folder, self.count)
        return self._read

    def __call__(self, sample: Any, seed: int) -> dict[str, float]:
        from .batch import Batch
        q, v, frames = self._tosses()
        h = 1.0 / (self.RATE * self.substeps)
        batch = Batch(self.model, len(q), self.threads, h=h, friction=sample["mu"],
                      restitution=sample["e"])
        batch.q, batch.v = q, v
        length = max(len(f) for f in frames)
        path = np.empty((len(q), length, 7))
        for t in range(length):
            if t:
                batch.step(self.substeps)
            path[:, t] = batch.q
        losses = [self._loss(path[i, :len(f)], f) for i, f in enumerate(frames)]
        return {"mu": sample["mu"], "e": sample["e"], "loss": float(np.mean(losses))}

    def _loss(self, ours: np.ndarray, theirs: np.ndarray) -> float:
        d2 = np.sum((ours[:, :3] - theirs[:, :3]) ** 2, axis=1)
        dot = np.abs(np.sum(ours[:, 3:] * theirs[:, 3:], axis=1))
        angle = 2.0 * np.arccos(np.clip(dot, 0.0, 1.0))
        return float(np.mean(d2[1:] / self.HALF + angle[1:] ** 2))


def read_tosses(folder: str, count: int | None = None) -> tuple[np.ndarray, np.ndarray,
                                                                list[np.ndarray]]:
    """Starts q (n, 7), v (n, 6) and the frames (k, 7) from there on, of each toss."""
    starts = np.loadtxt(os.path.join(folder, "initial.csv"), delimiter=",", skiprows=1, ndmin=2)
    table = np.loadtxt(os.path.join(folder, "tosses.csv"), delimiter=",", skiprows=1, ndmin=2)
    starts = starts[:count]
    frames = [table[(table[:, 0] == s[0]) & (table[:, 1] >= s[1])][:, 2:9] for s in starts]
    for s, f in zip(starts, frames):
        if len(f) != int(s[2]) - int(s[1]):
            raise StudyError(f"{folder}: toss {int(s[0])} has {len(f)} frames, expected "
                             f"{int(s[2]) - int(s[1])}")
    return starts[:, 3:10], starts[:, 10:16], frames


def fit_tosses(model: Any, folder: str | os.PathLike[str], *, mu: Any = None, e: Any = None,
               tosses: int | None = None, rounds: int = 3, executor: Any = None,
               **settings: Any) -> dict[str, Any]:
    """mu and e that bring simulated tosses nearest to measured ones: a grid, refined `rounds` times
    about its best point. Returns mu, e, loss and all points that were tried."""
    mus = np.linspace(0.05, 0.5, 7) if mu is None else np.asarray(mu, float)
    es = np.linspace(0.0, 0.6, 7) if e is None else np.asarray(e, float)
    function, tried = TossLoss(model, folder, tosses), []
    best: dict[str, float] = {}
    for k in range(rounds):
        samples = [{"mu": float(a), "e": float(b)} for a in mus for b in es]
        tried += list(study(function, samples, executor, name=f"fit_tosses {k}", **settings))
        best = min(tried, key=lambda r: r["loss"])
        da, db = 0.5 * (mus[1] - mus[0]), 0.5 * (es[1] - es[0])
        mus = np.maximum(0.0, best["mu"] + da * np.arange(-1, 2))
        es = np.clip(best["e"] + db * np.arange(-1, 2), 0.0, 1.0)
    return {**best, "tried": tried}
