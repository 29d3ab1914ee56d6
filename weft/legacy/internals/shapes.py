"""Names of `tensorflow.python.framework.common_shapes`."""

from __future__ import annotations

from typing import Any

import weft as tf


def broadcast_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape of an operation on two tensors, of which not all sizes may be known."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return tf.TensorShape(None)
    return tf.broadcast_static_shape(shape_x, shape_y)


def is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Whether two shapes fit, as far as they are known."""
    try:
        return shape_x.ndims is not None and broadcast_shape(shape_x, shape_y).ndims is not None
    except ValueError:
        return False
