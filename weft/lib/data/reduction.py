"""Dataset.reduce, and what else takes a whole dataset at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset
from weft.lib.data.functions import StructuredFunction
from weft.lib.data.structure import (
    convert_legacy_structure,
    flat_tensor_shapes,
    flat_tensor_types,
    from_tensor_list,
    legacy_class,
    legacy_shape,
    legacy_type,
    normalize_element,
    to_tensor_list,
    type_spec_from_value,
)


def listed(found: Any) -> list[Tensor]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def reduce(dataset: Dataset, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    with name_scope("initial_state"):
        state = normalize_element(initial_state)
    function, spec = stateful_function(
        reduce_func, "reduce()", dataset, type_spec_from_value(state), lambda f: f.output_structure
    )
    found = raw.ReduceDataset(
        dataset._variant_tensor, to_tensor_list(spec, state), function.captured_inputs,
        f=function.reference, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return from_tensor_list(spec, listed(found))


def stateful_function(
    func: Callable[..., Any],
    name: str,
    dataset: Dataset,
    spec: Any,
    new_state: Callable[[Any], Any],
) -> tuple[StructuredFunction, Any]:
    """A function of (state, element), and the structure of states that it keeps to.

    `new_state(function)` is the structure of the state that it returns. Shapes that change from
    call to call are made less specific, until they hold for all states.
    """
    while True:
        function = StructuredFunction(func, name, (spec, dataset.element_spec))
        found = new_state(function)
        _check_same(spec, found)
        weaker = _weakened(spec, found)
        if weaker is None:
            return function, spec
        spec = weaker


def _check_same(spec: Any, found: Any) -> None:
    for what, legacy in (("classes", legacy_class), ("types", legacy_type)):
        old, new = (nest.map_structure(legacy, each) for each in (spec, found))
        flat = zip(nest.flatten(old), nest.flatten(new), strict=False)
        if any(a != b and not _subclass(b, a) for a, b in flat):
            raise TypeError(
                f"The element {what} for the new state must match the initial state. Expected"
                f" {old}; got {new}."
            )


def _subclass(a: Any, b: Any) -> bool:
    return isinstance(a, type) and isinstance(b, type) and issubclass(a, b)


def _weakened(spec: Any, found: Any) -> Any:
    """The structure that holds for both; None if `spec` does."""
    shapes = nest.map_structure(legacy_shape, spec)
    old = nest.flatten(shapes)
    new = [
        a.most_specific_compatible_shape(b)
        for a, b in zip(old, nest.flatten(nest.map_structure(legacy_shape, found)), strict=False)
    ]
    same = len(new) != len(old) or all(
        a.ndims is None or (b.ndims is not None and a.as_list() == b.as_list())
        for a, b in zip(old, new, strict=True)
    )
    if same:
        return None
    return convert_legacy_structure(
        nest.map_structure(legacy_type, spec), nest.pack_sequence_as(shapes, new),
        nest.map_structure(legacy_class, spec),
    )  # fmt: skip


def get_single_element(dataset: Dataset) -> Any:
    """The element of a dataset that has one."""
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    found = raw.DatasetToSingleElement(dataset._variant_tensor, **dataset._flat_structure)
    return from_tensor_list(dataset.element_spec, listed(found))


INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements a dataset has; INFINITE_CARDINALITY, or UNKNOWN_CARDINALITY."""
    found: Tensor = raw.DatasetCardinality(dataset._variant_tensor)
    return found
