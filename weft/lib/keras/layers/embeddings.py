"""Vectors for integers."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras import backend, regularizers
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.math import math
from weft.ops.nn import embedding


class Embedding(Layer):
    """The row of a table of `input_dim` vectors for every integer of the inputs."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        dtype = kwargs.pop("dtype", None) or backend.floatx()
        # Integers stay what they are, whatever type the layer computes in.
        kwargs["autocast"] = False
        super().__init__(dtype=dtype, **kwargs)
        self.input_dim, self.output_dim, self.input_length = input_dim, output_dim, input_length
        take_named(self, locals())
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.mask_zero = self.supports_masking = mask_zero

    def build(self, input_shape: Any) -> None:
        self.embeddings = weight(self, "embeddings", (self.input_dim, self.output_dim))
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        if inputs.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            inputs = math.cast(inputs, dtypes.int32)
        return embedding.embedding_lookup(self.embeddings, inputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return math.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, *lengths = TensorShape(input_shape).as_list()
        if self.input_length is not None:
            lengths = self._checked_lengths(lengths, input_shape)
        return TensorShape([batch, *lengths, self.output_dim])

    def _checked_lengths(self, found: list[Any], input_shape: Any) -> list[Any]:
        several = isinstance(self.input_length, (list, tuple))
        wanted = list(self.input_length) if several else [self.input_length]
        pairs = list(zip(wanted, found, strict=False))
        if len(wanted) != len(found) or any(None not in p and p[0] != p[1] for p in pairs):
            raise ValueError(
                f'"input_length" is {self.input_length}, but received input has shape '
                f"{tuple(TensorShape(input_shape).as_list())}"
            )
        return [b if a is None else a for a, b in pairs]

    def get_config(self) -> dict[str, Any]:
        keys = (
            "input_dim output_dim embeddings_initializer embeddings_regularizer "
            "activity_regularizer embeddings_constraint mask_zero input_length"
        )
        return {**super().get_config(), **record(self, keys)}
