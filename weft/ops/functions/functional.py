"""Functions applied along the first dimension of tensors: map_fn, scan, foldl, foldr.

Each is a loop over TensorArrays that the rows of the elements are unstacked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.core import nest
from weft.core.shapes import Dimension, TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.slices import SparseTensor
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray


@contextmanager
def _variables_read_once() -> Iterator[None]:
    """Variables that the function gets are read once, not in every iteration."""
    from weft.ops.state.variable_scope import get_variable_scope

    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


def _number_of_rows(tensor: Tensor) -> Any:
    """The first dimension, as a number if it is known."""
    from weft.ops.array import array

    dims = (
        tensor.shape.with_rank_at_least(1).as_list() if tensor.shape.ndims is not None else [None]
    )
    # A static 0 is left to the step too, as in TensorFlow.
    return dims[0] or array.shape(tensor)[0]


def _common_rows(tensors: Sequence[Tensor]) -> Dimension:
    known = Dimension(None)
    for tensor in tensors:
        shape = tensor.shape.with_rank_at_least(1)
        known = known.merge_with(Dimension(None if shape.ndims is None else shape.as_list()[0]))
    return known


def _stacked(arrays: Sequence[TensorArray], rows: Dimension) -> list[Tensor]:
    found = [array.stack() for array in arrays]
    for tensor in found:
        inner = tensor.shape[1:]
        tensor.set_shape(TensorShape([rows]).concatenate(inner))
    return found


class _Form:
    """How a structure, or a lone leaf, is taken apart and put together."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure
        self.nested = nest.is_sequence(structure)

    def flatten(self, value: Any) -> list[Any]:
        return nest.flatten(value) if self.nested else [value]

    def pack(self, values: Sequence[Any]) -> Any:
        return nest.pack_sequence_as(self.structure, values) if self.nested else values[0]


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` of every row of `elems`, stacked. `dtype` is the structure of types that `fn` returns,
    if not that of `elems`.
    """
    _check_callable(fn)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either "
            " SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
            " SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    ins = _Form(elems)
    outs = ins if dtype is None else _Form(dtype)
    flat = ins.flatten(elems)
    with name_scope(name, "map", flat), _variables_read_once():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        dtype = dtype or ins.pack([elem.dtype for elem in flat])
        if flat[0].shape.ndims == 0:
            if len(flat) == 1:
                raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
            raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
        n = _number_of_rows(flat[0])
        sources = [TensorArray(elem.dtype, size=n, infer_shape=True) for elem in flat]
        sources = [ta.unstack(elem) for ta, elem in zip(sources, flat, strict=True)]
        start = constant(0)
        results = [
            TensorArray(kind, size=n, infer_shape=infer_shape) for kind in outs.flatten(dtype)
        ]

        def compute(i: Tensor, arrays: list[TensorArray]) -> Any:
            values = fn(ins.pack([ta.read(i) for ta in sources]))
            nest.assert_same_structure(dtype, values)
            arrays = [
                ta.write(i, value) for ta, value in zip(arrays, outs.flatten(values), strict=True)
            ]
            return i + 1, arrays

        _, results = while_loop(
            lambda i, _: i < n, compute, (start, results),
            parallel_iterations=parallel_iterations or 10, back_prop=back_prop,
            swap_memory=swap_memory, maximum_iterations=n,
        )  # fmt: skip
        return outs.pack(_stacked(results, _common_rows(flat)))


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All values of `a = fn(a, row)` along the rows of `elems`, stacked.

    `a` starts as `initializer`, or as the first row (the last if `reverse`).

    Args:
        fn: a function of the value so far and a row that gives the next value.
        elems: a tensor, or a structure of them with one first dimension.
        initializer: the first value; None: the first row.
        parallel_iterations: how many rows may be under way at once.
        back_prop: whether gradients flow.
        swap_memory: whether what gradients need may wait on the host.
        infer_shape: whether all values have one shape.
        reverse: whether to start at the last row.
        name: of the operations.

    Returns:
        A tensor, or a structure of them, with a row for each row.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: the values have different forms, or there are no elements.

    Example:
        >>> session.run(tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3])))
        array([1, 3, 6], dtype=int32)
    """
    _check_callable(fn)
    ins = _Form(elems)
    outs = ins if initializer is None else _Form(initializer)
    flat = ins.flatten(elems)
    with name_scope(name, "scan", flat), _variables_read_once():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        n = flat[0].shape.as_list()[0] if flat[0].shape.ndims is not None else None
        if n is None:
            n = _number_of_rows(flat[0])
        sources = [
            TensorArray(elem.dtype, size=n, element_shape=elem.shape[1:], infer_shape=True)
            for elem in flat
        ]
        sources = [ta.unstack(elem) for ta, elem in zip(sources, flat, strict=True)]
        if initializer is None:
            state = [ta.read(n - 1 if reverse else 0) for ta in sources]
            done = 1
        else:
            state = [convert_to_tensor(value) for value in outs.flatten(initializer)]
            done = 0
        results = [
            TensorArray(
                value.dtype, size=n, element_shape=value.shape if infer_shape else None,
                infer_shape=infer_shape,
            )
            for value in state
        ]  # fmt: skip
        if initializer is None:
            first = [
                ta.write(n - 1 if reverse else 0, value)
                for ta, value in zip(results, state, strict=True)
            ]
            results = first

        def compute(i: Tensor, state: list[Tensor], arrays: list[TensorArray]) -> Any:
            row = ins.pack([ta.read(i) for ta in sources])
            after = fn(outs.pack(state), row)
            nest.assert_same_structure(elems if initializer is None else initializer, after)
            values = outs.flatten(after)
            arrays = [ta.write(i, value) for ta, value in zip(arrays, values, strict=True)]
            return (i - 1 if reverse else i + 1), values, arrays

        def more(i: Tensor, *_: Any) -> Tensor:
            return i >= 0 if reverse else i < n

        _, _, results = while_loop(
            more, compute, (n - 1 - done if reverse else done, state, results),
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=n,
        )  # fmt: skip
        return outs.pack(_stacked(results, _common_rows(flat)))


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of `a = fn(a, row)` along the rows of `elems`, from first to last.

    `a` starts as `initializer`, or as the first row.
    """
    return _fold("foldl", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`foldl` from the last row to the first."""
    return _fold("foldr", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def _fold(
    kind: str,
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any,
    parallel_iterations: int,
    back_prop: bool,
    swap_memory: bool,
    name: str | None,
) -> Any:
    _check_callable(fn)
    forward = kind == "foldl"
    with name_scope(name, kind, [elems]), _variables_read_once():
        given = nest.flatten(elems)
        flat = [convert_to_tensor(elem, name="elem") for elem in given]
        n = _number_of_rows(flat[0])
        sources = nest.pack_sequence_as(
            elems,
            [
                TensorArray(elem.dtype, size=n, infer_shape=True).unstack(rows)
                for elem, rows in zip(flat, given, strict=True)
            ],
        )

        def row(i: Any) -> Any:
            return nest.map_structure(lambda ta: ta.read(i), sources)

        if initializer is not None:
            state, start = initializer, constant(0) if forward else n
        elif forward:
            state, start = row(0), constant(1)
        else:
            start = n - 1
            state = row(start)

        def compute(i: Tensor, state: Any) -> list[Any]:
            if forward:
                state = fn(state, row(i))
                return [i + 1, state]
            i = i - 1
            return [i, fn(state, row(i))]

        _, result = while_loop(
            lambda i, _: i < n if forward else i > 0, compute, [start, state],
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=n,
        )  # fmt: skip
        return result
