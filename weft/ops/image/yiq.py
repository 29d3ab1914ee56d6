"""AdjustHsvInYiq (tf.contrib.image): hue, saturation and value by one matrix, in the space YIQ."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.ops.kit.shared import invalid

F = np.float32
_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]], F)
_RGB = np.array(
    [[1, 0.95617069, 0.62143257], [1, -0.2726886, -0.64681324], [1, -1.103744, 1.70062309]], F
)


@op(
    "AdjustHsvInYiq", inputs="images: T, delta_h: float, scale_s: float, scale_v: float",
    outputs="output: T", attrs="T: {uint8, int8, int16, int32, int64, half, float, double}",
    shape=lambda c: s.with_rank_at_least(c.dims(0), 3),
)  # fmt: skip
def adjust_hsv_in_yiq_(xp: Any, images: Any, delta_h: Any, scale_s: Any, scale_v: Any) -> Any:
    """Turns I and Q by an angle, scales them by saturation and value, and Y by value."""
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{s.show(images.shape)}")
    if images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")
    chroma = scale_v * scale_s
    along, across = chroma * xp.cos(delta_h), chroma * xp.sin(delta_h)
    zero = xp.zeros_like(along)
    rows = [[scale_v, zero, zero], [zero, along, -across], [zero, across, along]]
    turn = xp.stack([xp.stack(row) for row in rows])
    matrix = (_RGB @ turn @ _YIQ).astype(F)
    return (images.astype(F) @ matrix.T).astype(images.dtype)
