"""Attention that starts at the first entry of a memory and never moves back."""

from __future__ import annotations

import functools
from functools import partial
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.rnn.attention import BaseAttentionMechanism, bahdanau_score, luong_score, projection
from weft.lib.rnn.cells import size_of
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import shape as array_shape
from weft.ops.functions.functional import scan
from weft.ops.math import casts, clip, cumulative, unary
from weft.ops.math.math import sigmoid
from weft.ops.random import random
from weft.ops.state import variable_scope as vs


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """The cumulative product of values in [0, 1], as a sum of logarithms."""
    with name_scope(None, "SafeCumprod", [x]):
        found = convert_to_tensor(x, name="x")
        least = np.finfo(found.dtype.as_numpy_dtype).smallest_normal
        total = partial(cumulative.cumsum, *args, **kwargs)
        for step in (lambda x: clip.clip_by_value(x, least, 1), unary.log, total, unary.exp):
            found = step(found)
        return found


def _attend_recursively(p: Tensor, previous: Tensor) -> Tensor:
    batch = size_of(p, 0)
    passed = array_join.concat([array_fill.ones((batch, 1)), 1 - p[:, :-1]], 1)

    def advance(reached: Tensor, entry: list[Tensor]) -> Tensor:
        passing, starting = entry
        return array_shape.reshape(passing * reached + starting, (batch,))

    entries = [array_shape.transpose(x) for x in (passed, previous)]
    reached = scan(advance, entries, array_fill.zeros((batch,)))
    return p * array_shape.transpose(reached)


def _attend_in_parallel(p: Tensor, previous: Tensor) -> Tensor:
    passed = safe_cumprod(1 - p, axis=1, exclusive=True)
    moved = p * passed
    return moved * cumulative.cumsum(previous / clip.clip_by_value(passed, 1e-10, 1.0), 1)


def _attend_hard(p: Tensor, previous: Tensor) -> Tensor:
    p = p * cumulative.cumsum(previous, axis=1)
    return p * cumulative.cumprod(1 - p, axis=1, exclusive=True)


_MODES = {
    "recursive": _attend_recursively,
    "parallel": _attend_in_parallel,
    "hard": _attend_hard,
}


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Tensor:
    """Attention that never moves back, from the probability of stopping at each entry."""
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode not in _MODES:
        raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")
    return _MODES[mode](p, previous)


def _monotonic_probability_fn(
    score: Tensor, previous: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Tensor:
    if sigmoid_noise > 0:
        noise = random.random_normal(array_shape.shape(score), 0.0, 1.0, score.dtype, seed)
        score += sigmoid_noise * noise
    choose = _step if mode == "hard" else sigmoid
    return monotonic_attention(choose(score), previous, mode)


def _step(score: Tensor) -> Tensor:
    """1 for scores above 0, else 0."""
    return casts.cast(score > 0, score.dtype)


class _BaseMonotonicAttentionMechanism(BaseAttentionMechanism):
    """A mechanism that starts at the first entry of the memory."""

    def __init__(
        self,
        num_units: int,
        sigmoid_noise: float,
        sigmoid_noise_seed: int | None,
        score_bias_init: float,
        mode: str,
        dtype: Any,
        name: str,
        **rest: Any,
    ) -> None:
        super().__init__(
            memory_layer=projection(num_units, "memory_layer", dtype),
            probability_fn=functools.partial(
                _monotonic_probability_fn,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            name=name,
            **rest,
        )
        self._num_units, self._score_bias_init, self._name = num_units, score_bias_init, name

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Tensor:
        first = array_fill.zeros((batch_size,), dtype=dtypes.int32)
        return select.one_hot(first, self._alignments_size, dtype=dtype)

    def _biased(self, score: Tensor, dtype: Any) -> Tensor:
        return score + vs.get_variable(
            "attention_score_bias", dtype=dtype, initializer=self._score_bias_init
        )


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Additive attention that never moves back."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            num_units, sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode, dtype, name,
            query_layer=projection(num_units, "query_layer", dtype), memory=memory,
            memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value,
        )  # fmt: skip
        self._normalize = normalize

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = bahdanau_score(
                self.query_layer(query), self._keys, self._num_units, query.dtype, self._normalize
            )
            score = self._biased(score, query.dtype)
        return self._aligned(score, state)


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Multiplicative attention that never moves back."""

    @with_parameters_of(
        BahdanauMonotonicAttention.__init__,
        without=("normalize",),
        extra={"scale": ("memory_sequence_length", False)},
        name="LuongMonotonicAttention",
    )
    def __init__(self, scale: bool, **rest: Any) -> None:
        super().__init__(query_layer=None, **rest)
        self._scale = scale

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "luong_monotonic_attention", [query]):
            score = self._biased(luong_score(query, self._keys, self._scale), query.dtype)
        return self._aligned(score, state)
