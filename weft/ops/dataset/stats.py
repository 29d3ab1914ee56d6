"""Statistics of pipelines, gathered by an aggregator and read as a summary."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE
from weft.ops.dataset.declare import INPUT, dataset_op
from weft.ops.dataset.objects import Dataset, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import cell
from weft.ops.kit.resource_names import find_or_make


class Aggregator:
    """Values by tag, and counters."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: defaultdict[str, list[float]] = defaultdict(list)
        self.counters: defaultdict[str, float] = defaultdict(float)

    def add(self, tag: str, value: float) -> None:
        with self.lock:
            self.values[tag].append(value)

    def summary(self) -> bytes:
        from tensorboard.compat.proto.summary_pb2 import Summary

        found = Summary()
        with self.lock:
            for tag, values in self.values.items():
                _fill(found.value.add(tag=tag).histo, np.asarray(values))
            for tag, value in self.counters.items():
                found.value.add(tag=tag, simple_value=value)
        content: bytes = found.SerializeToString()
        return content


class WritingAggregator(Aggregator):
    """Writes what it is told as events, once it has a writer; a summary of it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.writer: Any = None

    def add(self, tag: str, value: float) -> None:
        super().add(tag, value)
        if self.writer is not None:
            self._write(tag)

    def _write(self, tag: str) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        with self.lock:
            values = np.asarray(self.values[tag])
        event = Event(step=len(values), wall_time=time.time())
        _fill(event.summary.value.add(tag=tag).histo, values)
        self.writer.opened().add_event(event)

    def summary(self) -> bytes:
        return b""


def _fill(message: Any, values: np.ndarray) -> None:
    message.min, message.max = float(values.min()), float(values.max())
    message.num, message.sum = float(len(values)), float(values.sum())
    message.sum_squares = float((values**2).sum())
    counts, edges = np.histogram(values, bins=min(len(values), 30))
    message.bucket_limit.extend(edges[1:].tolist())
    message.bucket.extend(counts.astype(float).tolist())


def _handle_op(name: str, kind: type[Aggregator] = Aggregator) -> None:
    @op(
        name, outputs="handle: resource", shape=s.scalar,
        attrs='container: string = "", shared_name: string = ""', traits=HOST_STATE,
    )  # fmt: skip
    def handle(xp: Any, ctx: Any, *, container: str, shared_name: str) -> Aggregator:
        found, _ = find_or_make(ctx, "stats_aggregator", container, shared_name, lambda _: kind())
        return found


def _summary_op(name: str) -> None:
    @op(
        name,
        inputs="iterator: resource",
        outputs="summary: string",
        shape=s.scalar,
        traits=HOST_STATE,
    )
    def summary(xp: Any, ctx: Any, iterator: Aggregator) -> Any:
        return cell(iterator.summary())


for prefix in ("", "Experimental"):
    _handle_op(f"{prefix}StatsAggregatorHandle")
    _summary_op(f"{prefix}StatsAggregatorSummary")
_handle_op("StatsAggregatorHandleV2", WritingAggregator)


@op(
    "StatsAggregatorSetSummaryWriter", inputs="stats_aggregator: resource, summary: resource",
    shape=s.none, traits=HOST_STATE,
)  # fmt: skip
def set_summary_writer(xp: Any, stats_aggregator: Aggregator, summary: Any) -> None:
    if isinstance(stats_aggregator, WritingAggregator):
        stats_aggregator.writer = summary


# ---- datasets ------------------------------------------------------------------------------------


class SetAggregator(Unary):
    """Everything below tells `aggregator` what it measures."""

    def __init__(self, input: Dataset, aggregator: Aggregator, prefix: str) -> None:
        super().__init__(input)
        self.aggregator, self.prefix = aggregator, prefix

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        scope.measure = self._add
        return self.input.open(scope)

    def _add(self, tag: str, value: float) -> None:
        self.aggregator.add(f"{self.prefix}::{tag}" if self.prefix else tag, value)


@dataset_op(
    "SetStatsAggregatorDataset",
    f"{INPUT}, stats_aggregator: resource, tag: string, counter_prefix: string", stateful=True,
    experimental=True,
)  # fmt: skip
def set_stats_aggregator_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, stats_aggregator: Aggregator, tag: Any,
    counter_prefix: Any,
) -> Dataset:  # fmt: skip
    return SetAggregator(input_dataset, stats_aggregator, np.asarray(tag).item().decode())


class Measured(Unary):
    """Passes elements on and measures them: their size, or how long they took."""

    def __init__(self, input: Dataset, tag: str, of_size: bool) -> None:
        super().__init__(input)
        self.tag, self.of_size = tag, of_size

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Measuring(self.input.open(scope), self, scope)


class Measuring(Over):
    def __init__(self, input: Iterator, dataset: Measured, scope: Scope) -> None:
        super().__init__(input)
        self.tag, self.of_size, self.measure = dataset.tag, dataset.of_size, scope.measure

    def next(self) -> Any:
        start = time.perf_counter()
        element = self.input.next()
        if element is not None and self.measure is not None:
            spent = (time.perf_counter() - start) * 1e6
            self.measure(self.tag, sum(map(_size, element)) if self.of_size else spent)
        return element


def _size(value: Any) -> float:
    if type(value) is bytes:
        return len(value)
    array = np.asarray(value)
    return sum(map(len, array.ravel())) if array.dtype == object else array.nbytes


def _measured_op(name: str, of_size: bool) -> None:
    @dataset_op(name, f"{INPUT}, tag: string", experimental=True)
    def measured(xp: Any, input_dataset: Dataset, tag: Any) -> Dataset:
        return Measured(input_dataset, np.asarray(tag).item().decode(), of_size)


_measured_op("BytesProducedStatsDataset", True)
_measured_op("LatencyStatsDataset", False)
