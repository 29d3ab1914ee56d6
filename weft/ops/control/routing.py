"""Switch, Merge, Enter, Exit and NextIteration for whatever a user holds: tensors, references and
values made of several tensors (IndexedSlices, SparseTensor).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices, SparseTensor, convert_to_tensor_or_indexed_slices


def is_composite(value: Any) -> bool:
    """Whether `value` stands for several tensors."""
    return isinstance(value, (IndexedSlices, SparseTensor)) or hasattr(
        type(value), "_composite_components"
    )


def convert(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """`value` as a tensor, unless it already is a composite of tensors."""
    if is_composite(value) and not isinstance(value, IndexedSlices):
        return value
    return convert_to_tensor_or_indexed_slices(value, dtype=dtype, name=name, as_ref=as_ref)


def _is_ref(tensor: Tensor) -> bool:
    return tensor.dtype._is_ref_dtype


def _node(kind: str, data: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The op `kind`, or its variant for references."""
    return getattr(raw, f"Ref{kind}" if _is_ref(data) else kind)(data, *args, **kwargs)


def _each(function: Callable[..., Any], data: Any, name: str | None) -> Any:
    """`function` of a tensor, or of every component of a composite."""
    data = convert(data, as_ref=True)
    if isinstance(data, Tensor):
        return function(data, name=name)
    return nest.map_structure(function, data, expand_composites=True)


def identity(data: Any, name: str | None = None) -> Any:
    """Passes on a value, or a reference as a reference."""
    return _each(lambda x, name=None: _node("Identity", x, name=name), data, name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """Makes a value available to the next iteration of its loop."""
    return _each(lambda x, name=None: _node("NextIteration", x, name=name), data, name)


def exit(data: Any, name: str | None = None) -> Any:
    """Makes a value of a loop available outside it."""
    return _each(lambda x, name=None: _node("Exit", x, name=name), data, name)


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Makes a value available inside the loop `frame_name`.

    Without `use_input_shape` nothing is assumed of the shape that it keeps there.
    """

    def one(x: Tensor, name: str | None = None) -> Tensor:
        kind = raw.RefEnter if use_ref and _is_ref(x) else raw.Enter
        entered = kind(
            x, frame_name=frame_name, is_constant=is_constant,
            parallel_iterations=parallel_iterations, name=name,
        )  # fmt: skip
        entered.dims = x.dims if use_input_shape else None
        return entered

    return _each(one, data, name)


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """(output_false, output_true): `data` goes to the one that `pred` says, the other is dead."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        data = convert(data, dtype=dtype, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return raw.Switch(data, pred, name=scope)
        pairs = [raw.Switch(part, pred) for part in _parts(data)]
        no, yes = (_packed(data, parts) for parts in zip(*pairs, strict=True))
        return no, yes


def _parts(value: Any) -> list[Any]:
    return nest.flatten(value, expand_composites=True)


def _packed(like: Any, parts: Sequence[Any]) -> Any:
    return nest.pack_sequence_as(like, parts, expand_composites=True)


def switch_beside(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """`switch` on the device of `data`, keeping a reference a reference."""
    data = convert(data, name="data", as_ref=True)
    # What is captured may be pinned elsewhere than the code that captures it.
    with colocate_with(data, ignore_existing=True):
        if isinstance(data, Tensor) and _is_ref(data):
            return raw.RefSwitch(data, pred, name=name)
        return switch(data, pred, name=name)


def merge(inputs: Sequence[Any], name: str | None = None) -> tuple[Any, Tensor]:
    """The one of `inputs` that is available, and its index."""
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", list(inputs)) as scope:
        inputs = [convert(value, as_ref=True) for value in inputs]
        if all(isinstance(value, Tensor) for value in inputs):
            kind = raw.RefMerge if all(_is_ref(value) for value in inputs) else raw.Merge
            return kind(inputs, name=scope)
        if all(isinstance(value, (IndexedSlices, Tensor)) for value in inputs):
            inputs = as_indexed_slices_list(inputs)
        for value in inputs[1:]:
            nest.assert_same_structure(inputs[0], value, expand_composites=True)
        merged = [raw.Merge([*same]) for same in zip(*map(_parts, inputs), strict=True)]
        return _packed(inputs[0], [value for value, _ in merged]), merged[0][1]


def as_indexed_slices(value: Any) -> IndexedSlices:
    """A dense tensor as the slices of all its rows."""
    if isinstance(value, IndexedSlices):
        return value
    if not isinstance(value, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(value)}")
    from weft.ops.array import array

    shape = array.shape_internal(value, optimize=False)
    return IndexedSlices(value, raw.Range(0, shape[0], 1), shape)


def as_indexed_slices_list(values: Sequence[Any]) -> list[IndexedSlices]:
    """All as slices; if their indices differ in type, they become int64."""
    found = [as_indexed_slices(value) for value in values]
    if len({slices.indices.dtype for slices in found}) <= 1:
        return found
    return [
        IndexedSlices(s.values, raw.Cast(s.indices, DstT=dtypes.int64), s.dense_shape)
        if s.indices.dtype != dtypes.int64
        else s
        for s in found
    ]
