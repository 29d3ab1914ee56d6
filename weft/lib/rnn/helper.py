"""Helpers: where a decoder's next inputs come from, and which ids its outputs mean."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.rnn.step import transpose_batch_time
from weft.ops.array import (
    fill as array_fill,
)
from weft.ops.array import (
    join as array_join,
)
from weft.ops.array import (
    repeat as array_repeat,
)
from weft.ops.array import (
    shape as array_shape,
)
from weft.ops.control.cond import cond
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import arg_extremes, casts, elementwise, reduce
from weft.ops.math.math import sigmoid
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.random import random


def _sampled(draw: Callable[[Any], Tensor], sample_shape: Any) -> Tensor:
    """`draw(n)` for as many samples as `sample_shape` asks for, in that shape."""
    with name_scope("call_sampler"):
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        shape = array_shape.reshape(shape, [-1])
        samples = draw(reduce.reduce_prod(shape))
        rest = array_shape.shape(samples)[1:]
        return array_shape.reshape(samples, array_join.concat([shape, rest], 0))


def bernoulli_sample(
    probs: Any = None,
    logits: Any = None,
    dtype: Any = dtypes.int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Tensor:
    """Ones with the given probabilities."""
    if probs is None:
        probs = sigmoid(logits, name="probs")
    else:
        probs = convert_to_tensor(probs, name="probs")

    def draw(n: Any) -> Tensor:
        shape = array_join.concat([[n], array_shape.shape(probs)], 0)
        uniform = random.random_uniform(shape, seed=seed, dtype=probs.dtype)
        return casts.cast(elementwise.less(uniform, probs), dtype)

    return _sampled(draw, sample_shape)


def categorical_sample(
    logits: Any, dtype: Any = dtypes.int32, sample_shape: Any = (), seed: int | None = None
) -> Tensor:
    """Class numbers drawn with the probabilities that `logits` give."""
    logits = convert_to_tensor(logits, name="logits")
    sizes = array_shape.shape(logits)

    def draw(n: Any) -> Tensor:
        rows = logits if logits.shape.ndims == 2 else array_shape.reshape(logits, [-1, sizes[-1]])
        drawn_as = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        draws = random.multinomial(rows, n, seed=seed, output_dtype=drawn_as)
        shape = array_join.concat([[n], sizes[:-1]], 0)
        return casts.cast(array_shape.reshape(array_shape.transpose(draws), shape), dtype)

    return _sampled(draw, sample_shape)


def unstacked(inputs: Tensor) -> TensorArray:
    return TensorArray(
        dtype=inputs.dtype, size=array_shape.shape(inputs)[0], element_shape=inputs.shape[1:]
    ).unstack(inputs)


def embedding_function(embedding: Any) -> Callable[[Any], Tensor]:
    """`embedding` if it is a function of ids, otherwise the lookup in that table."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


class Helper(abc.ABC):
    """Samples ids from the outputs of a decoder and gives it its next inputs."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The batch size, a scalar."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> TensorShape:
        """The shape of one sample, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The type of samples."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(which sequences are finished, first inputs)."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The ids that `outputs` mean."""

    @abc.abstractmethod
    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """(finished, next inputs, next state)."""


class _ScalarIds(Helper):
    """A helper whose samples are one int32 each."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return dtypes.int32


class CustomHelper(Helper):
    """A helper made of three functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array_shape.size(finished)
        return finished, next_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, f"{type(self).__name__}Sample", [time, outputs, state]):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        with name_scope(name, f"{type(self).__name__}NextInputs", [time, outputs, state]):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


class TrainingHelper(_ScalarIds):
    """Feeds given inputs, whatever the outputs are."""

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = nest.map_structure(lambda x: convert_to_tensor(x, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(unstacked, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zero_inputs = nest.map_structure(lambda x: array_fill.zeros_like(x[0, :]), inputs)
            self._batch_size = array_shape.size(sequence_length)

    @property
    def inputs(self) -> Any:
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        return self._sequence_length

    def _inputs_at(self, time: Any, finished: Tensor) -> Any:
        # Past the last input there is nothing to read.
        return cond(
            reduce.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def initialize(self, name: str | None = None) -> Any:
        with name_scope(name, "TrainingHelperInitialize"):
            finished = elementwise.equal(0, self._sequence_length)
            return finished, self._inputs_at(0, finished)

    def sample(self, time: Any, outputs: Any, name: str | None = None, **_: Any) -> Any:
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return casts.cast(arg_extremes.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, name: str | None = None, **_: Any
    ) -> Any:
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._inputs_at(next_time, finished), state


class GreedyEmbeddingHelper(_ScalarIds):
    """Takes the likeliest class of each output and feeds its embedding to the next step."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert_to_tensor(
            start_tokens, dtype=dtypes.int32, name="start_tokens"
        )
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = array_shape.size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> Any:
        return array_repeat.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        _check_single(outputs)
        return arg_extremes.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        finished = elementwise.equal(sample_ids, self._end_token)
        following = cond(
            reduce.reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, following, state


def _check_single(outputs: Any) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Draws a class from each output, as logits, and feeds its embedding to the next step."""

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        _check_single(outputs)
        temperature = self._softmax_temperature
        logits = outputs if temperature is None else outputs / temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """Feeds what `sample_fn` makes of each output to the next step."""

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = TensorShape(sample_shape), sample_dtype
        self._batch_size = array_shape.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        return array_repeat.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        make = self._next_inputs_fn
        following = sample_ids if make is None else make(sample_ids)
        return self._end_fn(sample_ids), following, state
