"""Philox 4x32-10: the counter-based generator behind every random op.

A generator is six 32-bit words, `[key0, key1, c0, c1, c2, c3]`: a 64-bit key and a 128-bit counter.
Each value of the counter yields one *block* of four random words, so any part of a stream can be
drawn without the parts before it, on any device, in any order. The functions below take an array
namespace `xp` and draw word for word what TensorFlow's CPU kernels draw from the same generator.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import step_limits
from weft.graph.by_library import by_library
from weft.ops.kit.apart import apart
from weft.ops.kit.packed import alternating, pack_words, unpack_words
from weft.ops.kit.target import target_platform

Array = Any
Words = tuple[Array, Array, Array, Array]
Convert = Callable[..., tuple[Array, ...]]  # of `xp` and words

# Blocks set aside per output element; one run of an op moves its stream on by this much even when
# it draws less, so streams do not depend on how often a value was rejected.
RESERVED = 256

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_SCRAMBLE = 0x3EC8F720, 0x02461E29  # the key by which seeds become generators
_LOW = 0xFFFFFFFF
_ROUNDS = 10
_MANY = 1 << 12  # values from which on a compiled draw computes each block once
_from_system = os.urandom  # tests put a source in its place that says the same in every run
_CHUNK = 1 << 13  # blocks per pass in NumPy: the working set stays in the second-level cache


# ---- generators ----------------------------------------------------------------------------------


def initial_state(seed: int, seed2: int) -> np.ndarray:
    """The generator an op with these seed attrs starts from; both zero: seeded by the system."""
    if seed == 0 and seed2 == 0:
        seed, seed2 = (int.from_bytes(_from_system(8), "little") for _ in range(2))
    key, high = seed % 2**64, seed2 % 2**64
    return np.array([key & _LOW, key >> 32, 0, 0, high & _LOW, high >> 32], np.uint32)


def advance(state: np.ndarray, blocks: int) -> np.ndarray:
    """The generator `blocks` blocks further on."""
    if (moved_on := int(state[2]) + blocks) <= _LOW:  # nothing is carried
        state = np.array(state, np.uint32)
        state[2] = moved_on
        return state
    state = np.asarray(state, "<u4")
    counter = int.from_bytes(state[2:].tobytes(), "little") + blocks
    moved = state[:2].tobytes() + (counter % 2**128).to_bytes(16, "little")
    return np.frombuffer(moved, "<u4").astype(np.uint32, copy=False)


def advanced(xp: Any, rng: Array, blocks: int) -> Array:
    """As `advance`, inside a program."""
    low, high = _counter(rng)
    moved = low + np.uint64(blocks)
    carried = high + (moved < low).astype(np.uint64)
    words = moved & _LOW, moved >> 32, carried & _LOW, carried >> 32
    return xp.concatenate([rng[:2], *(word.astype(np.uint32) for word in words)])


@by_library
def stateless_state(xp: Any, seed: Array) -> Array:
    """The generator a stateless op derives from its `seed` input of two integers."""
    seed = seed.astype(np.int64).astype(np.uint64)
    halves = [seed[0] & _LOW, seed[0] >> 32, seed[1] & _LOW, seed[1] >> 32]
    fixed = xp.asarray(_SCRAMBLE, dtype=np.uint32)
    scramble = xp.concatenate([fixed, xp.stack(halves).astype(np.uint32)])
    mixed = [word[0] for word in blocks(xp, scramble, 1)]
    zero = xp.zeros((), np.uint32)
    return xp.stack([mixed[0], mixed[1], zero, zero, mixed[2], mixed[3]])


@stateless_state.numpy
def _(xp: Any, seed: Array) -> Array:
    low, high = (n % 2**64 for n in seed.tolist())
    k0, k1, c2, c3 = _rounds_plain(*_SCRAMBLE, low, high)
    return np.array([k0, k1, 0, 0, c2, c3], np.uint32)


def first_of_seeds(seeds: np.ndarray) -> np.ndarray:
    """For each row of two integers, the first float64 that is drawn from its generator."""
    low, high = (np.ascontiguousarray(column).view(np.uint64) for column in seeds.T)
    mixed, words = (np.empty((4, len(seeds)), np.uint32) for _ in range(2))
    _rounds_numpy(np.array(_SCRAMBLE, np.uint64), low, high, mixed)
    counter = mixed[2] | mixed[3].astype(np.uint64) << _HALF
    _rounds_numpy(mixed[:2], np.zeros_like(low), counter, words)
    return np.asarray(unit_double(words[0], words[1]))


def _counter(rng: Array) -> tuple[Array, Array]:
    """The counter as two 64-bit halves, of shape [1] (NumPy scalars would warn on wrapping)."""
    wide = rng.astype(np.uint64)
    return wide[2:3] | (wide[3:4] << 32), wide[4:5] | (wide[5:6] << 32)


# ---- blocks --------------------------------------------------------------------------------------


@by_library
def blocks(xp: Any, rng: Array, count: int) -> Words:
    """The first `count` blocks of the stream, as four arrays: word 0 of each block, word 1, ..."""
    return blocks_at(xp, rng, xp.arange(count, dtype=np.uint64))


@blocks.numpy
def _(xp: Any, rng: Array, count: int) -> Words:
    return _first_blocks(rng, count) if count <= _FEW else blocks.general(xp, rng, count)


def blocks_at(xp: Any, rng: Array, index: Array, unroll: bool = False) -> Words:
    """The blocks at the given positions (uint64, any shape) of the stream.

    `unroll` is for results that flow into a single consumer. XLA then fuses the rounds into it;
    with several consumers it would compute, and compile, the rounds once for each of them.
    """
    low, high = _counter(rng)
    position = low + index
    carried = xp.broadcast_to(high + (position < low).astype(np.uint64), position.shape)
    return _mix(xp, rng, position, carried, unroll)


@by_library
def _mix(xp: Any, rng: Array, position: Array, carried: Array, unroll: bool) -> Words:
    """The rounds, on the counter that `position` and `carried` are the halves of."""
    halves = position & _LOW, position >> 32, carried & _LOW, carried >> 32
    state = *(word.astype(np.uint32) for word in halves), rng[0], rng[1]
    if unroll:
        state = _all_rounds()(*state)
    else:
        from jax import lax

        state = lax.fori_loop(0, _ROUNDS, lambda _, state: _round(state), state)
    return state[:4]


@functools.cache
def _all_rounds() -> Callable[..., tuple[Array, ...]]:
    """The rounds one after the other, traced once for all draws of a shape."""
    import jax

    def run(*state: Array) -> tuple[Array, ...]:
        for _ in range(_ROUNDS):
            state = _round(state)
        return state

    return jax.jit(run)


def _round(state: tuple[Array, ...]) -> tuple[Array, ...]:
    c0, c1, c2, c3, k0, k1 = state
    p0 = c0.astype(np.uint64) * _MULTIPLIERS[0]
    p1 = c2.astype(np.uint64) * _MULTIPLIERS[1]
    c0 = (p1 >> 32).astype(np.uint32) ^ c1 ^ k0
    c2 = (p0 >> 32).astype(np.uint32) ^ c3 ^ k1
    k0, k1 = k0 + np.uint32(_KEY_STEPS[0]), k1 + np.uint32(_KEY_STEPS[1])
    return c0, p1.astype(np.uint32), c2, p0.astype(np.uint32), k0, k1


@_mix.numpy
def _(xp: Any, rng: Array, position: Array, carried: Array, unroll: bool) -> Words:
    low, high = position.reshape(-1), carried.reshape(-1)
    if low.size <= _FEW:
        few = _blocks_plain(rng, low.tolist(), high.tolist())
        return tuple(few.reshape(4, *position.shape))
    words = np.empty((4, position.size), np.uint32)
    for start in range(0, low.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        _rounds_numpy(rng[:2], low[part], high[part], words[:, part])
    return tuple(words.reshape(4, *position.shape))


# So few blocks are sooner computed with Python's integers than with arrays.
_FEW = 8


def _first_blocks(rng: np.ndarray, count: int) -> Words:
    c0, c1, c2, c3 = rng[2:].tolist()
    low, high = c0 | c1 << 32, c2 | c3 << 32
    positions = range(low, low + count)
    carried = [(high + (at >> 64)) % 2**64 for at in positions]
    return tuple(_blocks_plain(rng, [at % 2**64 for at in positions], carried))


def _blocks_plain(rng: np.ndarray, lows: list[int], highs: list[int]) -> np.ndarray:
    """The words of a few blocks, four rows of them."""
    k0, k1 = rng[:2].tolist()
    rows = [_rounds_plain(k0, k1, low, high) for low, high in zip(lows, highs, strict=True)]
    return np.array(rows, np.uint32).reshape(len(rows), 4).T


def _rounds_plain(k0: int, k1: int, low: int, high: int) -> tuple[int, int, int, int]:
    """The ten rounds of one block."""
    c0, c1, c2, c3 = low & _LOW, low >> 32, high & _LOW, high >> 32
    (m0, m1), (s0, s1), mask = _MULTIPLIERS, _KEY_STEPS, _LOW
    for _ in range(_ROUNDS):
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & mask, (p0 >> 32) ^ c3 ^ k1, p0 & mask
        k0, k1 = (k0 + s0) & mask, (k1 + s1) & mask
    return c0, c1, c2, c3


def one_block(rng: np.ndarray) -> tuple[int, int, int, int]:
    """The words of the first block."""
    k0, k1, c0, c1, c2, c3 = rng.tolist()
    return _rounds_plain(k0, k1, c0 | c1 << 32, c2 | c3 << 32)


# As arrays: NumPy takes half as long to call with them as with Python integers.
_M0, _M1, _MASK, _HALF = (np.array(n, np.uint64) for n in (*_MULTIPLIERS, _LOW, 32))


def _rounds_numpy(key: np.ndarray, low: np.ndarray, high: np.ndarray, words: np.ndarray) -> None:
    """The ten rounds on 64-bit lanes, so that a product's halves are a shift and a mask away.

    `key` is two numbers, or two for each lane.
    """
    multiply, shift, mask, xor = np.multiply, np.right_shift, np.bitwise_and, np.bitwise_xor
    c0, c1, c2, c3 = low & _MASK, low >> _HALF, high & _MASK, high >> _HALF
    p0, p1 = np.empty_like(low), np.empty_like(low)
    counts = np.arange(_ROUNDS, dtype=np.uint64).reshape(-1, *[1] * (key.ndim - 1))
    wide = key.astype(np.uint64)
    keys = [(k + counts * np.uint64(s)) & _MASK for k, s in zip(wide, _KEY_STEPS, strict=True)]
    for k0, k1 in zip(*keys, strict=True):
        multiply(c0, _M0, p0)
        multiply(c2, _M1, p1)
        shift(p1, _HALF, c0)
        xor(c0, c1, c0)
        xor(c0, k0, c0)
        shift(p0, _HALF, c2)
        xor(c2, c3, c2)
        xor(c2, k1, c2)
        mask(p1, _MASK, c1)
        mask(p0, _MASK, c3)
    for word, lane in zip(words, (c0, c1, c2, c3), strict=True):
        word[:] = lane


@by_library
def draw(
    xp: Any,
    rng: Array,
    shape: tuple[int, ...],
    convert: Convert,
    words: int,
    values: int = 1,
) -> Array:
    """Fills `shape` in the order of the stream; `convert` makes `values` values of `words` words.

    NumPy converts whole blocks and interleaves them. Traced, every output finds its own block and
    selects its own value: some work is done four times over, but all of it in one fused loop. Many
    values on the CPU are worth a loop for the blocks, and another for what is converted in pairs.
    """
    if math.prod(shape) >= _MANY and target_platform() == "cpu":
        return _draw_blocks(xp, rng, shape, convert, words, values)
    index = xp.arange(math.prod(shape), dtype=np.uint64)
    unit, which = index // values, index % values
    block = blocks_at(xp, rng, unit * words // 4, unroll=True)
    used = [_pick(xp, unit % (4 // words), block[k::words]) for k in range(words)]
    return _pick(xp, which, convert(xp, *used)).reshape(shape)


def _draw_blocks(
    xp: Any,
    rng: Array,
    shape: tuple[int, ...],
    convert: Convert,
    words: int,
    values: int,
) -> Array:
    size = math.prod(shape)
    block = _packed_blocks(rng, count=_ceil_div(size * words, values * 4))
    used = unpack_words(xp, block, words)
    if values == 1:
        (drawn,) = convert(xp, *used)
    else:
        pairs = _converted_pairs(*used, convert=convert)
        drawn = alternating(xp, pairs.real, pairs.imag)
    return drawn[:size].reshape(shape)


@apart
def _packed_blocks(rng: Array, *, count: int) -> Array:
    """The first blocks of the stream, each as one number."""
    import jax.numpy as xp

    return pack_words(*blocks_at(xp, rng, xp.arange(count, dtype=np.uint64), unroll=True))


@apart
def _converted_pairs(*words: Array, convert: Convert) -> Array:
    """The two values that `convert` makes, as one number."""
    import jax.numpy as xp
    from jax import lax

    return lax.complex(*convert(xp, *words))


@draw.numpy
def _(
    xp: Any,
    rng: Array,
    shape: tuple[int, ...],
    convert: Convert,
    words: int,
    values: int = 1,
) -> Array:
    size = math.prod(shape)
    count = _ceil_div(size * words, values * 4)
    if count <= step_limits.PART:
        return _drawn(blocks(xp, rng, count), convert, words)[:size].reshape(shape)
    found: Array = None
    for part in step_limits.parts(count):
        block = blocks_at(np, rng, np.arange(part.start, part.stop, dtype=np.uint64))
        drawn = _drawn(block, convert, words).reshape(len(block[0]), -1)
        found = np.empty((count, drawn.shape[1]), drawn.dtype) if found is None else found
        found[part] = drawn
    return found.reshape(-1)[:size].reshape(shape)


def _drawn(block: Words, convert: Convert, words: int) -> Array:
    """What `convert` makes of blocks, one after the other."""
    if len(block[0]) <= _FEW:  # converted at once
        lanes = list(convert(np, *np.array(block).T.reshape(-1, words).T))
    else:
        lanes = [v for k in range(0, 4, words) for v in convert(np, *block[k : k + words])]
    drawn = np.empty((*lanes[0].shape, len(lanes)), lanes[0].dtype)
    for k, lane in enumerate(lanes):
        drawn[..., k] = lane
    return drawn.reshape(-1)


# ---- distributions -------------------------------------------------------------------------------


def unit_float(word: Array) -> Array:
    """A float32 in [0, 1) from the low 23 bits of a word."""
    return (word & 0x7FFFFF).astype(np.float32) * np.float32(2**-23)


def unit_double(high: Array, low: Array) -> Array:
    """A float64 in [0, 1) from the low 20 bits of one word and all of another."""
    bits = ((high & 0xFFFFF).astype(np.uint64) << 32) | low.astype(np.uint64)
    return bits.astype(np.float64) * 2.0**-52


def _unit(dtype: Any) -> tuple[Convert, int]:
    """The function that makes a value in [0, 1) of this type, and how many words it takes."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return lambda xp, x0, x1: (unit_double(x0, x1),), 2
    if dtype == np.float32:
        return lambda xp, x: (unit_float(x),), 1
    bits = 10 if dtype == np.float16 else 7  # of the mantissa: every multiple of 2**-bits is exact
    scale = np.float32(2.0**-bits)
    return lambda xp, x: (((x & (2**bits - 1)).astype(np.float32) * scale).astype(dtype),), 1


