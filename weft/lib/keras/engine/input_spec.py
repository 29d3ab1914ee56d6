"""Specifications of a layer's inputs, and the check made when it is called."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest


class InputSpec:
    """The type, rank, shape and sizes of single axes that a layer expects of one input."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[Any, Any] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError):
            raise TypeError("The keys in axes must be integers.") from None
        most = self.ndim or self.max_ndim
        if self.axes and most is not None and max(self.axes) > most - 1:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}"
            )

    def __repr__(self) -> str:
        shown = [f"{key}={value}" for key, value in self.get_config().items() if value]
        return f"InputSpec({', '.join(shown)})"

    def get_config(self) -> dict[str, Any]:
        keys = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {key: getattr(self, key) for key in keys}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        return cls(**config)


def assert_input_compatibility(input_spec: Any, inputs: Any, layer_name: str) -> None:
    """Raises ValueError when `inputs` are not what `input_spec` asks for."""
    if not input_spec:
        return
    flat, specs = nest.flatten(inputs), nest.flatten(input_spec)
    if len(flat) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(flat)} input "
            f"tensors. Inputs received: {flat}"
        )
    for index, (x, spec) in enumerate(zip(flat, specs, strict=True)):
        if spec is not None:
            wrong = _mismatch(spec, x)
            if wrong and wrong.startswith("expected shape="):
                raise ValueError(f"Input {index} is incompatible with layer {layer_name}: {wrong}")
            if wrong:
                raise ValueError(
                    f"Input {index} of layer {layer_name} is incompatible with the layer: {wrong}"
                )


def _mismatch(spec: InputSpec, x: Any) -> str | None:
    """The way in which `x` does not fit, in words."""
    rank = x.shape.ndims
    if rank is None:
        if any(limit is not None for limit in (spec.ndim, spec.min_ndim, spec.max_ndim)):
            return "its rank is undefined, but the layer requires a defined rank."
        return None
    dims = x.shape.as_list()
    if spec.ndim is not None and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {dims}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return (
            f": expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {dims}"
        )
    if spec.dtype is not None and x.dtype != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={x.dtype}"
    for axis, size in spec.axes.items():
        size = getattr(size, "value", size)
        if size is not None and dims[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but received input "
                f"with shape {dims}"
            )
    if spec.shape is not None and any(
        None not in (wanted, found) and wanted != found
        for wanted, found in zip(spec.shape, dims, strict=False)
    ):
        return f"expected shape={spec.shape}, found shape={dims}"
    return None
