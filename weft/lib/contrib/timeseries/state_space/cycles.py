"""Values that come again after some time, and sum up to zero over it."""

from __future__ import annotations

import math as numbers
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.model import StateSpaceModel
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.array.pad import pad
from weft.ops.math import math
from weft.ops.math.casts import cast


class CycleStateSpaceModel(StateSpaceModel):
    """A state of the last values but one of a cycle; the missing one is minus their sum.

    Args:
        periodicity: the length of the cycle, an integer.
        configuration: a `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        periodicity: int,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),  # noqa: B008
    ) -> None:
        self._periodicity = periodicity
        super().__init__(configuration)

    def get_state_transition(self) -> Tensor:
        return self.transition_to_powers(array.ones([], dtypes.int32))

    def _first(self) -> Tensor:
        """One, then zeros: only the first number of a state is seen, and has noise."""
        return pad(array.ones([1], self.dtype), [[0, self._periodicity - 2]])

    def get_noise_transform(self) -> Tensor:
        return self._first()[..., None]

    def get_observation_model(self, times: Any) -> Tensor:
        return self._first()

    def transition_to_powers(self, powers: Any) -> Tensor:
        """Values move down by as many places; one row is minus the sum of all."""
        powers = powers % self._periodicity
        places = math.range(self._periodicity - 1, dtype=powers.dtype)
        moved = (places[:, None] - places[None, :]) % self._periodicity
        ones = cast(math.equal(moved, powers[..., None, None]), self.dtype)
        minus = cast(math.equal(places + 1, powers[..., None]), self.dtype)
        return ones - minus[..., None]

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> Tensor:
        """Noise that moves through the cycle counts once where it is, and once where it left."""
        size = self._periodicity
        noise = self._noise() * self._tensor(noise_addition_coefficient)[..., None]
        places = math.range(size, dtype=num_steps.dtype)
        missing = (places - (num_steps[..., None] - 1)) % size
        times = noise * cast((num_steps[..., None] + missing) // size, self.dtype)
        before = array.concat([times[..., -1:], times[..., :-2]], axis=-1)
        beside: Any = matrix_diag(times[..., :-2])
        none = [[0, 0]] * (beside.shape.ndims - 2)
        above = pad(beside, [*none, [0, 1], [1, 0]])
        below = pad(beside, [*none, [1, 0], [0, 1]])
        return matrix_diag(times[..., :-1] + before) - above - below

    def _noise(self) -> Tensor:
        """The variance of the noise of a transition."""
        return array.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])


class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of any length, told by a few values between which it is a sum of waves.

    Args:
        num_latent_values: how many values, an odd number.
        periodicity: the length of the cycle, which need not be an integer.
        near_integer_threshold: numbers this close to integers are taken for these.
        configuration: a `StateSpaceModelConfiguration`.

    Raises:
        ValueError: the number of values is even.
    """

    def __init__(
        self,
        num_latent_values: int,
        periodicity: Any,
        near_integer_threshold: float = 1e-8,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),  # noqa: B008
    ) -> None:
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values, self._true_periodicity = num_latent_values, periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(num_latent_values, configuration)

    def _close_to_integer(self, value: Any) -> Tensor:
        given = cast(value, self.dtype)
        return math.less(math.abs(given - math.round(given)), self._near_integer_threshold)

    def _in_values(self, steps: Any) -> Tensor:
        """Times as parts of the cycle, of which each value is one."""
        return cast(steps, self.dtype) * (
            self._num_latent_values / cast(self._true_periodicity, self.dtype)
        )

    def _cosecant(self, place: Any) -> Tensor:
        return 1.0 / math.sin(numbers.pi / self._num_latent_values * place)

    def _places(self) -> tuple[Tensor, Tensor]:
        """The places of the state's values, and 1 or -1 for each in turn."""
        places = math.range(self._num_latent_values - 1)
        return cast(places, self.dtype), cast(1 - 2 * (places % 2), self.dtype)

    def transition_to_powers(self, powers: Any) -> Tensor:
        """The power of a rotation by one value, which is a matrix of cosecants in between."""
        turns = self._in_values(powers)
        places, signs = self._places()
        size = math.sin(turns * numbers.pi) / self._num_latent_values
        by_row = self._cosecant(turns[..., None] - places - 1)
        by_entry = signs * self._cosecant(turns[..., None, None] + (places - places[:, None]))
        between = size[..., None, None] * signs[:, None] * (by_row[..., None] + by_entry)
        whole = super().transition_to_powers(cast(math.round(turns), dtypes.int64))
        return where(self._close_to_integer(turns), whole, between)

    def transition_power_noise_accumulator(self, num_steps: Any, *args: Any) -> Tensor:  # type: ignore[override]
        length = self._whole_period()
        if length is None:
            left, so_far = num_steps, array.zeros([], self.dtype)
            sums = self._power_sums(math.reduce_max(left))
        else:
            left, so_far = self._without_periods(num_steps, length)
            sums = self._power_sums(length)
        return so_far + self._noise() * gather(sums, left)

    def _whole_period(self) -> int | None:
        """The length of a cycle whose noise can be had at once."""
        length = round(self._true_periodicity)
        is_whole = abs(self._true_periodicity - length) < self._near_integer_threshold
        return length if is_whole and length >= self._num_latent_values else None

    def _without_periods(self, num_steps: Any, length: int) -> tuple[Tensor, Tensor]:
        """(steps after the last whole cycle, the noise of all whole cycles)"""
        of_one = super().transition_power_noise_accumulator(
            convert_to_tensor(self._num_latent_values, dtype=num_steps.dtype),
            length / self._num_latent_values,
        )
        count = cast(num_steps // length, self.dtype)
        return num_steps % length, count[..., None, None] * of_one

    def _power_sums(self, count: Any) -> Tensor:
        """The noise after 0, 1, ... up to `count` steps, for a variance of 1."""
        turns = self._in_values(math.range(count))
        places, signs = self._places()
        apart = turns[..., None] - places
        entries = self._cosecant(apart) + self._cosecant(apart - 1.0)
        squares = entries[..., None, :] * entries[..., None]
        squares = where(self._close_to_integer(turns), array.zeros_like(squares), squares)
        size = math.sin(numbers.pi * turns) / self._num_latent_values
        squares *= math.square(size)[..., None, None]
        # Where a sine is 0, its product with a cosecant is 1 or -1.
        (is_here, here), (is_next, next_) = (self._at_a_jump(apart - i) for i in (0, 1))
        jumps = math.logical_or(is_here, is_next)
        jump_signs = where(is_here, here, next_)
        both = math.logical_and(jumps[..., None], jumps[..., None, :])
        ones = jump_signs[..., None] * jump_signs[..., None, :]
        terms = signs[:, None] * signs * where(both, ones, squares)
        return pad(math.cumsum(terms), [[1, 0], [0, 0], [0, 0]])

    def _at_a_jump(self, place: Tensor) -> tuple[Tensor, Tensor]:
        """Whether the cosecant of a place has no value, and its sign beside it."""
        part = place / self._num_latent_values
        return self._close_to_integer(part), math.cos(part * numbers.pi)
