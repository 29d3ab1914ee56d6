"""Calls of concurrent steps as one: a server's requests become batches for a model.

`Batch` and `Unbatch` stand around the part of a graph that is to see batches; one of the steps of
a batch carries it there, the others carry nothing. `BatchFunction` calls a function for each batch.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import BLOCKING, HOST
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.shared import invalid
from weft.ops.queues.batching_objects import (
    Batcher,
    GradientBatcher,
    Options,
    Task,
    Unbatcher,
    joined,
    split_outputs,
)

_HOST = HOST | BLOCKING
_SHARED = 'container: string = "", shared_name: string = ""'
_SIZES = "max_enqueued_batches: int = 10, %sallowed_batch_sizes: list(int) = []"
_keys = itertools.count(1)


def _rows_unknown(dims: Dims) -> Dims:
    dims = s.with_rank_at_least(dims, 1)
    return None if dims is None else (None, *dims[1:])


def _shared(ctx: Any, kind: str, make: Any) -> Any:
    attrs = ctx.node.attrs
    return named_or_node(ctx, kind, attrs["container"], attrs["shared_name"], make)


def _task(inputs: list[Any], captured: list[Any]) -> Task:
    arrays = [np.asarray(x) for x in inputs]
    if any(not x.ndim for x in arrays):
        raise invalid("Batching input tensors must have at least one dimension")
    if len({len(x) for x in arrays}) > 1:
        raise invalid(
            "Batching input tensors supplied in a given op invocation must have equal"
            " 0th-dimension size"
        )
    return Task(next(_keys), arrays, captured)


# ---- batches in the graph ------------------------------------------------------------------------


def _batch_shape(c: ShapeContext) -> list[Dims]:
    return [*(_rows_unknown(c.dims(i)) for i in range(c.num_inputs)), (None, 3), ()]


def _hand_out(tasks: list[Task], options: Options) -> None:
    """The last of the tasks carries the batch, and says which rows are whose."""
    ends = np.cumsum([task.size for task in tasks])
    rows = [(task.key, end - task.size, end) for task, end in zip(tasks, ends, strict=True)]
    whole = joined(tasks, options)
    for task in tasks[:-1]:
        nothing = [x[:0] for x in task.inputs]
        task.promise.complete([*nothing, np.zeros((0, 3), np.int64), np.int64(task.key)])
    last = tasks[-1]
    last.promise.complete([*whole, np.array(rows, np.int64), np.int64(last.key)])


@op(
    "Batch", inputs="in_tensors: list(T)",
    outputs="batched_tensors: list(T), batch_index: int64, id: int64",
    attrs="num_batch_threads: int, max_batch_size: int,"
    f" {_SIZES % 'batch_timeout_micros: int, '}, grad_timeout_micros: int, {_SHARED},"
    ' batching_queue: string = "", T: list(type) >= 1',
    shape=_batch_shape, traits=_HOST,
)  # fmt: skip
def batch_(xp: Any, ctx: Any, in_tensors: list[Any], *, batching_queue: str) -> Any:
    attrs = ctx.node.attrs
    batcher = _shared(ctx, "batcher", lambda: Batcher(Options.of(attrs), _hand_out))
    return batcher.add(_task(in_tensors, []), batching_queue)


@batch_.gradient
def _(op: Operation, *grads: Any) -> list[Any]:
    return [
        raw.Unbatch(
            grad, op.outputs[-2], op.outputs[-1], timeout_micros=op.attrs["grad_timeout_micros"],
            shared_name=f"batch_gradient_{op.name}_{i}",
        )
        for i, grad in enumerate(grads[: len(op.inputs)])
    ]  # fmt: skip


@op(
    "Unbatch", inputs="batched_tensor: T, batch_index: int64, id: int64",
    outputs="unbatched_tensor: T", attrs=f"timeout_micros: int, {_SHARED}, T: type",
    shape=lambda c: _rows_unknown(c.dims(0)), traits=_HOST,
)  # fmt: skip
def unbatch_(
    xp: Any, ctx: Any, batched_tensor: Any, batch_index: Any, id: Any, *, timeout_micros: int
) -> Any:
    rows, index = np.asarray(batched_tensor), np.asarray(batch_index)
    if not rows.ndim or index.ndim != 2:
        raise invalid(
            "Unbatch needs a batch of at least one dimension and a matrix as its index; Got:"
            f" {s.show(rows.shape)} and {s.show(index.shape)}."
        )
    if len(index) > len(rows):
        raise invalid(
            "Wrong shape for index tensor. Expected 0th dimension size to be no greater than"
            f" {len(rows)}; Got: {len(index)}."
        )
    if index.shape[1] != 3:
        raise invalid(
            "Wrong shape for index tensor. Expected 1st dimension size to be 3 ; Got:"
            f" {index.shape[1]}."
        )
    unbatcher = _shared(ctx, "unbatcher", lambda: Unbatcher(timeout_micros / 1e6))
    return unbatcher.take(int(id), {k: rows[begin:end] for k, begin, end in index.tolist()})


@unbatch_.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    batched, index, key = op.inputs
    made = raw.UnbatchGrad(batched, index, grad, key, shared_name=f"unbatch_gradient_{op.name}")
    return [made, None, None]


@op(
    "UnbatchGrad", inputs="original_input: T, batch_index: int64, grad: T, id: int64",
    outputs="batched_grad: T", attrs=f"{_SHARED}, T: type",
    shape=lambda c: _rows_unknown(c.dims(2)), traits=_HOST,
)  # fmt: skip
def unbatch_grad_(
    xp: Any, ctx: Any, original_input: Any, batch_index: Any, grad: Any, id: Any
) -> Any:
    wanted = np.asarray(batch_index).reshape(-1, 3)[:, 0].tolist() if original_input.size else []
    if original_input.size and not wanted:
        raise invalid("batch_index is empty while the tensor isn't.")
    return _shared(ctx, "unbatch gradients", GradientBatcher).add(int(id), grad, wanted)


# ---- functions of batches ------------------------------------------------------------------------


class _Caller:
    """Calls a function for each batch, and gives each task its rows of the results."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, tasks: list[Task], options: Options) -> None:
        whole = joined(tasks, options)
        instance = self.function.take()
        try:
            outputs = instance([*whole, *tasks[-1].captured])
        finally:
            self.function.give_back(instance)
        rows = split_outputs(tasks, outputs, options.padded(sum(task.size for task in tasks)))
        for task, own in zip(tasks, rows, strict=True):
            task.promise.complete(own)


@op(
    "BatchFunction", inputs="in_tensors: list(Tin), captured_tensors: list(Tcaptured)",
    outputs="out_tensors: list(Tout)",
    attrs="f: func, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int,"
    f" {_SIZES % ''}, {_SHARED}, batching_queue: string = \"\","
    " Tin: list(type) >= 1, Tcaptured: list(type) >= 0, Tout: list(type) >= 1",
    shape=s.unknown, traits=_HOST,
)  # fmt: skip
def batch_function_(
    xp: Any, ctx: Any, in_tensors: list[Any], captured_tensors: list[Any], *, f: Any,
    batching_queue: str,
) -> Any:  # fmt: skip
    attrs = ctx.node.attrs
    batcher = _shared(
        ctx, "function batcher", lambda: Batcher(Options.of(attrs), _Caller(ctx.function(f)))
    )
    return batcher.add(_task(in_tensors, captured_tensors), batching_queue)
