"""Operations on tensors whose elements are lists: all lists of one in one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import as_array, invalid
from weft.ops.lists.tensor_list import TensorList, tensor_list_push_back

# ---- pushing ----------------------------------------------------------------------------------


def _batch_shape(c: ShapeContext) -> Dims:
    handles, tensor = s.with_rank(c.dims(0), 1), s.with_rank_at_least(c.dims(1), 1)
    return handles if tensor is None else s.merge(handles, tensor[:1])


@op(
    "TensorListPushBackBatch", inputs="input_handles: variant, tensor: element_dtype",
    outputs="output_handles: variant", attrs="element_dtype: type", shape=_batch_shape,
    traits=HOST | NO_GRADIENT,
)  # fmt: skip
def tensor_list_push_back_batch(
    xp: Any, input_handles: Any, tensor: Any, *, element_dtype: DType
) -> Any:
    """A row of `tensor` at the end of each list."""
    handles = as_array(input_handles)
    if handles.ndim != 1:
        raise invalid(
            f"Expected input_handles to be a vector, but saw shape: {s.show(handles.shape)}"
        )
    if len(tensor) != len(handles):
        raise invalid(
            f"Expected tensor.shape[0] == input_handles.size, but saw {len(tensor)} vs."
            f" {len(handles)}"
        )
    found, push = np.empty(len(handles), object), tensor_list_push_back.kernel
    assert push is not None
    for i, each in enumerate(handles):
        found[i] = push(xp, each, tensor[i], element_dtype=element_dtype)
    return found


# ---- joining ----------------------------------------------------------------------------------


@op(
    "TensorListConcatLists", inputs="input_a: variant, input_b: variant",
    outputs="output: variant", attrs="element_dtype: type",
    shape=lambda c: s.merge(c.dims(0), c.dims(1)), traits=HOST | NO_GRADIENT,
)  # fmt: skip
def tensor_list_concat_lists(xp: Any, input_a: Any, input_b: Any, *, element_dtype: DType) -> Any:
    """Each list of `input_a` with what is in the list of `input_b` at its place."""
    a, b = as_array(input_a), as_array(input_b)
    if a.shape != b.shape:
        raise invalid(
            f"Incompatible input TensorList tensor shapes: {s.show(a.shape)} vs. {s.show(b.shape)}"
        )
    found = np.empty(a.size, object)
    for i, (one, other) in enumerate(zip(a.flat, b.flat, strict=True)):
        _check(i, one, other, element_dtype)
        found[i] = one.with_items(one.values() + other.values())
    return found.reshape(a.shape) if a.ndim else found[0]


def _check(i: int, one: Any, other: Any, wanted: DType) -> None:
    """Both are lists, and of the same kind."""
    for label, each in (("input_a", one), ("input_b", other)):
        if not isinstance(each, TensorList):
            raise invalid(f"{label} is not a TensorList at index {i}.  Saw: '{each}'")
        if each.dtype != wanted:
            raise invalid(
                f"{label}[{i}].dtype != element_dtype.  Saw: {each.dtype.name} vs. {wanted.name}"
            )
    if one.dims != other.dims:
        raise invalid(
            "input_a and input_b TensorList element shapes are not identical at index"
            f" {i}.  Saw {s.show(one.dims)} vs. {s.show(other.dims)}"
        )
