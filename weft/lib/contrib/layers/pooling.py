"""Pools under contrib's names and defaults."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.layers import utils
from weft.lib.layers import pooling
from weft.ops.nn import pool as nn_pool

_POOLED = """\
The {what} of every window.

Args:
    inputs: a tensor [batch, ..., channels].
    kernel_size, stride: a number, or one for each dimension.
    padding: "VALID" or "SAME".
    data_format: "{last}", or "{first}" for channels first.
    outputs_collections: graph collections that the result joins.
    scope: the name scope.

Returns:
    A smaller tensor of the same type.

Raises:
    ValueError: the format is another one, or the shapes do not fit.

Example:
    >>> tf.contrib.layers.{name}(tf.ones({shape}), 2).shape.as_list()
    {result}
"""


def _pool(layer_class: Any, name: str, scope_name: str, formats: tuple[str, str]) -> Any:
    dims = len(formats[0]) - 2

    def pooled(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = formats[1],
        outputs_collections: Any = None,
        scope: Any = None,
    ) -> Tensor:
        utils.check_format(data_format, *formats)
        with name_scope(scope, scope_name, [inputs]) as opened:
            layer = layer_class(
                kernel_size,
                stride,
                padding=padding,
                data_format=utils.layer_format(data_format),
                _scope=opened,
            )
            outputs = layer.apply(convert_to_tensor(inputs))
            return utils.collect_named_outputs(outputs_collections, opened, outputs)

    pooled.__name__ = pooled.__qualname__ = name
    pooled.__doc__ = _POOLED.format(
        what="mean" if name.startswith("avg") else "maximum", name=name, last=formats[1],
        first=formats[0], shape=[1, *[8] * dims, 3], result=[1, *[4] * dims, 3],
    )  # fmt: skip
    return add_arg_scope(pooled)


_IMAGES, _VOLUMES = ("NCHW", "NHWC"), ("NCDHW", "NDHWC")
max_pool2d = _pool(pooling.MaxPooling2D, "max_pool2d", "MaxPool2D", _IMAGES)
avg_pool2d = _pool(pooling.AveragePooling2D, "avg_pool2d", "AvgPool2D", _IMAGES)
max_pool3d = _pool(pooling.MaxPooling3D, "max_pool3d", "MaxPool3D", _VOLUMES)
avg_pool3d = _pool(pooling.AveragePooling3D, "avg_pool3d", "AvgPool3D", _VOLUMES)


@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """`tf.nn.pool` with one number for all axes where that is enough."""
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as opened:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None or rank < 3:
            raise ValueError(f"Rank of inputs must be {'known' if rank is None else '>= 3'}")
        window, rates, strides = (
            utils.n_positive_integers(rank - 2, each)
            for each in (kernel_size, dilation_rate, stride)
        )
        outputs = nn_pool.pool(
            inputs, window, pooling_type, padding, rates, strides, opened, data_format
        )
        return utils.collect_named_outputs(outputs_collections, opened, outputs)
