"""Runs samples in weft: as nodes of a graph, by the kernel on NumPy, compiled, differentiated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import weft as tf
from tests.ops.sample import (
    SHAPE_MODES,
    Sample,
    Uninitialized,
    all_samples,
    dtype_name,
    has_gradient,
    is_arg,
    is_inexact,
    pattern,
    placeholder_dims,
)
from tests.parity import store
from tests.sharing import part_of
from weft.core import dtypes, errors
from weft.graph import kernel_call
from weft.graph.op_def import REGISTRY, raw
from weft.runtime.xla import haste
from weft.runtime.xla.options import compile_with


@lru_cache(maxsize=1)
def records() -> dict[str, store.Record]:
    """Everything that was recorded, by sample key."""
    found: dict[str, store.Record] = {}
    for family in sorted({sample.family for sample in all_samples()}):
        found |= store.load(family)
    return found


class Cell:
    """A variable as kernels see it, holding a NumPy array or a tracer."""

    def __init__(self, initial: Any) -> None:
        empty = isinstance(initial, Uninitialized)
        self.value = None if empty else initial
        self.shape = initial.shape
        self.dtype = dtypes.as_dtype(initial.dtype)

    @property
    def initialized(self) -> bool:
        return self.value is not None

    @property
    def dims(self) -> tuple[int, ...]:
        return self.shape if self.value is None else self.value.shape

    def read(self) -> Any:
        if self.value is None:
            raise errors.FailedPreconditionError(
                None, None, "Attempting to use uninitialized value"
            )
        return self.value

    def write(self, value: Any) -> None:
        self.value = value

    update = write


class Node:
    """The sample's node in the default graph, its inputs known as a shape mode says."""

    def __init__(self, sample: Sample, mode: str) -> None:
        self.definition = REGISTRY[sample.op]
        self.constant_args, self.knowledge = SHAPE_MODES[mode]
        self.feeds: dict[Any, np.ndarray] = {}
        self.initializers: list[Any] = []
        self.flat: list[Any] = []
        inferred = self.definition.inferred_attrs
        given = {name: v for name, v in sample.attrs.items() if name not in inferred or not v}
        for arg, value in zip(self.definition.input_args, sample.inputs, strict=True):
            many = isinstance(value, list)
            made = [self.tensor(arg, item) for item in (value if many else [value])]
            self.flat += made
            given[arg.name] = made if many else made[0]
        graph = tf.get_default_graph()
        self.definition(**given)
        self.op = graph.get_operations()[-1]
        self.outputs = list(self.op.outputs)

    def tensor(self, arg: Any, value: Any) -> Any:
        if is_variable(arg):
            return self.variable(arg, value)
        dtype = dtypes.as_dtype(dtype_name(value))
        if self.constant_args and is_arg(dtype.name):
            return tf.constant(value, dtype)
        made = raw.Placeholder(dtype=dtype, shape=placeholder_dims(value.shape, self.knowledge))
        self.feeds[made] = value
        return made

    def variable(self, arg: Any, value: Any) -> Any:
        empty = isinstance(value, Uninitialized)
        dtype = value.dtype if empty else dtype_name(value)
        if arg.is_ref:
            tensor = raw.VariableV2(shape=value.shape, dtype=dtype)
            assign = raw.Assign
        else:
            tensor = raw.VarHandleOp(shape=value.shape, dtype=dtype)
            assign = raw.AssignVariableOp
        if not empty:
            self.initializers.append(assign(tensor, tf.constant(value, dtype)))
        return tensor


def is_variable(arg: Any) -> bool:
    return arg.is_ref or arg.type is dtypes.resource


def static_shapes(sample: Sample, mode: str) -> list[Any]:
    """The static output shapes under a shape mode."""
    with tf.Graph().as_default():
        return [tensor.dims for tensor in Node(sample, mode).outputs]


@cache
def built(sample: Sample) -> Any:
    """The sample's operation. Shapes are hidden if possible, so that the kernel judges them."""
    for mode in ("nothing", "known"):
        with tf.Graph().as_default():
            try:
                return Node(sample, mode).op
            except ValueError:
                if mode == "known":
                    raise
    return None


def output_types(sample: Sample) -> list[str]:
    return [tensor.dtype.base_dtype.name for tensor in built(sample).outputs]


class KernelRun:
    """A kernel bound to a sample: which inputs are cells, which static, which may be traced."""

    def __init__(self, sample: Sample) -> None:
        self.definition = REGISTRY[sample.op]
        node = built(sample)
        attrs = node.attrs
        # A kernel that asks for more than its node holds resources, and is not replayed here.
        self.extra = [SimpleNamespace(node=node)] if self.definition.takes_ctx else []
        self.call = kernel_call.bind(self.definition, attrs)
        names = kernel_call.flat_arg_names(self.definition, attrs)
        args = {arg.name: arg for arg in self.definition.input_args}
        self.cells = [is_variable(args[name]) for name in names]
        values = sample.flat_inputs
        self.values = values
        self.traced = [
            i
            for i, name in enumerate(names)
            if name not in self.definition.static and not isinstance(values[i], Uninitialized)
        ]

    def run(self, xp: Any, traced: list[Any] | None = None) -> tuple[list[Any], list[Any]]:
        """(outputs, values of the variables afterwards); `traced` replaces the traced inputs."""
        values: list[Any] = list(self.values)
        if traced is not None:
            for i, value in zip(self.traced, traced, strict=True):
                values[i] = value
        inputs = [Cell(v) if cell else v for v, cell in zip(values, self.cells, strict=True)]
        results = self.call(xp, inputs, *self.extra)
        outputs = [out.read() if isinstance(out, Cell) else out for out in results]
        return outputs, [cell.value for cell in inputs if isinstance(cell, Cell)]


