"""tf.random.experimental.Generator: a source of random numbers whose state is a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.kit.eager import executing_eagerly
from weft.ops.math import math
from weft.ops.random.stateful import PHILOX, STATE_SIZE
from weft.ops.state.variables import Variable


def create_rng_state(seed: Any, algorithm: int) -> np.ndarray:
    """The state for a seed: an integer of any size, or up to as many as the state has."""
    _check_algorithm(algorithm)
    if isinstance(seed, int):
        seed = [(seed >> (64 * i)) & (2**64 - 1) for i in range(STATE_SIZE)]
    words = np.array([int(each) & (2**64 - 1) for each in np.ravel(seed)], np.uint64)
    if np.ndim(seed) != 1:
        raise ValueError(f"seed should only have one dimension; got shape: {np.shape(seed)}")
    state = words[:STATE_SIZE].astype(np.int64)
    return np.pad(state, (STATE_SIZE - len(state), 0))


def _check_algorithm(algorithm: Any) -> None:
    if algorithm != PHILOX:
        raise ValueError(f"Unsupported algorithm id: {algorithm}")


def _as_state(value: Any) -> Tensor:
    """Integers of 64 bits, with or without a sign, as a state."""
    if isinstance(value, Tensor):
        return math.cast(value, dtypes.int64)
    words = [int(each) & (2**64 - 1) for each in np.ravel(value)]
    return convert_to_tensor(np.array(words, np.uint64).astype(np.int64).reshape(np.shape(value)))


def _shape_tensor(shape: Any) -> Tensor:
    kind = dtypes.int32 if isinstance(shape, tuple | list) and not shape else None
    return convert_to_tensor(shape, dtype=kind, name="shape")


def _numbers(dtype: Any, **given: Any) -> list[Tensor]:
    """Tensors of numbers, each under the name it is passed by."""
    return [convert_to_tensor(value, dtype=dtype, name=name) for name, value in given.items()]


class Generator:
    """Draws that follow from a state, which every draw moves on."""

    def __init__(self, copy_from: Any = None, state: Any = None, alg: int | None = None) -> None:
        if copy_from is not None:
            assert state is None and alg is None
            value, alg = copy_from.state.initialized_value(), copy_from.algorithm
        else:
            assert alg is not None and state is not None
            _check_algorithm(alg)
            value = _as_state(state)
            value.shape.assert_is_compatible_with([STATE_SIZE])
        self._state: Any = Variable(value, dtype=dtypes.int64, trainable=False, use_resource=True)
        self._algorithm = alg

    @classmethod
    def from_state(cls, state: Any, alg: int) -> Generator:
        """One with this state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: int | None = None) -> Generator:
        """One whose state follows from a seed."""
        alg = PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: int | None = None) -> Generator:
        """One whose state comes from the system."""
        alg = PHILOX if alg is None else alg
        _check_algorithm(alg)
        drawn = raw.NonDeterministicInts(
            convert_to_tensor([STATE_SIZE], dtypes.int64), dtype=dtypes.int64
        )
        return cls(state=drawn, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> Generator:
        """One with this key and counter."""
        _check_algorithm(alg)
        return cls(state=_joined(key, counter), alg=alg)

    def reset(self, state: Any) -> Any:
        """Sets the state."""
        value = _as_state(state)
        value.shape.assert_is_compatible_with([STATE_SIZE])
        return self._state.assign(value)

    def reset_from_seed(self, seed: Any) -> Any:
        """Sets the state to what follows from a seed."""
        return self._state.assign(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        """Sets the key and the counter."""
        return self._state.assign(_joined(key, counter))

    @property
    def state(self) -> Any:
        """The variable."""
        return self._state

    @property
    def algorithm(self) -> Any:
        """How numbers are made of the state."""
        return self._algorithm

    @property
    def key(self) -> Tensor:
        """The part of the state that draws do not change."""
        return self._state[-1]

    def skip(self, delta: Any) -> Any:
        """Moves the counter on."""
        return raw.RngSkip(self._state.handle, self.algorithm, delta)

    def _drawn(self, op: str, shape: Any, *bounds: Any, **attrs: Any) -> Tensor:
        size = _shape_tensor(shape)
        return getattr(raw, op)(self._state.handle, self.algorithm, size, *bounds, **attrs)

    def _scaled(self, op: str, scope: str, shape: Any, mean: Any, stddev: Any, dtype: Any,
                name: str | None) -> Tensor:  # fmt: skip
        with name_scope(name, scope, [shape, mean, stddev]) as name:
            middle, width = _numbers(dtype, mean=mean, stddev=stddev)
            return math.add(self._drawn(op, shape, dtype=dtype) * width, middle, name=name)

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DType = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Normal numbers."""
        op = "StatefulStandardNormalV2"
        return self._scaled(op, "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DType = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Normal numbers within two deviations of the mean."""
        op = "StatefulTruncatedNormal"
        return self._scaled(op, "truncated_normal", shape, mean, stddev, dtype, name)

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Numbers from `minval` up to, but not including, `maxval`."""
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as name:
            low, high = _numbers(dtype, min=minval, max=maxval)
            if dtype.is_integer:
                return self._drawn("StatefulUniformInt", shape, low, high, name=name)
            drawn = self._drawn("StatefulUniform", shape, dtype=dtype)
            return math.add(drawn * (high - low), low, name=name)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """All integers of a type, equally likely."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as name:
            kind = dtypes.as_dtype(dtype)
            return self._drawn("StatefulUniformFullInt", shape, dtype=kind, name=name)

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """How many of `counts` tries succeed, each with the probability `probs`."""
        with name_scope(name, "binomial", [shape, counts, probs]) as name:
            given, kind = _numbers(None, counts=counts, probs=probs), dtypes.as_dtype(dtype)
            return self._drawn("StatefulRandomBinomial", shape, *given, dtype=kind, name=name)

    def make_seeds(self, count: int = 1) -> Tensor:
        """[2, count]: seeds for stateless draws."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return array.stack([keys, array.zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """As many generators, whose numbers have nothing to do with ours or with each other's."""
        if not executing_eagerly():  # the keys would have to be drawn while the graph is built
            raise NotImplementedError(
                "Generator.split needs eager execution; make_seeds and stateless draws, or"
                " from_seed, do the same in a graph."
            )
        keys: Any = self.uniform_full_int([count], dtypes.int64)
        return [Generator(state=[0, 0, key], alg=self.algorithm) for key in keys.numpy()]


def _joined(key: Any, counter: Any) -> Tensor:
    words, last = _as_state(counter), _as_state(key)
    words.shape.assert_is_compatible_with([STATE_SIZE - 1])
    last.shape.assert_is_compatible_with([])
    return array.concat([words, array.reshape(last, [1])], 0)


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator of the process, made when it is first asked for."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Replaces the generator of the process."""
    _global[:] = [generator]
