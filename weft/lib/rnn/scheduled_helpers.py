"""Helpers that sometimes feed back what was sampled instead of the next input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.rnn.helper import (
    TrainingHelper,
    bernoulli_sample,
    categorical_sample,
    embedding_function,
    tensor_of_rank,
    unstacked,
    while_any_runs,
)
from weft.lib.rnn.step import transpose_batch_time
from weft.ops.array import fill as array_fill
from weft.ops.array import gather, scatter
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import shape as array_shape
from weft.ops.control.cond import cond
from weft.ops.math import casts, elementwise, reduce, unary


def _replace_rows(
    base: Tensor,
    chosen: Tensor,
    kept: Callable[[Tensor], Tensor],
    values: Any,
    make: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """`base` with the rows that are `chosen` replaced by what `make` makes of them.

    It is given these rows of `values`, and their indices; `kept` of the mask holds for the others.
    """

    def where_true(mask: Tensor) -> Tensor:
        return casts.cast(select.where(mask), dtypes.int32)

    taken, left = where_true(chosen), where_true(kept(chosen))
    picked, unchanged = gather.gather_nd(values, taken), gather.gather_nd(base, left)
    new, shape = make(picked, taken), array_shape.shape(base)
    return scatter.scatter_nd(taken, new, shape) + scatter.scatter_nd(left, unchanged, shape)


class _Scheduled(TrainingHelper):
    """Training inputs, of which a part is replaced by something sampled."""

    _sampling_probability: Tensor

    def _set_probability(self, given: Any) -> None:
        message = "sampling_probability must be either a scalar or a vector. saw shape: {shape}"
        self._sampling_probability = tensor_of_rank(given, (0, 1), message, "sampling_probability")

    def _toss(self, dtype: Any, seed: int | None) -> Tensor:
        """Whether each sequence of the batch is to have its next input replaced."""
        return bernoulli_sample(
            self._sampling_probability, dtype=dtype, sample_shape=self.batch_size, seed=seed
        )


class ScheduledEmbeddingTrainingHelper(_Scheduled):
    """Training inputs, some of which are replaced by the embedding of a sampled output."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [sampling_probability]):
            self._embedding_fn = embedding_function(embedding)
            self._set_probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = self._toss(dtypes.bool, self._scheduling_seed)
            drawn = categorical_sample(outputs, seed=self._seed)
            keep_given = array_fill.fill([self.batch_size], -1)
            return select.where(chosen, drawn, keep_given)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        with name_scope(
            name,
            "ScheduledEmbeddingTrainingHelperNextInputs",
            [time, outputs, state, sample_ids],
        ):
            finished, base, state = super().next_inputs(time, outputs, state, name=name)

            def sampled() -> Tensor:
                return _replace_rows(
                    base,
                    sample_ids > -1,
                    lambda _: sample_ids <= -1,
                    sample_ids,
                    lambda drawn, _: self._embedding_fn(drawn),
                )

            return finished, while_any_runs(finished, base, sampled), state


class ScheduledOutputTrainingHelper(_Scheduled):
    """Training inputs, some of which are replaced by the output of the step before."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[..., Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, sampling_probability]):
            self._set_probability(sampling_probability)
            self._auxiliary_input_tas: Any = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = array_join.concat((inputs, auxiliary), -1)
                if not time_major:
                    auxiliary = transpose_batch_time(auxiliary)
                self._auxiliary_input_tas = unstacked(auxiliary)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return self._toss(dtypes.int32, self._seed)

    def _with_auxiliary(
        self, time: Any, outputs: Any, choose: Callable[[Any], Any] = lambda rows: rows
    ) -> Any:
        extra = self._auxiliary_input_tas
        if extra is None:
            return outputs
        return array_join.concat((outputs, choose(extra.read(time + 1))), -1)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        with name_scope(
            name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]
        ):
            finished, base, state = super().next_inputs(time, outputs, state, name=name)
            chosen = casts.cast(sample_ids, dtypes.bool)
            make = self._next_inputs_fn

            def sampled() -> Tensor:
                if make is None:
                    return select.where(chosen, self._with_auxiliary(time, outputs), base)

                def made_of(before: Tensor, rows: Tensor) -> Tensor:
                    def choose(values: Any) -> Tensor:
                        return gather.gather_nd(values, rows)

                    return self._with_auxiliary(time, make(before), choose)

                return _replace_rows(base, chosen, unary.logical_not, outputs, made_of)

            nothing = elementwise.logical_or(
                reduce.reduce_all(finished), unary.logical_not(reduce.reduce_any(chosen))
            )
            return finished, cond(nothing, lambda: base, sampled), state
