"""Activations that have parameters, as layers."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras import backend
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.math import math


class Elementwise(Layer):
    """The outputs have the shape of the inputs, and their mask."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


class LeakyReLU(Elementwise):
    """`x` where it is positive, `alpha * x` elsewhere."""

    def __init__(self, alpha: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = backend.cast_to_floatx(alpha)

    def call(self, inputs: Any) -> Tensor:
        return backend.relu(inputs, alpha=self.alpha)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": float(self.alpha)}


class PReLU(Elementwise):
    """`x` where it is positive, `alpha * x` elsewhere; `alpha` is learned for every entry."""

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        take_named(self, locals())
        self.shared_axes = None
        if shared_axes is not None:
            several = isinstance(shared_axes, (list, tuple))
            self.shared_axes = list(shared_axes) if several else [shared_axes]

    def build(self, input_shape: Any) -> None:
        dims = TensorShape(input_shape).as_list()
        shared = self.shared_axes or []
        shape = dims[1:]
        for axis in shared:
            shape[axis - 1] = 1
        self.alpha = weight(self, "alpha", shape)
        kept = {axis: dims[axis] for axis in range(1, len(dims)) if axis not in shared}
        self.input_spec = InputSpec(ndim=len(dims), axes=kept if shared else {})
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        return backend.relu(inputs) + -self.alpha * backend.relu(-inputs)

    def get_config(self) -> dict[str, Any]:
        keys = "alpha_initializer alpha_regularizer alpha_constraint shared_axes"
        return {**super().get_config(), **record(self, keys)}


class ELU(Elementwise):
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = backend.cast_to_floatx(alpha)

    def call(self, inputs: Any) -> Tensor:
        return backend.elu(inputs, self.alpha)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": float(self.alpha)}


class ThresholdedReLU(Elementwise):
    """`x` where it is more than `theta`, 0 elsewhere."""

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = backend.cast_to_floatx(theta)

    def call(self, inputs: Any) -> Tensor:
        return inputs * math.cast(math.greater(inputs, self.theta), inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "theta": float(self.theta)}


class Softmax(Elementwise):
    """Positive, and of sum 1 along `axis`."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Tensor:
        return backend.softmax(inputs, axis=self.axis)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "axis")}


class ReLU(Elementwise):
    """`x` between `threshold` and `max_value`, of slope `negative_slope` below them."""

    negative_slope: Any
    threshold: Any

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0,
        threshold: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        limit = {} if max_value is None else {"max_value": max_value}
        slope = {"negative_slope": negative_slope}
        for name, value in (limit | slope).items():
            if value < 0.0:
                raise ValueError(f"{name} of Relu layer cannot be negative value: {value}")
        self.max_value = None
        for name, value in (limit | slope | {"threshold": threshold}).items():
            setattr(self, name, backend.cast_to_floatx(value))

    def call(self, inputs: Any) -> Tensor:
        return backend.relu(
            inputs,
            alpha=self.negative_slope,
            max_value=self.max_value,
            threshold=self.threshold,
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "max_value": None if self.max_value is None else float(self.max_value),
            "negative_slope": float(self.negative_slope),
            "threshold": float(self.threshold),
        }
