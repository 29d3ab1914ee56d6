"""Pairs of a token and its neighbours, within a window of random width."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE, NO_GRADIENT
from weft.ops.kit.shared import invalid
from weft.ops.nn.candidate_distributions import Words
from weft.ops.random.random_nodes import reserve


def _shape(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    for place in range(1, 6):
        s.with_rank(c.dims(place), 0)
    return [(None,), (None,)]


def _below(words: Words, bound: int) -> int:
    """A number less than `bound`; words that would favour small ones are drawn again."""
    unfair = 0 if bound & (bound - 1) == 0 else (2**32 - 1) % bound + 1
    while (word := int(words.take(1)[0])) < unfair:
        pass
    return word % bound


@op(
    "SkipGramGenerateCandidates",
    inputs="input_tensor: T, min_skips: int32, max_skips: int32, start: int32, limit: int32, "
    "emit_self_as_target: bool",
    outputs="tokens: T, labels: T", attrs="T: type, seed: int = 0, seed2: int = 0", shape=_shape,
    traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def skip_gram_candidates(
    xp: Any, ctx: Any, input_tensor: Any, min_skips: Any, max_skips: Any, start: Any, limit: Any,
    emit_self_as_target: Any,
) -> Any:  # fmt: skip
    least, most, first, count = map(int, (min_skips, max_skips, start, limit))
    if least < 0 or most < 0:
        raise invalid("Both min_skips and max_skips must be >= 0.")
    if least > most:
        raise invalid("min_skips must be <= max_skips.")
    tokens = np.asarray(input_tensor)
    end = len(tokens) if count < 0 else min(first + count, len(tokens))
    words = Words(reserve(ctx, max(end - first + 1, 0)))
    pairs = []
    for here in range(first, end):
        width = least + _below(words, most - least + 1)
        window = range(max(first, here - width), min(end, here + width + 1))
        pairs += [(here, there) for there in window if there != here or emit_self_as_target]
    places = np.array(pairs, np.int64).reshape(-1, 2)
    return tokens[places[:, 0]], tokens[places[:, 1]]
