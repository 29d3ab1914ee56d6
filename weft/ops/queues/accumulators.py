"""tf.ConditionalAccumulator and its sparse kin: operations and classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.kit.resource_names import find_or_make
from weft.ops.math.casts import cast
from weft.ops.queues.accumulator_objects import Accumulator, SparseAccumulator, check_type

_ATTRS = (
    'dtype: numbertype, shape: shape, container: string = "", shared_name: string = "",'
    ' reduction_type: {"MEAN", "SUM"} = "MEAN"'
)


def _scalar_step(c: ShapeContext) -> Any:
    s.with_rank(c.dims(1), 0)
    return s.unknown(c)


def _pair(c: ShapeContext) -> Dims:
    return (2,)


def _handle(kind: type[Accumulator]) -> Callable[..., Accumulator]:
    def kernel(
        xp: Any, ctx: Any, *, dtype: DType, shape: Dims, container: str, shared_name: str,
        reduction_type: str,
    ) -> Accumulator:  # fmt: skip
        accumulator, existed = find_or_make(
            ctx, "accumulator", container, shared_name,
            lambda name: kind(name, dtype, shape, reduction_type),
        )  # fmt: skip
        if existed:
            check_type(accumulator, dtype)
        return accumulator

    return kernel


def _declare(name: str, handle: str, prefix: str) -> None:
    """The operations on dense accumulators, for one way to pass the accumulator."""
    outputs = f"handle: {handle}"
    op(name, outputs=outputs, attrs=_ATTRS, shape=_pair, traits=HOST_STATE)(_handle(Accumulator))

    @op(
        f"{prefix}NumAccumulated", inputs=f"handle: {handle}", outputs="num_accumulated: int32",
        shape=s.scalar, traits=HOST_STATE,
    )  # fmt: skip
    def num_accumulated(xp: Any, ctx: Any, handle: Accumulator) -> Any:
        return np.array(handle.count, np.int32)

    @op(
        f"{prefix}SetGlobalStep", inputs=f"handle: {handle}, new_global_step: int64",
        shape=_scalar_step, traits=HOST_STATE,
    )  # fmt: skip
    def set_global_step(xp: Any, ctx: Any, handle: Accumulator, new_global_step: Any) -> None:
        handle.set_global_step(new_global_step)

    @op(
        f"{prefix}ApplyGradient", inputs=f"handle: {handle}, local_step: int64, gradient: dtype",
        attrs="dtype: numbertype", shape=_scalar_step, traits=HOST_STATE,
    )  # fmt: skip
    def apply(
        xp: Any, ctx: Any, handle: Accumulator, local_step: Any, gradient: Any, *, dtype: DType
    ) -> None:
        check_type(handle, dtype)
        handle.apply(local_step, gradient)

    @op(
        f"{prefix}TakeGradient", inputs=f"handle: {handle}, num_required: int32",
        outputs="average: dtype", attrs="dtype: numbertype", shape=_scalar_step,
        traits=HOST_STATE | BLOCKING,
    )  # fmt: skip
    def take(xp: Any, ctx: Any, handle: Accumulator, num_required: Any, *, dtype: DType) -> Any:
        check_type(handle, dtype)
        taken = handle.take(num_required)
        return taken[0] if isinstance(taken, tuple) else taken


_declare("ConditionalAccumulator", "ref(string)", "Accumulator")
_declare("ResourceConditionalAccumulator", "resource", "ResourceAccumulator")

op(
    "SparseConditionalAccumulator", outputs="handle: ref(string)", attrs=_ATTRS, shape=_pair,
    traits=HOST_STATE,
)(_handle(SparseAccumulator))  # fmt: skip


@op(
    "SparseAccumulatorApplyGradient",
    inputs="handle: ref(string), local_step: int64, gradient_indices: int64,"
    " gradient_values: dtype, gradient_shape: int64",
    attrs="dtype: numbertype, has_known_shape: bool", shape=_scalar_step, traits=HOST_STATE,
)  # fmt: skip
def sparse_accumulator_apply_gradient(
    xp: Any, ctx: Any, handle: SparseAccumulator, local_step: Any, gradient_indices: Any,
    gradient_values: Any, gradient_shape: Any, *, dtype: DType, has_known_shape: bool,
) -> None:  # fmt: skip
    check_type(handle, dtype)
    shape = gradient_shape if has_known_shape else None
    handle.apply(local_step, gradient_indices, gradient_values, shape)


@op(
    "SparseAccumulatorTakeGradient", inputs="handle: ref(string), num_required: int32",
    outputs="indices: int64, values: dtype, shape: int64", attrs="dtype: numbertype",
    shape=_scalar_step, traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def sparse_accumulator_take_gradient(
    xp: Any, ctx: Any, handle: SparseAccumulator, num_required: Any, *, dtype: DType
) -> Any:
    check_type(handle, dtype)
    return handle.take(num_required)


# ---- classes -------------------------------------------------------------------------------------


def _step(value: Any) -> Tensor:
    return cast(convert_to_tensor(value), dtypes.int64)


class ConditionalAccumulatorBase:
    """Sums gradients that are not stale; gives out their mean when enough have come."""

    _prefix = "ResourceAccumulator"

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype, self._shape = dtype, TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        return self._accumulator_ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    def _op(self, what: str) -> Any:
        return getattr(raw, self._prefix + what)

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients have been added since the last were taken."""
        name = name or f"{self._name}_NumAccumulated"
        return self._op("NumAccumulated")(self._accumulator_ref, name=name)

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """The operation after which gradients of earlier steps are dropped."""
        return self._op("SetGlobalStep")(self._accumulator_ref, _step(new_global_step), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of dense gradients."""

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        made = raw.ResourceConditionalAccumulator(
            dtype, shape, "", shared_name or "", reduction_type, name=name
        )
        super().__init__(dtype, shape, made)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """The operation that adds `grad`, computed at `local_step`, unless that is stale."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return self._op("ApplyGradient")(
            self._accumulator_ref, local_step=_step(local_step), gradient=grad, name=name
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean gradient; waits for `num_required` of them, then starts the next step."""
        out = self._op("TakeGradient")(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of gradients given as rows and their indices."""

    _prefix = "Accumulator"

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        made = raw.SparseConditionalAccumulator(
            dtype, shape, "", shared_name or "", reduction_type, name=name
        )
        super().__init__(dtype, shape, made)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Any:
        """As `apply_grad`, for an IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Any:
        """The operation that adds rows at sorted `grad_indices`, unless they are stale."""
        known = grad_shape is not None
        step, indices = _step(local_step), cast(grad_indices, dtypes.int64)
        shape = cast(grad_shape if known else [], dtypes.int64)
        return raw.SparseAccumulatorApplyGradient(
            self._accumulator_ref, step, indices, grad_values, shape, known, name=name
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """(indices, values, shape) of the mean gradient, once there are `num_required`."""
        return raw.SparseAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)
