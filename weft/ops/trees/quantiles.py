"""Operations on streams of quantiles, by which boosted trees make buckets of numbers."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.shared import invalid
from weft.ops.trees import quantile_stream
from weft.ops.trees.quantile_stream import Stream

Array = np.ndarray
_HANDLE = "quantile_stream_resource_handle: resource"


class Streams:
    """The object behind a handle: a stream and boundaries for each feature, once created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.boundaries: list[Array] = []
        self._streams: list[Stream] | None = None
        self._how: tuple[float, int] = (0.0, 0)

    @property
    def initialized(self) -> bool:
        return self._streams is not None

    def create(self, epsilon: float, max_elements: int, count: int) -> None:
        self._how = (epsilon, max_elements)
        self.boundaries = [np.zeros(0, np.float32)] * count
        self._streams = [Stream(*self._how) for _ in range(count)]

    @property
    def streams(self) -> list[Stream]:
        if self._streams is None:
            raise errors.NotFoundError(
                None, None,
                f"Resource {self.name}/BoostedTreesQuantileStreamResource does not exist.",
            )  # fmt: skip
        return self._streams

    def finish(self) -> list[quantile_stream.Summary]:
        """The summaries of the streams, which begin anew."""
        found = [stream.finish() for stream in self.streams]
        self._streams = [Stream(*self._how) for _ in found]
        return found


