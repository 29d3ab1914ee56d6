"""Input layers, by which tensors enter a model."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.graph_state import get_uid
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.history import KerasHistory
from weft.lib.keras.engine.node import Node


class InputLayer(Layer):
    """A placeholder, or a tensor that takes its place, as a layer."""

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: Any,
    ) -> None:
        if "batch_input_shape" in kwargs:
            batch_input_shape = kwargs.pop("batch_input_shape")
            if input_shape and batch_input_shape:
                raise ValueError(
                    "Only provide the input_shape OR batch_input_shape argument to InputLayer, not "
                    "both at the same time."
                )
            batch_size, *input_shape = batch_input_shape
        if kwargs:
            raise ValueError("Unrecognized keyword arguments:", kwargs.keys())
        dtype = _input_dtype(dtype, input_tensor)
        super().__init__(dtype=dtype, name=name or f"input_{get_uid('input')}")
        self.built = self.supports_masking = True
        self.sparse, self.ragged, self.batch_size = sparse, ragged, batch_size
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            self._batch_input_shape: Any = _with_batch(batch_size, input_shape)
            input_tensor = self._placeholder(dtype)
        else:
            self._batch_input_shape = tuple(input_tensor.shape.as_list())
        input_tensor._keras_history = KerasHistory(self, 0, 0)
        input_tensor._keras_mask = None
        Node(self, [], [], [], [input_tensor], [input_tensor])

    def _placeholder(self, dtype: Any) -> Tensor:
        from weft.lib.keras.backend import placeholder

        return placeholder(
            shape=self._batch_input_shape,
            dtype=dtype,
            name=self.name,
            sparse=self.sparse,
            ragged=self.ragged,
        )

    def get_config(self) -> dict[str, Any]:
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }


def _input_dtype(dtype: Any, tensor: Any) -> Any:
    if not dtype:
        return floatx() if tensor is None else tensor.dtype.base_dtype.name
    if tensor is not None and tensor.dtype != dtype:
        raise ValueError(f"`input_tensor.dtype` differs from `dtype`: {tensor.dtype} vs. {dtype}")
    return dtypes.as_dtype(dtype).name


def _with_batch(batch_size: Any, shape: Any) -> tuple[Any, ...] | None:
    if shape is None:
        return None
    dims = (shape,) if isinstance(shape, int) else TensorShape(shape).as_list()
    return (batch_size, *dims)


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """A tensor to start a model from: a placeholder of `shape`, which leaves out the batch.

    With `tensor`, that tensor takes the placeholder's place.
    """
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
    whole = kwargs.pop("batch_input_shape", kwargs.pop("batch_shape", None))
    if shape and whole:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the "
            "same time."
        )
    if kwargs:
        raise ValueError("Unrecognized keyword arguments:", kwargs.keys())
    if not whole and shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` "
            "does not include the batch dimension."
        )
    parts = {"batch_size": batch_size, "input_shape": shape}
    layer = InputLayer(
        name=name,
        dtype=dtype,
        sparse=sparse,
        ragged=ragged,
        input_tensor=tensor,
        **({"batch_input_shape": whole} if whole else parts),
    )
    # The placeholder itself, not what a one-element list of outputs would be.
    return layer._inbound_nodes[0].output_tensors[0]
