"""GraphDefs on disk with the steps to run and what they gave. NumPy only: both libraries use it.

A folder holds one `<name>.pb` per case, `cases.json` with the steps by tensor name, and the values
of all feeds and results packed in `values.npz`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.sample import dtype_name
from tests.parity.programs import PROGRAMS, Step
from tests.parity.store import Value, pack, unpack


@dataclass
class NamedStep:
    """A step in terms of names: "x:0" for tensors, "init" for operations (whose result is None)."""

    fetches: list[str]
    feeds: dict[str, np.ndarray]
    results: list[np.ndarray | None]


@dataclass
class Case:
    name: str
    graph_def: bytes
    steps: list[NamedStep]


def build_case(tf: Any, name: str) -> Case:
    """Builds a program with the module `tf`, runs its steps and keeps graph and results."""
    graph = tf.Graph()
    with graph.as_default():
        steps = PROGRAMS[name](tf)
        with tf.Session(graph=graph) as session:
            named = [run_step(session, step) for step in steps]
        return Case(name, graph.as_graph_def().SerializeToString(), named)


def run_step(session: Any, step: Step) -> NamedStep:
    nodes = [graph_element(session.graph, item) for item in step.fetches]
    results = session.run(nodes, step.feeds)
    feeds = {tensor.name: np.asarray(value) for tensor, value in step.feeds.items()}
    return NamedStep([node.name for node in nodes], feeds, [as_array(r) for r in results])


def graph_element(graph: Any, item: Any) -> Any:
    """The tensor or operation that is fetched for `item` (a variable, for one)."""
    return graph.as_graph_element(item, allow_tensor=True, allow_operation=True)


def as_array(result: Any) -> np.ndarray | None:
    if result is None:
        return None
    return np.asarray(result, object if isinstance(result, bytes | str) else None)


def rerun(session: Any, case: Case) -> list[list[np.ndarray | None]]:
    """Runs a case's steps by name in a session whose graph holds the imported GraphDef."""
    return [
        [as_array(value) for value in session.run(step.fetches, step.feeds)] for step in case.steps
    ]


def mismatches(case: Case, found: list[list[np.ndarray | None]], rtol: float = 2e-5) -> list[str]:
    """One line per result that is not what the case says."""
    problems = []
    for number, (step, values) in enumerate(zip(case.steps, found, strict=True)):
        for fetch, want, have in zip(step.fetches, step.results, values, strict=True):
            if problem := differs(want, have, rtol):
                problems.append(f"{case.name} step {number}, {fetch}: {problem}")
    return problems


def differs(want: np.ndarray | None, have: np.ndarray | None, rtol: float) -> str | None:
    if want is None or have is None:
        return None if want is have else f"wanted {want}, got {have}"
    if want.dtype != have.dtype or want.shape != have.shape:
        return f"wanted {want.dtype}{want.shape}, got {have.dtype}{have.shape}"
    if want.dtype.kind in "iub" or want.dtype == object:
        return None if np.array_equal(want, have) else f"wanted {want}, got {have}"
    if want.dtype.itemsize == 2:
        rtol = 1e-2
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    if np.allclose(have.astype(wide), want.astype(wide), rtol, rtol, equal_nan=True):
        return None
    return f"wanted {want}, got {have}"


def save(folder: Path, cases: list[Case]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = bytearray()

    def packed(array: np.ndarray | None) -> Any:
        return None if array is None else pack(Value(dtype_name(array), array), data)

    index = {
        case.name: [
            {
                "fetches": step.fetches,
                "feeds": {name: packed(value) for name, value in step.feeds.items()},
                "results": [packed(value) for value in step.results],
            }
            for step in case.steps
        ]
        for case in cases
    }
    for case in cases:
        (folder / f"{case.name}.pb").write_bytes(case.graph_def)
    (folder / "cases.json").write_text(json.dumps(index, separators=(",", ":")) + "\n")
    np.savez_compressed(folder / "values.npz", data=np.frombuffer(bytes(data), np.uint8))


def load(folder: Path) -> list[Case]:
    index = json.loads((folder / "cases.json").read_text())
    with np.load(folder / "values.npz") as stored:
        data = stored["data"].tobytes()

    def array(item: Any) -> np.ndarray | None:
        return None if item is None else unpack(*item, data).array

    return [
        Case(
            name,
            (folder / f"{name}.pb").read_bytes(),
            [
                NamedStep(
                    step["fetches"],
                    {key: array(item) for key, item in step["feeds"].items()},
                    [array(item) for item in step["results"]],
                )
                for step in steps
            ],
        )
        for name, steps in index.items()
    ]
