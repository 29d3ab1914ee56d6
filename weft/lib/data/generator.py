"""Dataset.from_generator: a Python generator behind functions of the graph."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant import to_array
from weft.graph.convert import convert_n_to_tensor
from weft.graph.op_def import raw
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.functions import StructuredFunction
from weft.lib.data.sources import from_tensors
from weft.lib.data.structure import (
    flat_tensor_shapes,
    flat_tensor_types,
    shapes_of,
    to_tensor_list,
    type_spec_from_value,
)
from weft.ops.functions.py_func import numpy_function

_NAME = "Dataset.from_generator()"


class _Iterators:
    """The iterators of a generator that are under way, each with a number."""

    def __init__(self, generator: Callable[..., Any]) -> None:
        self.generator = generator
        self._lock, self._numbers = threading.Lock(), itertools.count()
        self._arguments: dict[int, tuple[Any, ...]] = {}
        self._iterators: dict[int, Iterator[Any]] = {}

    def begin(self, *args: Any) -> np.ndarray:
        with self._lock:
            number = next(self._numbers)
            self._arguments[number] = args
        return np.array(number, np.int64)

    def get(self, number: Any) -> Iterator[Any]:
        number = int(number)
        found = self._iterators.get(number)
        if found is None:
            found = iter(self.generator(*self._arguments.pop(number)))
            with self._lock:
                self._iterators[number] = found
        return found

    def end(self, number: Any) -> np.ndarray:
        with self._lock:
            self._arguments.pop(int(number), None)
            self._iterators.pop(int(number), None)
        return np.array(0, np.int64)


class _Element:
    """Elements of a generator -> arrays, with the checks that were asked for."""

    def __init__(self, types: Any, shapes: Any) -> None:
        self.structure = types
        self.types = [dtypes.as_dtype(each) for each in nest.flatten(types)]
        self.shapes = nest.flatten(shapes)
        self._single = not nest.is_nested(types)
        # A tuple of components is looked at in one glance.
        self._is_flat = type(types) is tuple and not any(map(nest.is_nested, types))
        self._known = [s.as_list() if s.is_fully_defined() else None for s in self.shapes]

    def arrays(self, values: Any) -> list[np.ndarray]:
        found = []
        for i, value in enumerate(self._flat(values)):
            array = self._array(value, self.types[i])
            known = self._known[i]
            if known is None or list(array.shape) != known:
                self._check_shape(array, self.shapes[i])
            found.append(array)
        return found

    def _flat(self, values: Any) -> Any:
        if self._single:
            return (values,)
        if self._is_flat and type(values) is tuple and len(values) == len(self.types):
            return values
        try:
            return nest.flatten_up_to(self.structure, values)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The"
                f" expected structure was {self.structure}, but the yielded element was {values}."
            ) from None

    def _array(self, value: Any, dtype: Any) -> np.ndarray:
        if dtype is dtypes.string:
            return self._strings(value)
        wanted = dtype.np_storage
        try:
            array = np.asarray(value, None if isinstance(value, np.ndarray) else wanted)
        except OverflowError:
            return np.asarray(value).astype(wanted)
        except (TypeError, ValueError):
            raise self._cannot_convert(value, dtype) from None
        if array.dtype == wanted:
            return array
        if array.dtype.kind in "OSU":
            raise self._cannot_convert(value, dtype)
        return array.astype(wanted)

    def _strings(self, value: Any) -> np.ndarray:
        if isinstance(value, (bytes, str)):
            out = np.empty((), object)
            out[()] = value if isinstance(value, bytes) else value.encode()
            return out
        array = to_array(value)
        if array.dtype != object:
            raise self._cannot_convert(value, dtypes.string)
        return array

    def _cannot_convert(self, value: Any, dtype: Any) -> TypeError:
        return TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The"
            f" expected type was {dtype.name}, but the yielded element was {value}."
        )

    def _check_shape(self, array: np.ndarray, shape: TensorShape) -> None:
        if not shape.is_compatible_with(array.shape):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape"
                f" {shape} was expected."
            )


def from_generator(generator: Any, output_types: Any, output_shapes: Any, args: Any) -> Dataset:
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    output_shapes = shapes_of(output_types, output_shapes)
    args = () if args is None else tuple(convert_n_to_tensor(args, name="args"))
    iterators, element = _Iterators(generator), _Element(output_types, output_shapes)

    def get_iterator_id_fn(_: Any) -> Any:
        return numpy_function(iterators.begin, args, dtypes.int64)

    def generator_next_fn(number: Any) -> Any:
        def python(number: Any) -> list[np.ndarray]:
            return element.arrays(next(iterators.get(number)))

        flat = numpy_function(python, [number], element.types)
        flat = flat if isinstance(flat, (list, tuple)) else [flat]
        for tensor, shape in zip(flat, element.shapes, strict=True):
            tensor.set_shape(shape)
        return nest.pack_sequence_as(output_types, list(flat))

    def finalize_fn(number: Any) -> Any:
        return numpy_function(iterators.end, [number], dtypes.int64)

    def flat_map_fn(dummy: Any) -> Dataset:
        return _generated(dummy, get_iterator_id_fn, generator_next_fn, finalize_fn)

    # Through flat_map every traversal, however nested, gets a number of its own.
    return from_tensors(0).flat_map(flat_map_fn)


def _generated(argument: Any, begin: Any, follow: Any, finish: Any) -> Dataset:
    given = type_spec_from_value(argument)
    first = StructuredFunction(begin, _NAME, given)
    each = StructuredFunction(follow, _NAME, first.output_structure)
    last = StructuredFunction(finish, _NAME, first.output_structure)
    spec = each.output_structure
    variant = raw.GeneratorDataset(
        [*to_tensor_list(given, argument), *first.captured_inputs], each.captured_inputs,
        last.captured_inputs, init_func=first.reference, next_func=each.reference,
        finalize_func=last.reference, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec)
