"""Operations that take a whole dataset in one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.deferred import Deferred
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import BLOCKING, HOST, HOST_STATE, NO_GRADIENT
from weft.ops.dataset.declare import STRUCTURE, output_shapes
from weft.ops.dataset.functions import CAPTURED, CAPTURED_TYPES, captured
from weft.ops.dataset.objects import Dataset, checked_dataset
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import for_kernels, from_kernels
from weft.ops.kit.shared import invalid

# A dataset of so few elements is reduced at once; with more, one may want to stop halfway.
_FEW = 1000


def in_scope(waits: bool, work: Callable[[Scope], Sequence[Any]]) -> Any:
    """The results of `work` in a scope of its own; on a thread, if it may wait."""
    scope = Scope()
    if not waits:
        try:
            return work(scope)
        finally:
            scope.close()
    deferred = Deferred(on_cancel=scope.close)

    def run() -> None:
        try:
            results = work(scope)
        except BaseException as error:
            deferred.fail(error)
        else:
            deferred.complete(results)
        finally:
            scope.close()

    scope.start(run, "reduce")
    return deferred


@op(
    "ReduceDataset", inputs=f"input_dataset: variant, initial_state: list(Tstate), {CAPTURED}",
    outputs="components: list(output_types)",
    attrs=f"f: func, Tstate: list(type) >= 1, {CAPTURED_TYPES}, {STRUCTURE},"
    " use_inter_op_parallelism: bool = true",
    shape=output_shapes, traits=HOST_STATE | BLOCKING | NO_GRADIENT,
)  # fmt: skip
def reduce_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, initial_state: list[Any],
    other_arguments: list[Any], *, f: Any,
) -> Any:  # fmt: skip
    function = captured(ctx, f, other_arguments)

    def work(scope: Scope) -> Sequence[Any]:
        call, state = function.bind(scope), from_kernels(initial_state)
        iterator = input_dataset.open(scope)
        while (element := iterator.next()) is not None:
            scope.check()
            state = call((*state, *element))
            if len(state) != len(initial_state):
                raise invalid(
                    "The number of components of the initial state and the reduce function output"
                    f" does not match. (initial_state={len(initial_state)}, output={len(state)})."
                )
        iterator.close()
        return for_kernels(state)

    long = not 0 <= input_dataset.cardinality() < _FEW
    return in_scope(long or input_dataset.waits or function.may_wait, work)


@op(
    "DatasetToSingleElement", inputs="dataset: variant", outputs="components: list(output_types)",
    attrs=STRUCTURE, shape=output_shapes, traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def dataset_to_single_element(xp: Any, ctx: Any, dataset: Dataset) -> Any:
    def work(scope: Scope) -> Sequence[Any]:
        iterator = dataset.open(scope)
        found = iterator.next()
        if found is None:
            raise invalid("Dataset was empty.")
        if iterator.next() is not None:
            raise invalid("Dataset had more than one element.")
        iterator.close()
        return for_kernels(found)

    return in_scope(dataset.waits, work)


def _to_records_op(name: str) -> None:
    @op(
        name, inputs="input_dataset: variant, filename: string, compression_type: string",
        shape=s.none, traits=HOST_STATE | BLOCKING,
    )  # fmt: skip
    def to_records(
        xp: Any, ctx: Any, input_dataset: Dataset, filename: Any, compression_type: Any
    ) -> Any:
        path = np.asarray(filename).item().decode()
        compression = np.asarray(compression_type).item().decode()

        def work(scope: Scope) -> Sequence[Any]:
            from weft.storage.tf_record import TFRecordOptions, TFRecordWriter

            options = TFRecordOptions(compression) if compression else None
            iterator = input_dataset.open(scope)
            with TFRecordWriter(path, options) as writer:
                while (element := iterator.next()) is not None:
                    scope.check()
                    writer.write(element[0])
            iterator.close()
            return ()

        return in_scope(input_dataset.waits, work)


_to_records_op("DatasetToTFRecord")
_to_records_op("ExperimentalDatasetToTFRecord")


def _cardinality_op(name: str) -> None:
    @op(
        name, inputs="input_dataset: variant", outputs="cardinality: int64", shape=s.scalar,
        traits=HOST,
    )  # fmt: skip
    def cardinality(xp: Any, input_dataset: Dataset) -> Any:
        return np.int64(checked_dataset(input_dataset).cardinality())


_cardinality_op("DatasetCardinality")
_cardinality_op("ExperimentalDatasetCardinality")


class WrappedDataset:
    """A dataset as a value that no operation on datasets takes until it is unwrapped."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset


_ONE_HANDLE: dict[str, Any] = {
    "inputs": "input_handle: variant", "outputs": "output_handle: variant", "shape": s.scalar,
    "traits": HOST,
}  # fmt: skip


@op("WrapDatasetVariant", **_ONE_HANDLE)
def wrap_dataset_variant_(xp: Any, input_handle: Any) -> WrappedDataset:
    return WrappedDataset(checked_dataset(input_handle))


@op("UnwrapDatasetVariant", **_ONE_HANDLE)
def unwrap_dataset_variant_(xp: Any, input_handle: Any) -> Dataset:
    if not isinstance(input_handle, WrappedDataset):
        raise invalid("Tensor must be a WrappedDataset variant object.")
    return input_handle.dataset