@op(
    "BoostedTreesQuantileStreamResourceHandleOp", outputs="resource: resource",
    attrs='container: string = "", shared_name: string = ""', shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def quantile_handle(xp: Any, ctx: Any) -> Streams:
    attrs = ctx.node.attrs
    name = attrs["shared_name"] or ctx.node.name
    return named_or_node(
        ctx, "quantile streams", attrs["container"], attrs["shared_name"], lambda: Streams(name)
    )


@op(
    "IsBoostedTreesQuantileStreamResourceInitialized", inputs=_HANDLE,
    outputs="is_initialized: bool", shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def is_quantile_initialized(xp: Any, quantile_stream_resource_handle: Streams) -> Array:
    return np.array(quantile_stream_resource_handle.initialized)


def _all_scalars(c: ShapeContext) -> Any:
    for i in range(c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return []


@op(
    "BoostedTreesCreateQuantileStreamResource",
    inputs=f"{_HANDLE}, epsilon: float, num_streams: int64",
    attrs="max_elements: int = 1099511627776", shape=_all_scalars, traits=HOST_STATE,
)  # fmt: skip
def create_quantile_streams(
    xp: Any, quantile_stream_resource_handle: Streams, epsilon: Any, num_streams: Any,
    *, max_elements: int,
) -> None:  # fmt: skip
    """Gives a handle its streams, unless it has some."""
    if epsilon <= 0:
        raise invalid("An epsilon value of zero is not allowed.")
    if num_streams < 0:
        raise invalid("Num_streams input cannot be a negative integer")
    with quantile_stream_resource_handle.lock:
        if not quantile_stream_resource_handle.initialized:
            quantile_stream_resource_handle.create(float(epsilon), max_elements, int(num_streams))


def _of_features(dims: Dims) -> Any:
    return lambda c: [dims] * c.attr("num_features")


def _make_dims(c: ShapeContext) -> list[Dims]:
    count = c.attr("num_features")
    for i in range(count + 1):
        s.with_rank(c.dims(i), 1)
    s.with_rank(c.dims(count + 1), 0)
    return [(None, 4)] * count


@op(
    "BoostedTreesMakeQuantileSummaries",
    inputs="float_values: num_features * float, example_weights: float, epsilon: float",
    outputs="summaries: num_features * float", attrs="num_features: int >= 0",
    shape=_make_dims, traits=HOST,
)  # fmt: skip
def make_quantile_summaries(
    xp: Any, float_values: Any, example_weights: Array, epsilon: Any
) -> list[Array]:
    if not float_values:
        raise errors.InternalError(None, None, "Got empty feature list")
    count = float_values[0].size
    if example_weights.size not in (1, count):
        raise invalid("Weights should be a single value or same size as features.")
    weights = np.broadcast_to(np.ravel(example_weights), (count,))
    found = []
    for values in float_values:
        stream = Stream(float(epsilon), count + 1)
        stream.push_values(np.ravel(values), weights)
        found.append(quantile_stream.to_array(stream.finish()))
    return found


@op(
    "BoostedTreesFlushQuantileSummaries", inputs=_HANDLE, outputs="summaries: num_features * float",
    attrs="num_features: int >= 0", shape=_of_features((None, 4)), traits=HOST_STATE,
)  # fmt: skip
def flush_quantile_summaries(xp: Any, quantile_stream_resource_handle: Streams) -> list[Array]:
    with quantile_stream_resource_handle.lock:
        found = quantile_stream_resource_handle.finish()
    return [quantile_stream.to_array(summary) for summary in found]


def _summary_dims(c: ShapeContext) -> Any:
    s.with_rank(c.dims(0), 0)
    for i in range(1, c.num_inputs):
        s.with_rank(c.dims(i), 2)
    return []


@op(
    "BoostedTreesQuantileStreamResourceAddSummaries",
    inputs=f"{_HANDLE}, summaries: num_features * float", attrs="num_features: int >= 0",
    shape=_summary_dims, traits=HOST_STATE,
)  # fmt: skip
def add_quantile_summaries(
    xp: Any, quantile_stream_resource_handle: Streams, summaries: Any
) -> None:
    with quantile_stream_resource_handle.lock:
        streams = quantile_stream_resource_handle.streams
        _check_count(len(streams), len(summaries), "summaries_list.size()")
        for stream, rows in zip(streams, summaries, strict=True):
            if rows.shape[1] != 4:
                raise errors.InternalError(
                    None, None, f"Expected tensor_shape.dim_size(1) == 4, got {rows.shape[1]}"
                )
            stream.push(quantile_stream.from_array(rows))


def _check_count(streams: int, others: int, what: str) -> None:
    if streams != others:
        raise errors.InternalError(
            None, None, f"Expected num_streams == {what}, got {streams} vs {others}"
        )


@op(
    "BoostedTreesQuantileStreamResourceFlush", inputs=f"{_HANDLE}, num_buckets: int64",
    attrs="generate_quantiles: bool = false", shape=_all_scalars, traits=HOST_STATE,
)  # fmt: skip
def flush_quantile_streams(
    xp: Any, quantile_stream_resource_handle: Streams, num_buckets: Any, *, generate_quantiles: bool
) -> None:
    """Makes boundaries of what the streams know."""
    count = int(num_buckets)
    with quantile_stream_resource_handle.lock:
        for i, summary in enumerate(quantile_stream_resource_handle.finish()):
            found = (
                quantile_stream.quantiles(summary, count - 1)
                if generate_quantiles
                else quantile_stream.boundaries(summary, count)
            )
            quantile_stream_resource_handle.boundaries[i] = np.array(found, np.float32)


def _vectors(c: ShapeContext) -> Any:
    s.with_rank(c.dims(0), 0)
    for i in range(1, c.num_inputs):
        s.with_rank(c.dims(i), 1)
    return []


@op(
    "BoostedTreesQuantileStreamResourceDeserialize",
    inputs=f"{_HANDLE}, bucket_boundaries: num_streams * float", attrs="num_streams: int >= 1",
    shape=_vectors, traits=HOST_STATE,
)  # fmt: skip
def deserialize_quantile_streams(
    xp: Any, quantile_stream_resource_handle: Streams, bucket_boundaries: Any
) -> None:
    with quantile_stream_resource_handle.lock:
        _check_count(len(quantile_stream_resource_handle.streams), len(bucket_boundaries),
                     "bucket_boundaries_list.size()")  # fmt: skip
        quantile_stream_resource_handle.boundaries = list(bucket_boundaries)


@op(
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries", inputs=_HANDLE,
    outputs="bucket_boundaries: num_features * float", attrs="num_features: int >= 0",
    shape=_of_features((None,)), traits=HOST_STATE,
)  # fmt: skip
def bucket_boundaries(
    xp: Any, quantile_stream_resource_handle: Streams, *, num_features: int
) -> list[Array]:
    with quantile_stream_resource_handle.lock:
        _check_count(len(quantile_stream_resource_handle.streams), num_features, "num_features_")
        return list(quantile_stream_resource_handle.boundaries)


def _bucketize_dims(c: ShapeContext) -> list[Dims]:
    count = c.attr("num_features")
    for i in range(2 * count):
        s.with_rank(c.dims(i), 1)
    return [c.dims(i) for i in range(count)]


@op(
    "BoostedTreesBucketize",
    inputs="float_values: num_features * float, bucket_boundaries: num_features * float",
    outputs="buckets: num_features * int32", attrs="num_features: int >= 0",
    shape=_bucketize_dims, traits=HOST,
)  # fmt: skip
def bucketize(xp: Any, float_values: Any, bucket_boundaries: Any) -> list[Array]:
    return [_buckets(*pair) for pair in zip(float_values, bucket_boundaries, strict=True)]


def _buckets(values: Array, boundaries: Array) -> Array:
    """The first boundary that is not below a value, else the last; NaN is below all."""
    found = np.searchsorted(boundaries, np.where(np.isnan(values), -np.inf, values))
    return np.minimum(found, max(len(boundaries) - 1, 0)).astype(np.int32)