def on_numpy(sample: Sample, compiler: Compiler) -> tuple[list[Any], list[Any]]:
    """What the kernel makes of the sample when it is interpreted."""
    kernel = KernelRun(sample)
    if not kernel.definition.needs_xla:
        with np.errstate(all="ignore"):
            return kernel.run(np)
    # Such a kernel is compiled even when its node is interpreted.
    if compilable(sample):
        return compiler.result(sample)
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        return kernel.run(jnp)


def compilable(sample: Sample) -> bool:
    """Whether the sample belongs to the compiled check."""
    record = records().get(sample.key)
    failed = record is not None and (record.error or record.build_error)
    definition = REGISTRY[sample.op]
    if failed or not definition.traceable or definition.takes_rng:
        return False
    given = [*sample.flat_inputs, *sample.attrs.values()]
    return not any(isinstance(v, np.ndarray) and v.dtype == object for v in given)


@cache
def by_op() -> dict[str, list[Sample]]:
    """The samples of each op that there is."""
    found: dict[str, list[Sample]] = {}
    for sample in all_samples():
        if sample.op in REGISTRY:
            found.setdefault(sample.op, []).append(sample)
    return found


def check_each(samples: Sequence[Sample], check: Callable[[Sample], None]) -> None:
    """Checks all samples; where some fail, raises what each of them raised."""
    failed: list[Exception] = []
    for sample in samples:
        try:
            check(sample)
        except Exception as error:
            error.add_note(f"the sample is {sample!r}")
            failed.append(error)
    if failed:
        raise ExceptionGroup(f"of {len(samples)} samples fail {len(failed)}", failed)


class Compiler:
    """Compiles samples in the background, one program for each part: compiling is what costs.

    A part is what one process tests: enough to pay for a compilation once, little enough that
    running one test alone stays quick. `samples` are those that may be asked for. One of several
    processes that share the tests is not `eager`: it compiles a part when it is first asked for
    one of its samples.
    """

    def __init__(self, samples: Iterable[Sample], eager: bool) -> None:
        self.pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="compile-samples")
        self.members: dict[int, list[Sample]] = {}
        for sample in samples:
            self.members.setdefault(part_of(sample.op), []).append(sample)
        parts = self.members if eager else ()
        self.results: dict[int, Any] = {
            part: self.pool.submit(compile_samples, self.members[part]) for part in parts
        }

    def result(self, sample: Sample) -> tuple[list[Any], list[Any]]:
        """What the compiled kernel gives; raises what tracing it raised."""
        part = part_of(sample.op)
        if part not in self.results:
            self.results[part] = compile_samples(self.members[part])
        of_part = self.results[part]
        if isinstance(of_part, Future):
            of_part = of_part.result()
        found = of_part[sample.key]
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


def compile_samples(samples: list[Sample]) -> dict[str, Any]:
    """The results of all samples, or what tracing them raised, by sample key."""
    import jax
    import jax.numpy as jnp

    kernels: dict[str, KernelRun] = {}
    results: dict[str, Any] = {}
    for sample in samples:
        try:
            kernels[sample.key] = KernelRun(sample)
        except Exception as error:
            results[sample.key] = error
    arguments = {key: [k.values[i] for i in k.traced] for key, k in kernels.items()}

    def program(arguments: dict[str, list[Any]]) -> dict[str, Any]:
        traced: dict[str, Any] = {}
        for key, kernel in kernels.items():
            try:
                traced[key] = kernel.run(jnp, arguments[key])
            except Exception as error:
                results[key] = error
        return traced

    with jax.enable_x64(True):
        with jax.default_matmul_precision("highest"):
            executable = compile_with(jax.jit(program).lower(arguments), haste.AT_ONCE)
        found = executable(arguments)
        return results | {key: jax.tree.map(np.asarray, value) for key, value in found.items()}


def gradients(sample: Sample, record: store.Record, order: int = 1) -> list[Any]:
    """Gradients of the outputs (order 1) or of these gradients (order 2), run by weft."""
    with tf.Graph().as_default() as graph:
        node = Node(sample, "known")
        xs = [x for x, v in zip(node.flat, sample.flat_inputs, strict=True) if has_gradient(v)]
        visible = [y for y in node.outputs if y.dtype.base_dtype is not dtypes.resource]
        pairs = zip(visible, record.outputs or (), strict=True)
        wanted = _gradients([(y, v) for y, v in pairs if is_inexact(v.dtype)], xs)
        if order == 2:
            wanted = _gradients(list(_differentiable(wanted, record.grads or [])), xs)
        with tf.Session(graph=graph) as session:
            session.run(node.initializers)
            found = iter(session.run([g for g in wanted if g is not None], node.feeds))
    return [None if g is None else next(found) for g in wanted]


def _differentiable(found: list[Any], values: list[Any]) -> Iterator[tuple[Any, store.Value]]:
    for grad, value in zip(found, values, strict=True):
        if grad is not None and value is not None:
            yield grad, value


def _gradients(pairs: list[tuple[Any, store.Value]], xs: list[Any]) -> list[Any]:
    seeds = [tf.constant(pattern(v.array.shape, v.dtype)) for _, v in pairs]
    found = tf.gradients([y for y, _ in pairs], xs, seeds)
    return [None if g is None else tf.convert_to_tensor(g) for g in found]
