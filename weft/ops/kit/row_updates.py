"""Updates of some rows of an array: what scatters and sparse optimizer steps have in common.

Rows named more than once are updated once per mention, in order, as a sequential loop would.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft.core import errors
from weft.graph.by_library import by_library
from weft.ops.kit.value_checks import must_be_within

Array = Any

# Arrays up to this size are updated as a whole: searching for rows that repeat takes longer.
FEW_ELEMENTS = 1 << 14


Message = Callable[[int, tuple[int, ...], int], str]


@by_library
def check_range(xp: Any, indices: Array, limit: int, message: Message) -> bool:
    """Raises `message(index, its position, limit)` for the first index outside [0, limit).

    Gives whether that is sure to happen, sooner or later: not in a program for an accelerator.
    """
    return must_be_within(named_by(indices), limit)


@check_range.numpy
def _(xp: Any, indices: Array, limit: int, message: Message) -> bool:
    indices = np.asarray(indices)
    bad = (indices < 0) | (indices >= limit)
    if bad.any():
        position = tuple(int(i) for i in np.argwhere(bad)[0])
        text = message(int(indices[position]), position, limit)
        raise errors.InvalidArgumentError(None, None, text)
    return True


def put_row(buffer: Array, index: Any, row: Array) -> Array:
    """In a program, `buffer` with one row replaced. The index is known to be in range."""
    from jax import lax

    return lax.dynamic_update_index_in_dim(buffer, row, index, 0)


def take_row(buffer: Array, index: Any) -> Array:
    """In a program, one row of `buffer`. The index is known to be in range."""
    from jax import lax

    return lax.dynamic_index_in_dim(buffer, index, 0, keepdims=False)


@by_library
def update_rows(
    xp: Any,
    arrays: Sequence[Array],
    indices: Array,
    inputs: Sequence[Array],
    step: Callable[..., Sequence[Array]],
    void: Any = False,
) -> list[Array]:
    """`arrays` with the rows at `indices` (a vector) replaced by `step(rows of arrays, *inputs)`.

    `inputs` have one row per index. Where an index repeats, the update is run in rounds: round k
    handles the k-th mention of every row, so there is one round when none repeats. In a program,
    nothing is updated if `void` is true.
    """
    from jax import lax

    count = arrays[0].shape[0]
    if indices.shape[0] == 0 or count == 0:
        return list(arrays)
    # JAX counts negative indices from the end; here they are out of range, hence dropped, and how
    # often one of them is named does not matter.
    if is_named_once(indices):
        mentions = _named_once[id(indices)][1]
        if mentions is not None and arrays[0].size <= FEW_ELEMENTS:
            if len(inputs) == 1 and inputs[0] is mentions.sums:
                return _update_all(xp, arrays, mentions, step, void)
        return _update_once(
            xp, arrays, xp.where((indices < 0) | void, count, indices), inputs, step
        )
    mention = _mention_if_repeated(xp, indices)
    indices = xp.where((indices < 0) | void, count, indices)

    def one_round(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        k, *current = carry
        rows = xp.where(mention == k, indices, count)
        return (k + 1, *_update_once(xp, current, rows, inputs, step))

    last = mention.max()
    carry = lax.while_loop(lambda c: c[0] <= last, one_round, (xp.zeros_like(last), *arrays))
    return list(carry[1:])


@update_rows.numpy
def _(
    xp: Any,
    arrays: Sequence[Array],
    indices: Array,
    inputs: Sequence[Array],
    step: Callable[..., Sequence[Array]],
    void: Any = False,
) -> list[Array]:
    return _update_rows_numpy(arrays, indices, inputs, step)


def _update_rows_numpy(
    arrays: Sequence[Array],
    indices: np.ndarray,
    inputs: Sequence[Array],
    step: Callable[..., Sequence[Array]],
) -> list[Array]:
    updated = [np.array(a) for a in arrays]
    if indices.size == 0:
        return updated
    mention = _mention(np, indices)
    for k in range(int(mention.max()) + 1):
        chosen = mention == k
        rows = indices[chosen]
        new = step([a[rows] for a in updated], *(i[chosen] for i in inputs))
        for array, value in zip(updated, new, strict=True):
            array[rows] = value
    return updated


def _update_once(
    xp: Any,
    arrays: Sequence[Array],
    rows: Array,
    inputs: Sequence[Array],
    step: Callable[..., Sequence[Array]],
) -> list[Array]:
    """One round: no row is named twice, but for those that are out of range."""
    new = step([a.at[rows].get(mode="clip") for a in arrays], *inputs)
    pairs = zip(arrays, new, strict=True)
    return [a.at[rows].set(n.astype(a.dtype), mode="drop") for a, n in pairs]


def _update_all(
    xp: Any,
    arrays: Sequence[Array],
    mentions: Mentions,
    step: Callable[..., Sequence[Array]],
    void: Any,
) -> list[Array]:
    """The update of a small array: every row is computed, and those that were named are taken.

    What rows are given is summed right into the shape of the array, with a column that counts.
    """
    values, rows = mentions.values, mentions.indices
    flat = values.reshape(values.shape[0], -1)
    counted = xp.concatenate([flat, xp.ones_like(flat[:, :1])], 1)
    count, shape = arrays[0].shape[0], arrays[0].shape
    rows = xp.where((rows < 0) | void, count, rows)
    sums = xp.zeros((count, flat.shape[1] + 1), flat.dtype).at[rows].add(counted, mode="drop")
    named = (sums[:, -1] > 0).reshape(-1, *[1] * (len(shape) - 1))
    new = step(arrays, sums[:, :-1].reshape(shape))
    pairs = zip(arrays, new, strict=True)
    return [xp.where(named, n.astype(a.dtype), a) for a, n in pairs]


class Mentions(NamedTuple):
    """Values given for rows, some of them named again and again, and the sums per row."""

    values: Array
    indices: Array
    sums: Array


# Vectors in programs being traced that name no row twice, by identity, and what they come from.
_named_once: dict[int, tuple[weakref.ref[Any], Mentions | None]] = {}


def mark_named_once(indices: Array, mentions: Mentions | None = None) -> Array:
    """`indices`, known from now on to name no row twice except negative ones."""
    key = id(indices)
    _named_once[key] = weakref.ref(indices, lambda _: _named_once.pop(key, None)), mentions
    return indices


def is_named_once(indices: Array) -> bool:
    known = _named_once.get(id(indices))
    return known is not None and known[0]() is indices


def named_by(indices: Array) -> Array:
    """The rows named before those named more than once were summed up, if they were."""
    mentions = _named_once[id(indices)][1] if is_named_once(indices) else None
    return indices if mentions is None else mentions.indices


def _mention_if_repeated(xp: Any, indices: Array) -> Array:
    """`_mention`, spared where no index that counts repeats: they ascend, or sorted they do."""
    from jax import lax

    def none() -> Array:
        return xp.zeros(indices.shape, np.int64)

    def counted() -> Array:
        return xp.where(indices < 0, 0, _mention(xp, indices))

    def sorted_first() -> Array:
        later, earlier = _neighbours(lax.sort(indices))
        return lax.cond(xp.all((later > earlier) | (later < 0)), none, counted)

    # Those that do not count come last, if at all.
    later, earlier = _neighbours(indices)
    ascends = ((later > earlier) & (earlier >= 0)) | (later < 0)
    return lax.cond(xp.all(ascends), none, sorted_first)


def _neighbours(indices: Array) -> tuple[Array, Array]:
    return indices[1:], indices[:-1]


@by_library
def sorted_indices(xp: Any, indices: Array) -> tuple[Array, Array]:
    """The order that sorts `indices`, equal ones as they were, and the sorted indices."""
    from jax import lax

    # XLA sorts single numbers several times faster than pairs: index and position go into one.
    count = indices.shape[0]
    bits = max(count - 1, 1).bit_length()
    packed = (indices.astype(np.int64) << bits) | xp.arange(count, dtype=np.int64)
    packed = lax.sort(packed, is_stable=False)
    return packed & ((1 << bits) - 1), (packed >> bits).astype(indices.dtype)


@sorted_indices.numpy
def _(xp: Any, indices: Array) -> tuple[Array, Array]:
    order = np.argsort(indices, stable=True)
    return order, indices[order]


@by_library
def add_at(xp: Any, total: Array, index: Any, parts: Array) -> Array:
    """`total` with `parts` added at `index`; NumPy adds to the array itself."""
    return total.at[index].add(parts)


@add_at.numpy
def _(xp: Any, total: Array, index: Any, parts: Array) -> Array:
    np.add.at(total, index, parts)
    return total


def _mention(xp: Any, indices: Array) -> Array:
    """How many earlier entries of `indices` equal each one."""
    order, ordered = sorted_indices(xp, indices)
    rank = xp.arange(indices.shape[0]) - xp.searchsorted(ordered, ordered, side="left")
    return add_at(xp, xp.zeros_like(rank), order, rank)
