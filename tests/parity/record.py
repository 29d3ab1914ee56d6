"""Replays the samples of `tests/ops/samples` in TensorFlow and keeps what comes out.

    python -m tests.parity.record --tensorflow PYTHON ...              # samples not recorded yet
    python -m tests.parity.record --tensorflow PYTHON ... --all        # everything again
    python -m tests.parity.record --tensorflow PYTHON ... -- math nn   # these families only

Each PYTHON is an interpreter with a TensorFlow: first of all that of 1.15 (Python 3.7), whose
behaviour is what counts, then a later one, for what 1.15 does not have. Each sample is built in
graph mode by `in_tensorflow.py`. Kept are values, static shapes, gradients, or the error.
"""

from __future__ import annotations

import argparse
import pickle
import select
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.sample import (
    DTYPES,
    SHAPE_MODES,
    Sample,
    Uninitialized,
    all_samples,
    dtype_name,
    families,
    has_gradient,
    placeholder_dims,
)
from tests.parity import later, store
from tests.parity.store import Record, Value

PATIENCE = 120  # seconds for a sample
UNSTABLE = "TensorFlow gives something else every time"


class Process:
    """A TensorFlow that is asked about samples, started again when one of them has ended it."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, sample: Sample) -> Record | None:
        """What it made of the sample; None if the sample ended it, or kept it busy."""
        if self.process is None:
            program = [self.python, "-W", "ignore", str(Path(__file__).parent / "in_tensorflow.py")]
            self.process = subprocess.Popen(
                program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        asked, answers = self.process.stdin, self.process.stdout
        assert asked is not None and answers is not None
        content = pickle.dumps(request(sample), 2)
        asked.write(struct.pack("<I", len(content)) + content)
        asked.flush()
        size = answers.read(4) if select.select([answers], [], [], PATIENCE)[0] else b""
        if len(size) < 4:
            self.close()
            return None
        answer = pickle.loads(answers.read(struct.unpack("<I", size)[0]))
        if isinstance(answer, str):
            raise ValueError(answer)
        return what_repeats(*(to_record(sample, fields) for fields in answer))

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


# ---- what is said to it, and what it says ------------------------------------------------------


def request(sample: Sample) -> dict[str, Any]:
    flat = sample.flat_inputs
    return {
        "op": sample.op,
        "inputs": [spelled(value) for value in sample.inputs],
        "attrs": {name: spelled_attr(value) for name, value in sample.attrs.items()},
        "differentiate": None if sample.grad is False else list(map(has_gradient, flat)),
        "modes": {
            name: (constant_args, [placeholder_dims(value.shape, known) for value in flat])
            for name, (constant_args, known) in SHAPE_MODES.items()
        },
    }


def spelled(value: Any) -> Any:
    if isinstance(value, list):
        return [spelled(item) for item in value]
    if isinstance(value, Uninitialized):
        return value.dtype, value.shape, None
    name = dtype_name(value)
    return name, value.shape, value.ravel().tolist() if name == "string" else value.tobytes()


def spelled_attr(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return spelled(np.asarray(value))
    if isinstance(value, list | tuple):
        return [spelled_attr(item) for item in value]
    return value


def to_record(sample: Sample, fields: dict[str, Any]) -> Record:
    known = dict(fields)
    for name in ("outputs", "state", "grads", "grads2"):
        if known.get(name) is not None:
            known[name] = [None if value is None else to_value(*value) for value in known[name]]
    return Record(sample.id, **known)


def to_value(dtype: str, shape: tuple[int, ...], content: Any) -> Value:
    if dtype == "string":
        array = np.empty(len(content), object)
        array[:] = content
    else:
        storage = store.STORAGE.get(dtype) or DTYPES[dtype]
        array = np.frombuffer(content, storage)
    return Value(dtype, array.reshape(shape))


def what_repeats(result: Record, again: Record) -> Record:
    """Drops what a second run gave differently: a few kernels return memory nobody wrote to."""
    if not same(result.outputs, again.outputs) or not same(result.state, again.state):
        result.missing = UNSTABLE
        result.outputs = result.state = result.grads = result.grads2 = None
    if not same(result.grads, again.grads) and result.outputs is not None:
        result.grads = result.grads2 = None
        result.grad_error = UNSTABLE
    if not same(result.grads2, again.grads2):
        result.grads2 = None
    return result


def same(one: list[Value | None] | None, two: list[Value | None] | None) -> bool:
    if one is None or two is None:
        return one is two
    pairs = list(zip(one, two, strict=True))
    if any(x is None or y is None for x, y in pairs):
        pairs = [(x, y) for x, y in pairs if x is not y]
    return all(x and y and equal(x.array, y.array) for x, y in pairs)


def equal(one: np.ndarray, two: np.ndarray) -> bool:
    if one.dtype == object:
        return one.tolist() == two.tolist()
    return one.shape == two.shape and one.tobytes() == two.tobytes()


# ---- keeping it --------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("families", nargs="*", help="families to record (default: every one)")
    parser.add_argument("--tensorflow", nargs="+", required=True, metavar="PYTHON")
    parser.add_argument("--all", action="store_true", help="record known samples again")
    options = parser.parse_args()
    tensorflows = [Process(python) for python in options.tensorflow]
    for family in options.families or families():
        samples = [sample for sample in all_samples() if sample.family == family]
        update(family, samples, {} if options.all else store.load(family), tensorflows)
    for each in tensorflows:
        each.close()


def update(
    family: str, samples: list[Sample], known: dict[str, Record], tensorflows: list[Process]
) -> None:
    records: dict[str, Record] = {}
    fresh = 0
    for sample in samples:
        result = known.get(sample.key) or record(sample, tensorflows)
        records[sample.key] = result
        fresh += sample.key not in known
    if fresh or list(records) != list(known):
        store.save(family, records)
    print(f"{family}: {len(samples)} samples, {fresh} recorded", flush=True)


def record(sample: Sample, tensorflows: list[Process]) -> Record:
    """What the first TensorFlow says that has something to say; tells what is unusual about it."""
    wanted = tensorflows[later.is_wanted(sample.id) :] or tensorflows
    result = Record(sample.id, missing="TensorFlow has no such op")
    for each in wanted:
        try:
            said = each.ask(sample)
        except ValueError as problem:
            print(f"cannot record {sample!r}: {problem}", file=sys.stderr)
            continue
        if said is None:
            print(f"{sample.op}: ends TensorFlow, or takes too long [{sample.id}]", file=sys.stderr)
            continue
        result = said
        if result.missing is None:
            break
    for name in ("missing", "build_error", "error"):
        if text := getattr(result, name):
            print(f"{sample.op}: {name} {text}: {result.message} [{sample.id}]")
    return result


if __name__ == "__main__":
    main()
