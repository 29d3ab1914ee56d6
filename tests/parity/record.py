"""Replays the samples of `tests/ops/samples` in TensorFlow and keeps what comes out.

    .venv-tf/bin/python -m tests.parity.record             # samples not recorded yet
    .venv-tf/bin/python -m tests.parity.record --all       # everything again
    .venv-tf/bin/python -m tests.parity.record math nn     # these families only

Each sample is built in graph mode with the argument names of TensorFlow's own op registry and run
on the CPU without graph optimizations. Kept are values, static shapes, gradients, or the error.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import op_def_library, op_def_registry

from tests.ops.sample import (
    SHAPE_MODES,
    Sample,
    Uninitialized,
    all_samples,
    dtype_name,
    families,
    has_gradient,
    is_arg,
    is_inexact,
    pattern,
    placeholder_dims,
)
from tests.parity import store
from tests.parity.store import Record, Value

tf = tf2.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

RESOURCE = 20
UNSTABLE = "TensorFlow gives something else every time"
NO_KERNEL = ("No OpKernel was registered", "could not find device", "Could not find device")


class Unaskable(Exception):
    """The sample does not fit TensorFlow's signature of the op."""


class Call:
    """The sample's node in a fresh graph, with its inputs known as a shape mode says."""

    def __init__(self, sample: Sample, mode: str) -> None:
        self.definition = definition_of(sample)
        self.constant_args, self.knowledge = SHAPE_MODES[mode]
        self.feeds: dict[Any, np.ndarray] = {}
        self.variables: list[Any] = []  # ref tensors, or (handle, dtype)
        self.initializers: list[Any] = []
        self.flat: list[Any] = []
        keywords = attributes(sample, self.definition)
        if len(self.definition.input_arg) != len(sample.inputs):
            wanted = [arg.name for arg in self.definition.input_arg]
            raise Unaskable(f"{len(sample.inputs)} inputs given, {wanted} wanted")
        for arg, value in zip(self.definition.input_arg, sample.inputs, strict=True):
            many = isinstance(value, list)
            made = [self.tensor(arg, item) for item in (value if many else [value])]
            self.flat += made
            keywords[arg.name] = made if many else made[0]
        op = op_def_library._apply_op_helper(sample.op, name=None, **keywords)[2]
        self.op = op if isinstance(op, tf.Operation) else first(op).op
        self.outputs = list(self.op.outputs)

    def tensor(self, arg: Any, value: Any) -> Any:
        if arg.is_ref or arg.type == RESOURCE:
            return self.variable(arg, value)
        dtype = dtype_name(value)
        if self.constant_args and is_arg(dtype):
            return tf.constant(value, dtype)
        placeholder = tf.placeholder(dtype, placeholder_dims(value.shape, self.knowledge))
        self.feeds[placeholder] = value
        return placeholder

    def variable(self, arg: Any, value: Any) -> Any:
        empty = isinstance(value, Uninitialized)
        dtype = value.dtype if empty else dtype_name(value)
        if arg.is_ref:
            tensor = tf.raw_ops.VariableV2(shape=value.shape, dtype=dtype)
            self.variables.append(tensor)
            if not empty:
                self.initializers.append(tf.raw_ops.Assign(ref=tensor, value=value).op)
        else:
            name = f"variable_{len(self.variables)}"
            tensor = tf.raw_ops.VarHandleOp(shape=value.shape, dtype=dtype, shared_name=name)
            self.variables.append((tensor, dtype))
            if not empty:
                value = tf.constant(value, dtype)
                made = tf.raw_ops.AssignVariableOp(resource=tensor, value=value)
                self.initializers.append(made)
        return tensor

    def states(self) -> list[tuple[Any, Any]]:
        """For every variable: whether it holds a value, and the value."""
        pairs = []
        for variable in self.variables:
            if isinstance(variable, tuple):
                handle, dtype = variable
                full = tf.raw_ops.VarIsInitializedOp(resource=handle)
                pairs.append((full, tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)))
            else:
                full = tf.raw_ops.IsVariableInitialized(ref=variable)
                pairs.append((full, tf.identity(variable)))
        return pairs

    def fed(self) -> dict[Any, np.ndarray]:
        """What to feed. Copies, because TensorFlow's in-place ops write into what they are fed."""
        return {placeholder: value.copy() for placeholder, value in self.feeds.items()}

    def session(self) -> Any:
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        session = tf.Session(config=config)
        session.run(self.initializers)
        return session


