"""Attention: sums of values, weighted by how well their keys fit a query."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers.settings import record
from weft.ops.array import array
from weft.ops.math import math, matmul
from weft.ops.nn import activations as nn_impl
from weft.ops.state.initializers import glorot_uniform_initializer, ones_initializer


class BaseDenseAttention(Layer):
    """Called on [query, value] or [query, value, key]; masks are those of query and value."""

    def __init__(self, causal: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _add_scale(self, shape: Any, initializer: Any) -> Any:
        return self.add_weight(name="scale", shape=shape, initializer=initializer, trainable=True)

    def _calculate_scores(self, query: Tensor, key: Tensor) -> Tensor:
        raise NotImplementedError

    def call(self, inputs: Any, mask: Any = None) -> Tensor:
        self._validate_call_args(inputs, mask)
        query, value = inputs[:2]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = mask or (None, None)
        scores = self._calculate_scores(query, key)
        attended = self._apply_scores(scores, value, self._scores_mask(scores, value_mask))
        if query_mask is not None:
            attended = attended * math.cast(array.expand_dims(query_mask, -1), attended.dtype)
        return attended

    def _scores_mask(self, scores: Tensor, value_mask: Any) -> Any:
        """The mask of the scores that count, or None for all; if `causal`, later values do not."""
        mask = None if value_mask is None else array.expand_dims(value_mask, -2)
        if not self.causal:
            return mask
        sizes = array.shape(scores)
        earlier = _lower_triangular_mask(
            array.concat([array.ones_like(sizes[:-2]), sizes[-2:]], axis=0)
        )
        return earlier if mask is None else math.logical_and(mask, earlier)

    def _apply_scores(self, scores: Tensor, value: Tensor, scores_mask: Any = None) -> Tensor:
        if scores_mask is not None:
            # As much as makes no difference, and half precision can say.
            far = 65504.0 if scores.dtype == dtypes.float16 else 1.0e9
            scores = scores - far * math.cast(math.logical_not(scores_mask), scores.dtype)
        return matmul.matmul(nn_impl.softmax(scores), value)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        self._validate_call_args(inputs, mask)
        if not mask or mask[0] is None:
            return None
        return convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        query, value = (TensorShape(shape) for shape in input_shape[:2])
        return query[:-1].concatenate(value[-1:])

    def _validate_call_args(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or "
                "[query, value, key]."
            )
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or "
                f"[query, value, key]. Given length: {len(inputs)}"
            )
        if mask and not isinstance(mask, list):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask].")
        if mask and len(mask) != 2:
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Given length: {len(mask)}"
            )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "causal")}


class Attention(BaseDenseAttention):
    """Scores are products of queries and keys."""

    def __init__(self, use_scale: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        self.scale = self._add_scale((), ones_initializer()) if self.use_scale else None
        super().build(input_shape)

    def _calculate_scores(self, query: Tensor, key: Tensor) -> Tensor:
        scores = matmul.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "use_scale")}


class AdditiveAttention(BaseDenseAttention):
    """Scores are sums of `tanh(query + key)`."""

    def __init__(self, use_scale: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        self.scale: Any = 1.0
        if self.use_scale:
            depth = TensorShape(input_shape[1]).as_list()[-1]
            self.scale = self._add_scale([depth], glorot_uniform_initializer())
        super().build(input_shape)

    def _calculate_scores(self, query: Tensor, key: Tensor) -> Tensor:
        both = array.expand_dims(query, -2) + array.expand_dims(key, -3)
        return math.reduce_sum(self.scale * math.tanh(both), axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "use_scale")}


def _lower_triangular_mask(shape: Tensor) -> Tensor:
    """True where the column is not after the row."""
    rows, columns = (math.cumsum(array.ones(shape, dtypes.int32), axis=i) for i in (-2, -1))
    return math.greater_equal(rows, columns)
