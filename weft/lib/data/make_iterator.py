"""Iterators of datasets."""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import DType
from weft.graph.graph import colocate_with, get_default_graph
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.random_seed import get_seed, set_random_seed
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset
from weft.lib.data.eager_iterator import EagerIterator
from weft.lib.data.iterator import Iterator
from weft.lib.data.structure import legacy_class, legacy_shape, legacy_type
from weft.lib.platform import tf_logging
from weft.ops.functions.defun import Defun
from weft.ops.kit.eager import executing_eagerly


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator whose `initializer` starts it."""
    if executing_eagerly():
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled."
            " Use `for element in dataset` instead."
        )
    if not isinstance(dataset, Dataset):  # one that replicas share knows itself
        made: Iterator = dataset.make_initializable_iterator(shared_name)
        return made
    _warn_of_other_graphs(dataset)
    applied = dataset._apply_options()
    resource = raw.IteratorV2(
        shared_name=shared_name or "", container="", **dataset._flat_structure
    )
    with colocate_with(resource):
        initializer = raw.MakeIterator(applied._variant_tensor, resource)
    return Iterator(resource, initializer, *_legacy(applied))


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that initializes itself, once. It can hold no state of the session."""
    if executing_eagerly():
        return EagerIterator(dataset)  # type: ignore[return-value]
    _warn_of_other_graphs(dataset)
    graph_seed, op_seed = get_seed(None)

    @Defun(capture_by_value=True, whitelisted_stateful_ops=_dataset_ops(dataset))
    def _make_dataset() -> Any:
        if graph_seed is not None and op_seed is not None:
            set_random_seed((graph_seed + 87654321 * op_seed) % (2**63 - 1))
        return dataset._apply_options()._variant_tensor

    try:
        _make_dataset.add_to_graph(get_default_graph())
    except ValueError as error:
        if "Cannot capture a stateful node" not in str(error):
            raise
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset."
            " `Dataset.make_one_shot_iterator()` does not support datasets that capture stateful"
            " objects, such as a `Variable` or `LookupTable`. In these cases, use"
            f" `Dataset.make_initializable_iterator()`. (Original error: {error})"
        ) from error
    resource = raw.OneShotIterator(dataset_factory=_make_dataset, **dataset._flat_structure)
    return Iterator(resource, None, *_legacy(dataset))


def _legacy(dataset: Dataset) -> list[Any]:
    spec = dataset.element_spec
    return [nest.map_structure(each, spec) for each in (legacy_type, legacy_shape, legacy_class)]


def _dataset_ops(dataset: Dataset) -> list[Operation]:
    """The operations that a dataset is made by: a one-shot iterator has copies of them."""
    found: list[Operation] = []
    pending, seen = [dataset._variant_tensor.op], set()
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        if _makes_variant(op):
            found.append(op)
            pending.extend(tensor.op for tensor in op.inputs)
    return found


def _makes_variant(op: Operation) -> bool:
    variant: DType = op.outputs[0].dtype if op.outputs else None  # type: ignore[assignment]
    return variant is not None and variant.name == "variant"


def _warn_of_other_graphs(dataset: Dataset) -> None:
    graph = get_default_graph()
    pending = [dataset]
    while pending:
        each = pending.pop()
        if each._variant_tensor.graph is not graph:
            tf_logging.warning(
                f"The graph ({graph}) of the iterator is different from the graph"
                f" ({each._variant_tensor.graph}) the dataset: {each._variant_tensor} was created"
                " in. If you are using the Estimator API, make sure that no part of the dataset"
                " returned by the `input_fn` function is defined outside the `input_fn` function."
                " Please ensure that all datasets in the pipeline are created in the same graph as"
                " the iterator. NOTE: This warning will become an error in future versions of"
                " TensorFlow."
            )
        pending += each._inputs()


# ---- the structure of datasets and iterators -----------------------------------------------------


def get_structure(dataset_or_iterator: Any) -> Any:
    """The type specs of an element."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got"
            f" {type(dataset_or_iterator)}."
        ) from None


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The types of an element's components."""
    return nest.map_structure(legacy_type, get_structure(dataset_or_iterator))


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of an element's components."""
    return nest.map_structure(legacy_shape, get_structure(dataset_or_iterator))


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The Python types of an element's components."""
    return nest.map_structure(legacy_class, get_structure(dataset_or_iterator))