@by_library
def uniform(xp: Any, rng: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Uniform floats in [0, 1)."""
    return draw(xp, rng, shape, *_unit(dtype))


@uniform.numpy
def _(xp: Any, rng: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    small = _PER_BLOCK.get(dtype)
    if small is None or math.prod(shape) > small[0]:
        return uniform.general(xp, rng, shape, dtype)
    found = small[1](*one_block(rng))[: math.prod(shape)]
    return np.array(found, dtype).reshape(shape)


def _four(*words: int) -> list[float]:
    return [(word & 0x7FFFFF) * 2.0**-23 for word in words]


def _two(a: int, b: int, c: int, d: int) -> list[float]:
    return [((a & 0xFFFFF) << 32 | b) * 2.0**-52, ((c & 0xFFFFF) << 32 | d) * 2.0**-52]


# Of one block, with Python's numbers: how many values it gives, and which.
_PER_BLOCK: dict[Any, tuple[int, Callable[..., list[float]]]] = {
    kind: found
    for scalar, found in ((np.float32, (4, _four)), (np.float64, (2, _two)))
    for kind in (scalar, np.dtype(scalar))
}


def uniform_lanes(words: Words, dtype: Any) -> tuple[Array, ...]:
    """The uniform values each block gives: two float64, or four of a smaller type."""
    convert, used = _unit(dtype)
    return tuple(convert(None, *words[k : k + used])[0] for k in range(0, 4, used))


def uniform_int(
    xp: Any, rng: Array, shape: tuple[int, ...], low: Array, high: Array, dtype: Any
) -> Array:
    """Integers in [low, high), biased as a plain remainder of 32 or 64 bits is."""
    if np.dtype(dtype).itemsize == 8:
        unsigned: Any = np.uint64
        word = draw(xp, rng, shape, lambda xp, x0, x1: (join(x0, x1),), words=2)
    else:
        unsigned = np.uint32
        word = draw(xp, rng, shape, lambda xp, x: (x,), words=1)
    # Shape [1] rather than scalars: the sum may wrap, at which NumPy scalars would warn.
    low, high = (xp.reshape(xp.asarray(bound), (1,)).astype(unsigned) for bound in (low, high))
    return (low + word.reshape(-1) % (high - low)).astype(dtype).reshape(shape)


def normal(xp: Any, rng: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Standard normal floats (16-bit types: float32 draws, rounded)."""
    if np.dtype(dtype) == np.float64:
        return draw(xp, rng, shape, _box_muller_double, 4, 2)
    return draw(xp, rng, shape, _box_muller, 2, 2).astype(dtype)


@by_library
def _fill_groups(xp: Any, step: Any, first: Array, state: Any, lanes: int) -> Array:
    """Draws until all groups are full."""
    return loop(xp, _below(lanes), lambda s: step(first, s), state)[2]


@_fill_groups.numpy
def _(xp: Any, step: Any, first: Array, state: Any, lanes: int) -> Array:
    # Most groups are full after one block: go on with the others only.
    _, filled, values = state
    left = np.flatnonzero(filled < lanes)
    state = 1, filled[left], values[left]
    values[left] = loop(xp, _below(lanes), lambda s: step(first[left], s), state)[2]
    return values


def truncated_normal(xp: Any, rng: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Standard normal floats, redrawn until they are less than two from zero.

    Outputs come in groups as large as what one block gives; every group has blocks of its own to
    draw from, and takes the first acceptable values in them.
    """
    lanes = 2 if np.dtype(dtype) == np.float64 else 4
    compute = np.float64 if lanes == 2 else np.float32
    groups = _ceil_div(math.prod(shape), lanes)
    first = xp.arange(groups, dtype=np.uint64) * (RESERVED * lanes // 4)
    values = _groups(xp, rng, first, lanes, compute)
    return values.reshape(-1)[: math.prod(shape)].reshape(shape).astype(dtype)


@by_library
def _groups(xp: Any, rng: Array, first: Array, lanes: int, compute: Any) -> Array:
    """A row of acceptable values for each group, by the first of its blocks."""
    step = _truncated_step(xp, rng, lanes)
    empty = xp.zeros(first.shape, np.int32), xp.zeros((*first.shape, lanes), compute)
    return _fill_groups(xp, step, first, step(first, (0, *empty)), lanes)


@_groups.numpy
def _(xp: Any, rng: Array, first: Array, lanes: int, compute: Any) -> Array:
    if len(first) <= step_limits.PART:
        return _groups.general(xp, rng, first, lanes, compute)
    values = np.empty((len(first), lanes), compute)
    for part in step_limits.parts(len(first)):
        values[part] = _groups.general(xp, rng, first[part], lanes, compute)
    return values


def _truncated_step(xp: Any, rng: Array, lanes: int) -> Callable[[Array, Any], Any]:
    slots = np.arange(lanes, dtype=np.int32)

    def step(first: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        block, filled, values = state
        for value in _normal_lanes(xp, blocks_at(xp, rng, first + xp.uint64(block)), lanes):
            accepted = abs(value) < 2
            slot = xp.where(accepted, filled, lanes)
            values = xp.where(slot[:, None] == slots, value[:, None], values)
            filled = filled + accepted.astype(np.int32)
        return block + 1, filled, values

    return step


def _normal_lanes(xp: Any, words: Words, lanes: int) -> tuple[Array, ...]:
    if lanes == 2:
        return _box_muller_double(xp, *words)
    return _box_muller(xp, *words[:2]) + _box_muller(xp, *words[2:])


def normal_lanes(xp: Any, words: Words, dtype: Any) -> tuple[Array, ...]:
    """The normal values each block gives: two float64, or four of a smaller type."""
    lanes = 2 if np.dtype(dtype) == np.float64 else 4
    return tuple(value.astype(dtype) for value in _normal_lanes(xp, words, lanes))


def _below(lanes: int) -> Callable[[Any], Array]:
    return lambda state: (state[1] < lanes).any()


@by_library
def _round_once(xp: Any, function: Callable[[Array], Array], x: Array) -> Array:
    return function(x)


@_round_once.numpy
def _(xp: Any, function: Callable[[Array], Array], x: Array) -> Array:
    # The C library works in double precision inside and rounds once; NumPy's own float32 loops
    # do not, and would differ in the last bit.
    return function(x.astype(np.float64)).astype(np.float32)


def _box_muller(xp: Any, x0: Array, x1: Array) -> tuple[Array, Array]:
    u = xp.maximum(unit_float(x0), np.float32(1e-7))
    angle = (unit_float(x1).astype(np.float64) * (2 * math.pi)).astype(np.float32)
    log, sin, cos = (
        _round_once(xp, function, argument)
        for function, argument in ((xp.log, u), (xp.sin, angle), (xp.cos, angle))
    )
    radius = xp.sqrt(np.float32(-2) * log)
    return sin * radius, cos * radius


def _box_muller_double(xp: Any, x0: Array, x1: Array, x2: Array, x3: Array) -> tuple[Array, Array]:
    radius = xp.sqrt(-2.0 * xp.log(xp.maximum(unit_double(x0, x1), 1e-7)))
    angle = unit_double(x2, x3) * (2 * math.pi)
    return xp.sin(angle) * radius, xp.cos(angle) * radius


def uniform_pair(xp: Any, rng: Array, index: Array) -> tuple[Array, Array]:
    """The two uniform float64 of each of the blocks at `index`."""
    x0, x1, x2, x3 = blocks_at(xp, rng, index)
    return unit_double(x0, x1), unit_double(x2, x3)


def normal_pair(xp: Any, rng: Array, index: Array) -> tuple[Array, Array]:
    """The two normal float64 of each of the blocks at `index`."""
    return _box_muller_double(xp, *blocks_at(xp, rng, index))


# ---- helpers -------------------------------------------------------------------------------------


@by_library
def loop(xp: Any, pending: Callable[[Any], Array], step: Callable[[Any], Any], state: Any) -> Any:
    """Applies `step` while `pending` holds: a Python loop, or XLA's when traced."""
    from jax import lax

    return lax.while_loop(pending, step, state)


@loop.numpy
def _(xp: Any, pending: Callable[[Any], Array], step: Callable[[Any], Any], state: Any) -> Any:
    while pending(state):
        state = step(state)
    return state


def join(low: Array, high: Array) -> Array:
    """Two words as one of 64 bits."""
    return low.astype(np.uint64) | (high.astype(np.uint64) << 32)


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def _pick(xp: Any, index: Array, options: tuple[Array, ...]) -> Array:
    """`options[index]`, element by element."""
    result = options[-1]
    for k in range(len(options) - 2, -1, -1):
        result = xp.where(index == k, options[k], result)
    return result
