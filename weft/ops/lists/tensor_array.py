"""tf.TensorArray: an array of tensors that a graph writes and reads by index, one write per index.

The array itself lives in the step (ops/lists/tensor_array_nodes.py). In the graph a TensorArray is
a `handle`, the same for all uses, and a `flow`, a scalar that every write passes on: what takes the
flow of a write comes after it. In loops and conds the flow is the variable.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw, register_gradient
from weft.ops.kit.eager import executing_eagerly

_LOG = logging.getLogger("weft")


_HANDLE = 5  # its place among a TensorArray's arguments


class TensorArray:
    """An array of tensors of one type, for use with `while_loop` and `map_fn`.

    Methods that write return a new TensorArray: use that one from there on, so that reads come
    after the write.
    """

    def __new__(cls, *args: Any, handle: Tensor | None = None, **kwargs: Any) -> TensorArray:
        handle = args[_HANDLE] if len(args) > _HANDLE else handle
        return object.__new__(_kind() if cls is TensorArray and handle is None else cls)

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            _check_given_handle(
                handle, size, element_shape, dynamic_size, clear_after_read, tensor_array_name
            )
        elif size is None:
            raise ValueError("Size must be provided if handle is not provided")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        # Lists, because the TensorArrays that writes return share them: what one learns of the
        # elements, or where the first value lies, all know.
        self._element_shape = [as_shape(element_shape)]
        self._colocate_with: list[Tensor] | None = [] if colocate_with_first_write_call else None
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._handle, self._flow = handle, flow
                return
            with self._anywhere():
                self._handle, self._flow = raw.TensorArrayV3(
                    size,
                    dtype=self._dtype,
                    element_shape=as_shape(element_shape),
                    identical_element_shapes=infer_shape,
                    dynamic_size=self._dynamic_size,
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )

    @property
    def flow(self) -> Tensor:
        return self._flow

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def handle(self) -> Tensor:
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """The shape of every element, as far as it is known."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        return self._dynamic_size

    # ---- where it is placed, what is known of its elements ----

    @contextmanager
    def _anywhere(self) -> Iterator[None]:
        """The array goes where its first value is, so the open device scopes do not count."""
        if self._colocate_with is None:
            yield
            return
        with device(None), colocate_with(None, ignore_existing=True):
            yield

    def _beside_first(self, value: Tensor) -> Any:
        if self._colocate_with is None:
            return nullcontext()
        if not self._colocate_with:
            self._colocate_with.append(value)
        return colocate_with(self._colocate_with[0])

    def _learn_element_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    def _learn_split(self, value: Tensor, lengths: Any) -> None:
        if value.shape.ndims is None or lengths is None or not lengths.size:
            return
        if lengths.max() == lengths.min():
            first = TensorShape([int(lengths.flat[0])])
            self._learn_element_shape(first.concatenate(value.shape[1:]))

    def _converted(self, value: Any) -> Tensor:
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base_dtype != self._dtype:
            _LOG.error(
                "A TensorArray of %s is given %s of type %s: the step will fail. At\n%s",
                self._dtype.name, value, value.dtype.name, "".join(traceback.format_stack()),
            )  # fmt: skip
        return value

    def _after(self, flow: Tensor) -> TensorArray:
        return build_ta_with_new_flow(self, flow)

    # ---- writing ----

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array after `value` is written at `index`."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._converted(value)
            self._learn_element_shape(value.shape)
            with self._beside_first(value):
                return self._after(
                    raw.TensorArrayWriteV3(self._handle, index, value, self._flow, name=name)
                )

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array after the rows of `value` are written, from index 0."""
        from weft.ops.array import array

        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = array.shape(value)[0]
            return self.scatter(_range(count), value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array after the rows of `value` are written at `indices`."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._converted(value)
            self._learn_element_shape(value.shape[1:])
            with self._beside_first(value):
                return self._after(
                    raw.TensorArrayScatterV3(self._handle, indices, value, self._flow, name=name)
                )

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array after consecutive parts of `value`, of these lengths, are written from 0."""
        from weft.ops.math import casts

        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            whole = convert_to_tensor(value, self._dtype, "value")
            with self._beside_first(whole):
                sizes = casts.cast(lengths, dtypes.int64)
                self._learn_split(whole, constant_value(sizes))
                given = (self._handle, whole, sizes, self._flow)
                return self._after(raw.TensorArraySplitV3(*given, name=name))

    # ---- reading ----

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`."""
        value = raw.TensorArrayReadV3(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self.element_shape)
        return value

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as the rows of one tensor."""
        with colocate_with(self._handle):
            with name_scope(name, "TensorArrayStack", [self._handle]):
                return self.gather(_range(self.size()), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices` as the rows of one tensor."""
        value = raw.TensorArrayGatherV3(
            self._handle, indices, self._flow, dtype=self._dtype,
            element_shape=self.element_shape, name=name,
        )  # fmt: skip
        value.set_shape(TensorShape([None]).concatenate(self.element_shape))
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first dimension."""
        value, _ = raw.TensorArrayConcatV3(
            self._handle, self._flow, dtype=self._dtype,
            element_shape_except0=self.element_shape[1:], name=name,
        )  # fmt: skip
        if self.element_shape.ndims is not None:
            value.set_shape(TensorShape([None]).concatenate(self.element_shape[1:]))
        return value

    def mark_used(self) -> None:
        """Does nothing: there is no warning here about an unused array."""

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements."""
        return raw.TensorArraySizeV3(self._handle, self._flow, name=name)

    # ---- the array as a whole ----

    def identity(self) -> TensorArray:
        """The same array, whose uses wait for the open control dependencies."""
        return self._after(raw.Identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array that gathers the gradients of the elements for the gradient call `source`."""
        # Made only when the size of this array is final, which is what its last flow tells.
        last = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = raw.TensorArrayGradV3(self._handle, last, source=source, name=name)
            with control_dependencies([handle]):
                own_flow = raw.Identity(last, name="gradient_flow")
            return _sharing_shape(self, handle, own_flow, colocated=False)

    def close(self, name: str | None = None) -> Operation:
        """An operation that lets go of all elements."""
        return raw.TensorArrayCloseV3(self._handle, name=name)


