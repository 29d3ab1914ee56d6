"""TensorArray operations of graphs of 2016: a handle of strings, and no flow from what makes it.

The handle carries the array itself, as a table's does. Kernels are those of the third version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims
from weft.graph.traits import DEPRECATED, HOST, HOST_STATE, NO_GRADIENT, PLAIN, Traits
from weft.ops.lists.tensor_array_nodes import TensorArrayValue, tensor_array_v3

_HANDLES = {"": "ref(string)", "V2": "string"}
_UNKNOWN = "shape = unknown"
_ELEMENT = f"dtype: type, element_shape: {_UNKNOWN}"
_OPTIONS = (
    'dynamic_size: bool = false, clear_after_read: bool = true, tensor_array_name: string = ""'
)


def _make(
    xp: Any, ctx: Any, size: Any, *, dtype: DType, element_shape: Dims, dynamic_size: bool,
    clear_after_read: bool, tensor_array_name: str,
) -> TensorArrayValue:  # fmt: skip
    assert tensor_array_v3.kernel is not None
    return tensor_array_v3.kernel(
        xp, ctx, size, dtype=dtype, element_shape=element_shape, dynamic_size=dynamic_size,
        clear_after_read=clear_after_read, identical_element_shapes=False,
        tensor_array_name=tensor_array_name,
    )[0]  # fmt: skip


def _grad(xp: Any, handle: TensorArrayValue, flow_in: Any, *, source: str) -> TensorArrayValue:
    return handle.gradient(source)


def _pack(xp: Any, handle: TensorArrayValue, flow_in: Any, *, element_shape: Dims) -> Any:
    return handle.gather(np.arange(len(handle.items)), element_shape)


def _unpack(xp: Any, handle: TensorArrayValue, value: Any, flow_in: Any, *, T: DType) -> Any:
    handle.check_dtype(T, "is trying to write dtype")
    handle.scatter(np.arange(len(value) if np.ndim(value) else 0), value)
    return flow_in


def _two_strings(c: s.ShapeContext) -> Dims:
    return (2,)


def _declare(
    name: str, inputs: str, outputs: str, attrs: str, shape: Any,
    kernel: Callable[..., Any] | None = None, traits: Traits = PLAIN,
    versions: tuple[str, ...] = ("", "V2"),
) -> None:  # fmt: skip
    """Declares the first two versions of what is done with an array."""
    for version in versions:
        op(
            f"TensorArray{name}{version}", inputs=f"handle: {_HANDLES[version]}{inputs}",
            outputs=outputs, attrs=attrs, shape=shape,
            traits=traits | HOST | DEPRECATED,
        )(kernel or getattr(raw, f"TensorArray{name}V3").kernel)  # fmt: skip


op(
    "TensorArray", inputs="size: int32", outputs="handle: ref(string)",
    attrs=f"dtype: type, {_OPTIONS}, element_shape: {_UNKNOWN}", shape=_two_strings,
    traits=HOST_STATE | NO_GRADIENT | DEPRECATED,
)(_make)  # fmt: skip
op(
    "TensorArrayV2", inputs="size: int32", outputs="handle: string",
    attrs=f"{_ELEMENT}, {_OPTIONS}", shape=_two_strings,
    traits=HOST_STATE | NO_GRADIENT | DEPRECATED,
)(_make)  # fmt: skip
for _version, _handle in _HANDLES.items():
    op(
        f"TensorArrayGrad{_version}", inputs="handle: string, flow_in: float",
        outputs=f"grad_handle: {_handle}", attrs="source: string", shape=_two_strings,
        traits=HOST_STATE | NO_GRADIENT | DEPRECATED,
    )(_grad)  # fmt: skip
_declare(
    "Write", ", index: int32, value: T, flow_in: float", "flow_out: float", "T: type", s.scalar
)
_declare("Read", ", index: int32, flow_in: float", "value: dtype", "dtype: type", s.unknown)
_declare(
    "Gather", ", indices: int32, flow_in: float", "value: dtype", _ELEMENT,
    lambda c: s.concat((None,), c.attr("element_shape")),
)  # fmt: skip
_declare(
    "Scatter", ", indices: int32, value: T, flow_in: float", "flow_out: float", "T: type", s.scalar
)
_declare(
    "Concat", ", flow_in: float", "value: dtype, lengths: int64",
    f"dtype: type, element_shape_except0: {_UNKNOWN}",
    lambda c: [s.concat((None,), c.attr("element_shape_except0")), (None,)],
)  # fmt: skip
_declare(
    "Split", ", value: T, lengths: int64, flow_in: float", "flow_out: float", "T: type", s.scalar
)
_declare("Size", ", flow_in: float", "size: int32", "", s.scalar, traits=NO_GRADIENT)
_declare("Close", "", "", "", s.none, traits=NO_GRADIENT)
_declare(
    "Pack", ", flow_in: float", "value: dtype", _ELEMENT,
    lambda c: s.concat((None,), c.attr("element_shape")), _pack, versions=("",),
)  # fmt: skip
_declare(
    "Unpack", ", value: T, flow_in: float", "flow_out: float", "T: type", s.scalar, _unpack,
    versions=("",),
)  # fmt: skip
