"""Lists of tensors inside a compiled program: a buffer with room for elements, and how many it has.

A list is a value there too. What is known of it besides (how long it can be, say) is not part of
the program: `runtime/xla/loop_lists.py` carries it through loops and conditionals.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit.row_updates import put_row, take_row
from weft.ops.kit.shared import is_concrete
from weft.ops.kit.value_checks import are_within, must_hold
from weft.ops.lists import tensor_list as lists

_lock = threading.Lock()


@functools.cache
def _registered() -> Any:
    """Tells JAX what a list consists of."""
    from jax import tree_util

    tree_util.register_pytree_node(
        TracedList,
        lambda list_: ((list_.buffer, list_.length), list_.dtype),
        lambda dtype, parts: TracedList(*parts, dtype),
    )
    return tree_util.tree_map


def tree_map(function: Any, *trees: Any) -> Any:
    """`function` of the arrays that one or several buffers consist of."""
    return _registered()(function, *trees)


@dataclass(frozen=True)
class Facts:
    """Facts about a list that are known while a program is traced.

    It has exactly `size` elements (None: unknown), at most `most`, and had at most `peak` on the
    way. Where `most` is only a guess, `watcher` is told of every element that is pushed.
    """

    dims: Dims = None
    size: int | None = None
    most: int = 0
    peak: int = 0
    watcher: Any = None

    def longer(self, by: int) -> Facts:
        size = None if self.size is None else self.size + by
        most = self.most + by
        return replace(self, size=size, most=most, peak=max(self.peak, most))


class TracedList:
    """`buffer` has a row for each element, or is None before anything is known of them.

    A list of lists has one of its own form for a buffer, whose arrays have a row for each list.
    """

    __slots__ = ("_facts", "buffer", "dtype", "length")

    def __init__(self, buffer: Any, length: Any, dtype: DType, facts: Facts | None = None) -> None:
        self.buffer, self.length, self.dtype, self._facts = buffer, length, dtype, facts

    @property
    def facts(self) -> Facts:
        """A list from another one, or out of a loop, is as long as its buffer at most."""
        if self._facts is None:
            self._facts = Facts(None, None, self.rows, self.rows)
        return self._facts

    @property
    def rows(self) -> int:
        return 0 if self.buffer is None else int(_leaf(self.buffer).shape[0])

    def knowing(self, facts: Facts | None) -> TracedList:
        return TracedList(self.buffer, self.length, self.dtype, facts)

    def grown(self, rows: int, like: Any = None) -> TracedList:
        """With room for `rows` elements that are, and may be as long as, those of buffer `like`."""
        import jax.numpy as jnp

        if self.buffer is not None:
            wide = self.buffer if like is None else _widened(self.buffer, like)
            wide = tree_map(lambda array: _padded(array, (rows,)), wide)
            return TracedList(wide, self.length, self.dtype, self.facts)
        if like is None:
            return self
        blank = tree_map(lambda b: jnp.zeros((max(1, rows), *b.shape[1:]), b.dtype), like)
        return TracedList(blank, self.length, self.dtype, self.facts)

    # ---- what the interpreter says of it, if it is not so ----

    def check(self, dtype: DType, dims: Dims) -> None:
        """Leaves elements of another type, or of a shape that does not fit, to the interpreter."""
        if dtype.base_dtype != self.dtype.base_dtype:
            raise NotImplementedError("a list of elements of another type")
        buffer = self.buffer
        own = None if buffer is None or isinstance(buffer, TracedList) else buffer.shape[1:]
        for known in (self.facts.dims, own):
            try:
                dims = s.merge(dims, known)
            except ValueError:
                raise NotImplementedError("a list of elements of another shape") from None

    def check_range(self, indices: Any) -> None:
        size = self.facts.size
        if size is None or not is_concrete(indices):
            indices = np.asarray(indices) if is_concrete(indices) else indices
            must_hold((indices >= 0) & (indices < self.length))
        elif not np.all(are_within(np.asarray(indices), size)):
            raise NotImplementedError("an index is out of range")

    # ---- elements ----

    def pushed(self, value: Any) -> TracedList:
        facts = self.facts
        room = 1 if facts.watcher is not None else facts.most + 1
        roomy = self._with(room, self.length, value)
        if facts.watcher is not None:
            facts.watcher.watch(self.length, roomy.rows)
        longer = self.length + np.int32(1)
        return TracedList(roomy.buffer, longer, self.dtype, facts.longer(1))

    def _with(self, rows: int, index: Any, value: Any) -> TracedList:
        """With room for `rows` elements, and `value` as the one at `index`."""
        row = tree_map(lambda part: part[None], _element(value))
        roomy = self.grown(rows, row)
        if isinstance(row, TracedList):
            row = _widened(row, tree_map(lambda array: array[:1], roomy.buffer))
        buffer = tree_map(lambda array, part: put_row(array, index, part[0]), roomy.buffer, row)
        return TracedList(buffer, self.length, self.dtype, self.facts)

    def popped(self, dims: Dims) -> tuple[TracedList, Any]:
        if self.facts.size == 0:
            raise NotImplementedError("an empty list has no last element")
        last = self.length - np.int32(1)
        rest = TracedList(self.buffer, last, self.dtype, self.facts.longer(-1))
        return rest, self.get(last, dims)

    def get(self, index: Any, dims: Dims) -> Any:
        if self.buffer is None:
            return self._zeros(dims)
        return tree_map(lambda array: take_row(array, index), self.buffer)

    def set(self, index: Any, value: Any) -> TracedList:
        return self._with(self.facts.most, index, value)

    def _zeros(self, dims: Dims, *leading: int) -> Any:
        import jax.numpy as jnp

        dims = s.merge(self.facts.dims, dims)
        if dims is None or None in dims or self.dtype is dtypes.variant:
            raise NotImplementedError("a list is read of which no element is known")
        return jnp.zeros((*leading, *dims), self.dtype.np_storage)

    def all(self, count: int, dims: Dims) -> Any:
        """The elements of a list as the rows of an array."""
        known = self.facts.size
        size = known if count < 0 else count
        if size is None or isinstance(self.buffer, TracedList):
            raise NotImplementedError("a list is stacked whose length is not known")
        if known is None:
            must_hold(self.length == np.int32(size))
        elif known != size:
            raise NotImplementedError("a list has another length")
        if self.buffer is None:
            return self._zeros(dims, size)
        return self.grown(size).buffer[:size]

    def chosen(self, indices: Any, dims: Dims) -> Any:
        import jax.numpy as jnp

        if self.buffer is None:
            return self._zeros(dims, len(indices))
        return jnp.take(self.buffer, indices, axis=0, mode="clip")

    # ---- whole lists ----

    def zeros_like(self) -> TracedList:
        import jax.numpy as jnp

        inner, buffer = isinstance(self.buffer, TracedList), self.buffer
        if buffer is not None:
            buffer = buffer.zeros_like() if inner else jnp.zeros_like(buffer)
        return TracedList(buffer, self.length, self.dtype, self.facts)

    def __add__(self, other: TracedList) -> TracedList:
        if self.facts.size != other.facts.size:
            must_hold(self.length == other.length)
        if self.buffer is None or other.buffer is None:
            return self if other.buffer is None else other
        one, two = self.grown(0, other.buffer), other.grown(0, self.buffer)
        return TracedList(one.buffer + two.buffer, self.length, self.dtype, self.facts)


def _leaf(buffer: Any) -> Any:
    while isinstance(buffer, TracedList):
        buffer = buffer.length  # a list of lists has at least the lengths of those
    return buffer


def _element(value: Any) -> Any:
    """A value as an element of a list: an array, or a list that has a buffer."""
    import jax.numpy as jnp

    if not isinstance(value, TracedList):
        return jnp.asarray(value)
    if value.buffer is None:
        raise NotImplementedError("a list in a list, of which no element is known")
    return value


def _widened(buffer: Any, like: Any, levels: int = 1) -> Any:
    """`buffer` with room for as many elements as `like` has, and so for lists that are elements."""
    if isinstance(buffer, TracedList):
        inner = _widened(buffer.buffer, like.buffer, levels + 1)
        return TracedList(inner, _widened(buffer.length, like.length, levels), buffer.dtype)
    if buffer.shape[levels:] != like.shape[levels:]:
        raise NotImplementedError("a list of tensors of different shapes")
    return _padded(buffer, like.shape[:levels])


def _padded(array: Any, shape: Sequence[int]) -> Any:
    """`array` with zeros after it, where `shape`, that of its first dimensions, is larger."""
    import jax.numpy as jnp

    more = [max(0, n - have) for n, have in zip(shape, array.shape, strict=False)]
    more += [0] * (array.ndim - len(more))
    return jnp.pad(array, [(0, n) for n in more]) if any(more) else array


def _number(count: int) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(count, np.int32)


def _new(buffer: Any, count: int, dtype: DType, dims: Dims) -> TracedList:
    with _lock:
        _registered()
    return TracedList(buffer, _number(count), dtype, Facts(dims, count, count, count))


def _known_dims(element_shape: Any) -> Dims:
    if np.ndim(element_shape) > 1:
        raise NotImplementedError("a shape that is no vector")
    known = isinstance(element_shape, (np.ndarray, np.generic))
    return lists.dims_from(element_shape) if known else None


def _size(value: Any) -> int:
    if not isinstance(value, (np.ndarray, np.generic)):
        raise NotImplementedError("a list of a length that is not known")
    return int(value)


# ---- kernels ----------------------------------------------------------------------------------


@lists.empty_tensor_list.traced
def _(xp: Any, element_shape: Any, max_num_elements: Any, *, element_dtype: DType) -> Any:
    if np.ndim(max_num_elements):
        raise NotImplementedError("a number that is no scalar")
    return _new(None, 0, element_dtype, _known_dims(element_shape))


@lists.tensor_list_reserve.traced
def _(xp: Any, element_shape: Any, num_elements: Any, *, element_dtype: DType) -> Any:
    return _new(None, _size(num_elements), element_dtype, _known_dims(element_shape))


@lists.tensor_list_from_tensor.traced
def _(xp: Any, tensor: Any, element_shape: Any, *, element_dtype: DType) -> Any:
    made = _new(xp.asarray(tensor), tensor.shape[0], element_dtype, tensor.shape[1:])
    made.check(element_dtype, _known_dims(element_shape))
    if not is_concrete(element_shape) and element_shape.ndim:
        if element_shape.shape[0] != tensor.ndim - 1:
            raise NotImplementedError("a list of elements of another rank")
        sizes = np.array(tensor.shape[1:], element_shape.dtype)
        must_hold((element_shape == -1) | (element_shape == sizes))
    return made


@lists.tensor_list_scatter_v2.traced
def _(
    xp: Any, tensor: Any, indices: Any, element_shape: Any, num_elements: Any, *,
    element_dtype: DType,
) -> Any:  # fmt: skip
    size = _size(num_elements)
    if size < 0:
        raise NotImplementedError("a list of a length that is not known")
    indices = indices.ravel()
    if len(indices) != tensor.shape[0]:
        raise NotImplementedError("not as many rows as indices")
    blank = xp.zeros((size, *tensor.shape[1:]), tensor.dtype)
    made = _new(blank, size, element_dtype, tensor.shape[1:])
    made.check_range(indices)
    return _new(blank.at[indices].set(tensor), size, element_dtype, tensor.shape[1:])


@lists.tensor_list_length.traced
def _(xp: Any, input_handle: TracedList) -> Any:
    size = input_handle.facts.size
    return input_handle.length if size is None else np.int32(size)


@lists.tensor_list_element_shape.traced
def _(xp: Any, input_handle: TracedList, *, shape_type: DType) -> Any:
    buffer, dims = input_handle.buffer, input_handle.facts.dims
    if buffer is not None and not isinstance(buffer, TracedList):
        dims = buffer.shape[1:]
    known = -1 if dims is None else [-1 if n is None else n for n in dims]
    return np.asarray(known, shape_type.np_storage)


@lists.tensor_list_get_item.traced
def _(
    xp: Any, input_handle: TracedList, index: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    dims = _known_dims(element_shape)
    input_handle.check(element_dtype, dims)
    input_handle.check_range(index)
    return input_handle.get(index, dims)


@lists.tensor_list_set_item.traced
def _(
    xp: Any, input_handle: TracedList, index: Any, item: Any, *, element_dtype: DType,
    resize_if_index_out_of_bounds: bool,
) -> Any:  # fmt: skip
    if resize_if_index_out_of_bounds:
        raise NotImplementedError("a list that grows where it is written")
    input_handle.check(element_dtype, getattr(item, "shape", None))
    input_handle.check_range(index)
    return input_handle.set(index, item)


@lists.tensor_list_stack.traced
def _(
    xp: Any, input_handle: TracedList, element_shape: Any, *, element_dtype: DType,
    num_elements: int,
) -> Any:  # fmt: skip
    dims = _known_dims(element_shape)
    input_handle.check(element_dtype, dims)
    return input_handle.all(num_elements, dims)


@lists.tensor_list_gather.traced
def _(
    xp: Any, input_handle: TracedList, indices: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    dims, indices = _known_dims(element_shape), indices.ravel()
    input_handle.check(element_dtype, dims)
    input_handle.check_range(indices)
    return input_handle.chosen(indices, dims)


@lists.tensor_list_push_back.traced
def _(xp: Any, input_handle: TracedList, tensor: Any, *, element_dtype: DType) -> Any:
    input_handle.check(element_dtype, getattr(tensor, "shape", None))
    return input_handle.pushed(tensor)


@lists.tensor_list_pop_back.traced
def _(xp: Any, input_handle: TracedList, element_shape: Any, *, element_dtype: DType) -> Any:
    dims = _known_dims(element_shape)
    input_handle.check(element_dtype, dims)
    return list(input_handle.popped(dims))
