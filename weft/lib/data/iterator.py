"""tf.data.Iterator: a place in a dataset, as a resource of the session."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    add_to_collection,
    colocate_with,
    device,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.data import nest
from weft.lib.data.optional import OptionalSpec, _OptionalImpl
from weft.lib.data.structure import (
    OfElements,
    convert_legacy_structure,
    flat_tensor_shapes,
    flat_tensor_types,
    from_tensor_list,
    shapes_of,
)

GLOBAL_ITERATORS = "iterators"
GET_NEXT_CALL_WARNING_THRESHOLD = 32
GET_NEXT_CALL_WARNING_MESSAGE = (
    "An unusually high number of `Iterator.get_next()` calls was detected. Each of them adds"
    " operations to the graph: call `next_element = iterator.get_next()` once, outside of the"
    " training loop, and use `next_element` inside of it."
)


class Iterator(OfElements):
    """A traversal of a dataset."""

    def __init__(
        self, iterator_resource: Any, initializer: Any, output_types: Any, output_shapes: Any,
        output_classes: Any,
    ) -> None:  # fmt: skip
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and"
                " `output_classes` must be specified."
            )
        self._iterator_resource, self._initializer = iterator_resource, initializer
        self._element_spec = convert_legacy_structure(output_types, output_shapes, output_classes)
        self._string_handle = raw.IteratorToStringHandle(iterator_resource)
        self._get_next_call_count = 0
        add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    # ---- making them ----

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:  # fmt: skip
        """An iterator for any dataset of this structure; `make_initializer` gives it one.

        Args:
            output_types: the types of an element, in its structure.
            output_shapes: its shapes; None leaves them open.
            shared_name: under which sessions share it.
            output_classes: whether parts are tensors or sparse; None: tensors.

        Returns:
            An `Iterator`.

        Raises:
            TypeError: the structures differ.

        Example:
            >>> iterator = tf.data.Iterator.from_structure(tf.int64, [])
            >>> start = iterator.make_initializer(tf.data.Dataset.range(5, 7))
            >>> session.run(start)
            >>> int(session.run(iterator.get_next()))
            5
        """
        triple = _completed(output_types, output_shapes, output_classes)
        spec = convert_legacy_structure(*triple)
        with _on_cpu_unless_placed():
            resource = raw.IteratorV2(
                shared_name=shared_name or "", container="",
                output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec),
            )  # fmt: skip
        return Iterator(resource, None, *triple)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None,
        output_classes: Any = None,
    ) -> Iterator:  # fmt: skip
        """The iterator that a string names; the string can be fed."""
        triple = _completed(output_types, output_shapes, output_classes)
        spec = convert_legacy_structure(*triple)
        string_handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        with _on_cpu_unless_placed():
            resource = raw.IteratorFromStringHandleV2(
                string_handle, output_types=flat_tensor_types(spec),
                output_shapes=flat_tensor_shapes(spec),
            )  # fmt: skip
        return Iterator(resource, None, *triple)

    @property
    def initializer(self) -> Operation:
        """The operation that starts the iterator."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that starts the iterator on `dataset`."""
        with name_scope(name, "make_initializer") as name:
            self._check(dataset)
        with colocate_with(self._iterator_resource):
            made: Operation = raw.MakeIterator(
                dataset._variant_tensor, self._iterator_resource, name=name
            )
        return made

    def _check(self, dataset: Any) -> None:
        types, shapes, classes = dataset.output_types, dataset.output_shapes, dataset.output_classes
        nest.assert_same_structure(self.output_types, types)
        nest.assert_same_structure(self.output_shapes, shapes)
        if any(a is not b and a != b for a, b in _pairs(self.output_classes, classes)):
            raise TypeError(
                f"Expected output classes {self.output_classes!r} but got dataset with output class"
                f" {classes!r}."
            )
        if any(a != b for a, b in _pairs(self.output_types, types)):
            raise TypeError(
                f"Expected output types {self.output_types!r} but got dataset with output types"
                f" {types!r}."
            )
        if any(not a.is_compatible_with(b) for a, b in _pairs(self.output_shapes, shapes)):
            raise TypeError(
                f"Expected output shapes compatible with {self.output_shapes!r} but got dataset"
                f" with output shapes {shapes!r}."
            )

    # ---- taking from them ----

    def get_next(self, name: str | None = None) -> Any:
        """Tensors that are another element in every step."""
        self._get_next_call_count += 1
        if self._get_next_call_count > GET_NEXT_CALL_WARNING_THRESHOLD:
            warnings.warn(GET_NEXT_CALL_WARNING_MESSAGE, stacklevel=2)
        spec = self._element_spec
        found = raw.IteratorGetNext(
            self._iterator_resource, output_types=flat_tensor_types(spec),
            output_shapes=flat_tensor_shapes(spec), name=name,
        )  # fmt: skip
        return from_tensor_list(spec, found if isinstance(found, (list, tuple)) else [found])

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string that names the iterator within its session."""
        if name is None:
            return self._string_handle
        handle: Tensor = raw.IteratorToStringHandle(self._iterator_resource, name=name)
        return handle


def get_next_as_optional(iterator: Iterator) -> _OptionalImpl:
    """The next element, or nothing at the end of the dataset."""
    spec = iterator.element_spec
    variant = raw.IteratorGetNextAsOptional(
        iterator._iterator_resource, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return _OptionalImpl(variant, OptionalSpec(spec)._value_structure)


def _completed(types: Any, shapes: Any, classes: Any) -> tuple[Any, Any, Any]:
    types = nest.map_structure(dtypes.as_dtype, types)
    shapes = shapes_of(types, shapes)
    nest.assert_same_structure(types, shapes)
    return types, shapes, classes or nest.map_structure(lambda _: Tensor, types)


def _on_cpu_unless_placed() -> Any:
    """Iterators are on the host, unless a device was asked for."""
    return nullcontext() if get_default_graph()._scopes.devices else device("/cpu:0")


def _pairs(a: Any, b: Any) -> Any:
    return zip(nest.flatten(a), nest.flatten(b), strict=True)
