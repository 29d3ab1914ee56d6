"""tf.data.experimental: transformations, to be passed to `Dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape, as_shape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import device
from weft.graph.op_def import raw
from weft.graph.type_spec import SparseTensorSpec
from weft.lib.data import nest
from weft.lib.data.batches import known_size
from weft.lib.data.calls import calling, check_predicate, inner_spec
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.functions import StructuredFunction
from weft.lib.data.options import Options
from weft.lib.data.random_seed import get_seed
from weft.lib.data.reduction import stateful_function
from weft.lib.data.structure import (
    batched,
    flat_tensor_shapes,
    flat_tensor_types,
    normalize_element,
    to_tensor_list,
    type_spec_from_value,
)
from weft.lib.data.transform import int64, unary

Transformation = Callable[[Dataset], Dataset]


# ---- functions -----------------------------------------------------------------------------------


def map_and_batch(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None,
    drop_remainder: Any = False, num_parallel_calls: Any = None,
) -> Transformation:  # fmt: skip
    """`map` and then `batch`."""
    given = num_parallel_batches, drop_remainder, num_parallel_calls
    return _map_and_batch(map_func, batch_size, *given, legacy=False)


def map_and_batch_with_legacy_function(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None,
    drop_remainder: Any = False, num_parallel_calls: Any = None,
) -> Transformation:  # fmt: skip
    """As `map_and_batch`, with a function of TensorFlow's first kind."""
    given = num_parallel_batches, drop_remainder, num_parallel_calls
    return _map_and_batch(map_func, batch_size, *given, legacy=True)


def _map_and_batch(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any, drop_remainder: Any,
    num_parallel_calls: Any, legacy: bool,
) -> Transformation:  # fmt: skip
    if num_parallel_batches is None and num_parallel_calls is None:
        num_parallel_calls = batch_size
    elif num_parallel_batches is not None and num_parallel_calls is None:
        num_parallel_calls = batch_size * num_parallel_batches
    elif num_parallel_batches is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.map_and_batch()"
        function = StructuredFunction(map_func, name, dataset.element_spec, legacy)
        size, calls = (
            int64(batch_size, "batch_size"),
            int64(num_parallel_calls, "num_parallel_calls"),
        )
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        spec = batched(function.output_structure, known_size(size, drop))
        return calling(
            raw.MapAndBatchDataset, dataset, function, spec, size, calls, drop,
            preserve_cardinality=True,
        )  # fmt: skip

    return apply


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1, sloppy: Any = False,
    buffer_output_elements: Any = None, prefetch_input_elements: Any = None,
) -> Transformation:  # fmt: skip
    """As `interleave`, with a thread for each of `cycle_length` datasets."""

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.parallel_interleave()"
        function = StructuredFunction(map_func, name, dataset.element_spec)
        spec = inner_spec(function)
        outputs = 2 * block_length if buffer_output_elements is None else buffer_output_elements
        ahead = 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements
        return calling(
            raw.ParallelInterleaveDataset, dataset, function, spec,
            int64(cycle_length, "cycle_length"), int64(block_length, "block_length"),
            convert_to_tensor(sloppy, dtype=dtypes.bool, name="sloppy"),
            int64(outputs, "buffer_output_elements"), int64(ahead, "prefetch_input_elements"),
        )  # fmt: skip

    return apply


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`scan_func(state, element)` gives the next state and an element."""

    def apply(dataset: Dataset) -> Dataset:
        state = normalize_element(initial_state)
        function, spec = stateful_function(
            scan_func, "tf.data.experimental.scan()", dataset, type_spec_from_value(state),
            _state_of,
        )  # fmt: skip
        out = function.output_structure[1]
        variant = raw.ScanDataset(
            dataset._variant_tensor, to_tensor_list(spec, state), function.captured_inputs,
            f=function.reference, preserve_cardinality=True, output_types=flat_tensor_types(out),
            output_shapes=flat_tensor_shapes(out),
        )  # fmt: skip
        return DatasetV1Adapter(variant, out, [dataset], [function])

    return apply


def _state_of(function: StructuredFunction) -> Any:
    found = function.output_structure
    if not (isinstance(found, tuple) and len(found) == 2):
        raise TypeError(
            "The scan function must return a pair comprising the new state and the output value."
        )
    return found[0]


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """Elements up to the first for which `predicate` does not hold."""

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.take_while()"
        function = StructuredFunction(predicate, name, dataset.element_spec)
        check_predicate(function)
        return calling(
            raw.TakeWhileDataset, dataset, function, dataset.element_spec, argument="predicate"
        )

    return apply


# ---- no functions --------------------------------------------------------------------------------


def unbatch() -> Transformation:
    """The rows of each element."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Transformation:
    """Elements with their numbers."""
    return lambda dataset: dataset.enumerate(start)


def ignore_errors() -> Transformation:
    """Leaves out elements that end in an error."""
    return lambda dataset: unary(raw.IgnoreErrorsDataset, dataset)


def unique() -> Transformation:
    """Every element once."""

    def apply(dataset: Dataset) -> Dataset:
        if dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`,"
                " `tf.int64`, or `tf.string` component."
            )
        return unary(raw.UniqueDataset, dataset)

    return apply


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle` and then `repeat`, with a buffer that holds elements of several repetitions."""

    def apply(dataset: Dataset) -> Dataset:
        size = int64(buffer_size, "buffer_size")
        if count is None:
            times = constant(-1, dtype=dtypes.int64, name="count")
        else:
            times = int64(count, "count")
        return unary(raw.ShuffleAndRepeatDataset, dataset, size, *get_seed(seed), times)

    return apply


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Batches of elements of different sizes, as sparse tensors."""

    def apply(dataset: Dataset) -> Dataset:
        if nest.is_nested(dataset.element_spec):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a single component,"
                f" whereas the input has {dataset.output_types!r}."
            )
        shape = TensorShape([None]).concatenate(as_shape(row_shape))
        spec = SparseTensorSpec(shape, dataset.output_types)
        sizes = [-1 if d.value is None else d.value for d in as_shape(row_shape).dims]  # type: ignore[union-attr]
        variant = raw.DenseToSparseBatchDataset(
            dataset._variant_tensor, batch_size, constant(sizes, dtype=dtypes.int64),
            output_types=flat_tensor_types(spec),
            output_shapes=flat_tensor_shapes(spec),
        )  # fmt: skip
        return DatasetV1Adapter(variant, spec, [dataset])

    return apply


def bytes_produced_stats(tag: Any) -> Transformation:
    """Tells the aggregator how large elements are."""
    return lambda dataset: unary(raw.BytesProducedStatsDataset, dataset, _text(tag))


def latency_stats(tag: Any) -> Transformation:
    """Tells the aggregator how long elements take."""
    return lambda dataset: unary(raw.LatencyStatsDataset, dataset, _text(tag))


def _text(tag: Any) -> Any:
    return convert_to_tensor(tag, dtype=dtypes.string)


# ---- devices -------------------------------------------------------------------------------------


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """Keeps elements ready for `device`: a step takes them there."""
    return lambda dataset: dataset.apply(copy_to_device(device)).prefetch(buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Elements for `target_device`. They are made on the host, and go to where they are used."""

    def apply(dataset: Dataset) -> Dataset:
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.experimental_optimization.autotune = False
        with device(source_device):
            constant(source_device)  # it counts for the seeds of what follows, as in TensorFlow
            wrapped = raw.WrapDatasetVariant(dataset._variant_tensor)
            variant = raw.UnwrapDatasetVariant(wrapped)
        found = DatasetV1Adapter(variant, dataset.element_spec, [dataset])
        return found.with_options(options)

    return apply
