"""tf.hessians: second derivatives, one row of them in each iteration of a loop."""

from __future__ import annotations

from typing import Any

from weft.autodiff.gradients import gradients
from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.ops.array import array
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """For each x the matrix of second derivatives of the sum of `ys` (shape x.shape + x.shape)."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    first = gradients(
        ys, xs, colocate_gradients_with_ops=colocate_gradients_with_ops,
        gate_gradients=gate_gradients, aggregation_method=aggregation_method,
    )  # fmt: skip
    return [
        _hessian(array.reshape(gradient, [-1]), x) for gradient, x in zip(first, xs, strict=True)
    ]


def _hessian(gradient: Tensor, x: Any) -> Tensor:
    count = array.size(x)

    def derive(row: Tensor, rows: TensorArray) -> tuple[Tensor, TensorArray]:
        after = row + 1
        (second,) = gradients(gradient[row], x)
        return after, rows.write(row, second)

    start = constant(0), TensorArray(x.dtype.base_dtype, count)
    _, rows = while_loop(lambda row, _: row < count, derive, start)
    sides = [array.shape(x)] * 2
    return array.reshape(rows.stack(), array.concat(sides, 0))