def definition_of(sample: Sample) -> Any:
    definition = op_def_registry.get(sample.op)
    if definition is None:
        raise Unaskable("TensorFlow has no such op")
    return definition


def first(made: Any) -> Any:
    while isinstance(made, list | tuple):
        made = made[0]
    return made


def attributes(sample: Sample, definition: Any) -> dict[str, Any]:
    kinds = {attr.name: attr.type for attr in definition.attr}
    if unknown := sorted(set(sample.attrs) - set(kinds)):
        raise Unaskable(f"TensorFlow's op has no attr {unknown}")
    # What follows from the inputs may not be said again; the rest must be, if only as None.
    inferred = {
        name
        for arg in definition.input_arg
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    given: dict[str, Any] = {a.name: None for a in definition.attr if a.HasField("default_value")}
    given |= {name: attribute(kinds[name], value) for name, value in sample.attrs.items()}
    return {name: value for name, value in given.items() if name not in inferred}


def attribute(kind: str, value: Any) -> Any:
    if kind.startswith("list("):
        return [attribute(kind[5:-1], item) for item in value]
    if kind == "type":
        return tf.as_dtype(value)
    if kind == "tensor":
        return tf.make_tensor_proto(value, dtype_name(value), value.shape)
    if kind == "shape":
        return tf.TensorShape(value)
    return value


def record(sample: Sample) -> Record:
    result = Record(sample.id)
    try:
        definition_of(sample)
        attributes(sample, definition_of(sample))
    except Unaskable as problem:
        result.missing = str(problem)
        return result
    for mode in SHAPE_MODES:
        result.shapes[mode] = static_shapes(sample, mode, result)
    compute(sample, result)
    keep_what_repeats(sample, result)
    return result


def compute(sample: Sample, result: Record) -> None:
    run(sample, result)
    wanted = sample.grad is not False and not result.build_error
    if result.outputs is not None and wanted:
        differentiate(sample, result)


def keep_what_repeats(sample: Sample, result: Record) -> None:
    """Drops what a second run gives differently: a few kernels return memory nobody wrote to."""
    again = Record(sample.id, build_error=result.build_error)
    scribble()
    compute(sample, again)
    if not same(result.outputs, again.outputs) or not same(result.state, again.state):
        result.missing = UNSTABLE
        result.outputs = result.state = result.grads = result.grads2 = None
    if not same(result.grads, again.grads) and result.outputs is not None:
        result.grads = result.grads2 = None
        result.grad_error = UNSTABLE
    if not same(result.grads2, again.grads2):
        result.grads2 = None


def scribble() -> None:
    """Fills memory that is about to be free with something that is not zero."""
    for size in range(8, 4096, 8):
        np.full(size, 0x5A, np.uint8)


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


def static_shapes(sample: Sample, mode: str, result: Record) -> list[store.Dims] | None:
    with tf.Graph().as_default():
        try:
            outputs = Call(sample, mode).outputs
        except (ValueError, tf.errors.OpError) as error:
            if mode == "known":
                result.build_error, result.message = type(error).__name__, brief(error)
            return None
    return [None if t.shape.rank is None else tuple(t.shape.as_list()) for t in outputs]


def run(sample: Sample, result: Record) -> None:
    with tf.Graph().as_default():
        try:
            # Where known shapes already fail, ask the kernel by hiding them.
            call = Call(sample, "nothing" if result.build_error else "known")
        except (ValueError, tf.errors.OpError):
            return
        try:
            execute(call, result)
        except tf.errors.OpError as error:
            if any(text in str(error) for text in NO_KERNEL):
                result.missing = "TensorFlow has no CPU kernel for it"
            else:
                result.error, result.message = type(error).__name__, brief(error)


def execute(call: Call, result: Record) -> None:
    states = call.states()
    fetched = [t for t in call.outputs if t.dtype.base_dtype != tf.resource]
    with call.session() as session:
        values = session.run([fetched, call.op], call.fed())[0]
        result.outputs = [made(t, value) for t, value in zip(fetched, values, strict=True)]
        if states:
            result.state = [
                made(read, session.run(read)) if session.run(full) else None
                for full, read in states
            ]


def made(tensor: Any, value: Any) -> Value:
    name = tensor.dtype.base_dtype.name
    array = np.asarray(value, object if name == "string" else None)
    if array.dtype.names:
        array = array[array.dtype.names[0]]
    return Value(name, array)


def differentiate(sample: Sample, result: Record) -> None:
    with tf.Graph().as_default():
        call = Call(sample, "known")
        xs = [x for x, v in zip(call.flat, sample.flat_inputs, strict=True) if has_gradient(v)]
        ys, shapes = [], []
        for y, value in zip(call.outputs, result.outputs or (), strict=False):
            if is_inexact(value.dtype):
                ys.append(y)
                shapes.append(value.array.shape)
        if not xs or not ys:
            return
        try:
            grads = gradients(ys, xs, shapes)
            with call.session() as session:
                result.grads = fetch(session, grads, call)
                result.grads2 = second(session, grads, result.grads, xs, call)
        except (
            LookupError,
            ValueError,
            TypeError,
            NotImplementedError,
            tf.errors.OpError,
        ) as error:
            if result.grads is None:
                result.grad_error = type(error).__name__


def gradients(ys: list[Any], xs: list[Any], shapes: list[tuple[int, ...]]) -> list[Any]:
    seeds = [
        tf.constant(pattern(shape, y.dtype.base_dtype.name))
        for y, shape in zip(ys, shapes, strict=True)
    ]
    found = tf.gradients(ys, xs, seeds)
    return [None if g is None else tf.convert_to_tensor(g) for g in found]


def fetch(session: Any, grads: list[Any], call: Call) -> list[Value | None]:
    present = [g for g in grads if g is not None]
    values = iter(session.run(present, call.fed()))
    return [None if g is None else made(g, next(values)) for g in grads]


def second(
    session: Any, grads: list[Any], values: list[Value | None], xs: list[Any], call: Call
) -> list[Value | None] | None:
    """Gradients of the gradients; None where TensorFlow has none."""
    pairs = [(g, v) for g, v in zip(grads, values, strict=True) if g is not None and v is not None]
    if not pairs:
        return None
    found = gradients([g for g, _ in pairs], xs, [v.array.shape for _, v in pairs])
    return fetch(session, found, call) if any(g is not None for g in found) else None


def brief(error: Exception) -> str:
    lines = (getattr(error, "message", None) or str(error)).split("\n")
    told = [line.strip() for line in lines if line.strip() and "Graph execution error" not in line]
    told = [line for line in told if not line.startswith(("Detected at", "File ", "Node:"))]
    return told[0][:200] if told else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("families", nargs="*", help="families to record (default: every one)")
    parser.add_argument("--all", action="store_true", help="record known samples again")
    options = parser.parse_args()
    for family in options.families or families():
        samples = [sample for sample in all_samples() if sample.family == family]
        update(family, samples, {} if options.all else store.load(family))


def update(family: str, samples: list[Sample], known: dict[str, Record]) -> None:
    records: dict[str, Record] = {}
    fresh = 0
    for sample in samples:
        result = known.get(sample.key) or record_loudly(sample)
        if result is not None:
            records[sample.key] = result
            fresh += sample.key not in known
    if fresh or list(records) != list(known):
        store.save(family, records)
    print(f"{family}: {len(samples)} samples, {fresh} recorded")


def record_loudly(sample: Sample) -> Record | None:
    """Records a sample and says what is unusual about it: a mistake in the sample shows here."""
    try:
        result = record(sample)
    except Exception as problem:
        print(f"cannot record {sample!r}: {type(problem).__name__}: {problem}", file=sys.stderr)
        return None
    for name in ("missing", "build_error", "error"):
        if text := getattr(result, name):
            print(f"{sample.op}: {name} {text}: {result.message} [{sample.id}]")
    return result


if __name__ == "__main__":
    main()