def _kind() -> type[TensorArray]:
    """The class of arrays that are made now, without a handle."""
    from weft.ops.lists.eager_array import EagerTensorArray
    from weft.ops.lists.tensor_list_array import ListTensorArray

    if executing_eagerly():
        return EagerTensorArray
    return ListTensorArray if get_default_graph().functional_control_flow else TensorArray


def _check_given_handle(
    handle: Any, size: Any, element_shape: Any, dynamic_size: Any, clear: Any, array_name: Any
) -> None:
    if array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    given = {
        "size": size, "element_shape": element_shape, "dynamic_size": dynamic_size,
        "clear_after_read": clear,
    }  # fmt: skip
    for what, value in given.items():
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {what} at the same time")


def _range(count: Any) -> Tensor:
    from weft.ops.math import sequence

    return sequence.range(0, count)


def build_ta_with_new_flow(old_ta: TensorArray, flow: Tensor) -> TensorArray:
    """`old_ta` as it is after the operation that gave `flow`."""
    if old_ta.handle is None:
        return old_ta._after(flow)
    colocated = old_ta._colocate_with
    new = _sharing_shape(old_ta, old_ta.handle, flow, colocated is not None)
    new._dynamic_size, new._colocate_with = old_ta._dynamic_size, colocated
    return new


def _sharing_shape(
    array: TensorArray, handle: Tensor, flow: Tensor, colocated: bool
) -> TensorArray:
    """An array like `array`; what one learns of the shape of its elements, both know."""
    new = TensorArray(
        array.dtype, handle=handle, flow=flow, infer_shape=array._infer_shape,
        colocate_with_first_write_call=colocated,
    )  # fmt: skip
    new._element_shape = array._element_shape
    return new


def flow_of(value: Any) -> Any:
    """The flow of a TensorArray; anything else as it is."""
    return value.flow if isinstance(value, TensorArray) else value


def with_flows(originals: list[Any], tensors: list[Any]) -> list[Any]:
    """`tensors`, those that are flows of TensorArrays among `originals` as these again."""
    if len(originals) != len(tensors):
        raise ValueError(
            "Lengths of original Tensor list and new list do not match:"
            f" {len(originals)} vs. {len(tensors)}"
        )
    return [
        build_ta_with_new_flow(old, new) if isinstance(old, TensorArray) else new
        for old, new in zip(originals, tensors, strict=True)
    ]


# ---- gradients --------------------------------------------------------------------------------
# Each array has, for every call of `gradients`, an array of gradients of the same size. Reading an
# element writes (adds) to that of the gradients and the other way round, in reverse order of flows.


def _grad_source(tensor: Tensor) -> str:
    """The call of `gradients` that is being built: the name scope it opened."""
    parts = tensor.name.split("/")
    while parts and not parts[-1].startswith("gradients"):
        parts.pop()
    if parts:
        return "/".join(parts)
    raise ValueError(
        "Expected op/tensor name to start with gradients (excluding scope), got:"
        f" {tensor.name}. Calls of tf.gradients that pass through a TensorArray need a name"
        " that starts with 'gradients', or none."
    )


def _gradients_of(op: Operation, dtype: DType, flow: Tensor, grad: Tensor) -> TensorArray:
    forward = TensorArray(
        dtype=dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False
    )
    return forward.grad(source=_grad_source(grad), flow=flow)


def _read_grad(op: Operation, grad: Tensor) -> list[Any]:
    _, index, flow = op.inputs
    return [None, None, _gradients_of(op, op.attrs["dtype"], flow, grad).write(index, grad).flow]


def _write_grad(op: Operation, flow: Tensor) -> list[Any]:
    return [None, None, _gradients_of(op, op.attrs["T"], flow, flow).read(op.inputs[1]), flow]


def _gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    _, indices, flow = op.inputs
    grads = _gradients_of(op, op.attrs["dtype"], flow, grad)
    return [None, None, grads.scatter(indices, grad).flow]


def _scatter_grad(op: Operation, flow: Tensor) -> list[Any]:
    return [None, None, _gradients_of(op, op.attrs["T"], flow, flow).gather(op.inputs[1]), flow]


def _concat_grad(op: Operation, grad: Tensor, lengths_grad: Any) -> list[Any]:
    flow = op.inputs[1]
    grads = _gradients_of(op, op.attrs["dtype"], flow, grad)
    return [None, grads.split(grad, lengths=op.outputs[1]).flow]


def _split_grad(op: Operation, flow: Tensor) -> list[Any]:
    return [None, _gradients_of(op, op.attrs["T"], flow, flow).concat(), None, flow]


for _name, _function in (
    ("Read", _read_grad), ("Write", _write_grad), ("Gather", _gather_grad),
    ("Scatter", _scatter_grad), ("Concat", _concat_grad), ("Split", _split_grad),
):  # fmt: skip
    for _version in ("", "V2", "V3"):
        register_gradient(f"TensorArray{_name}{_version}", _function)
