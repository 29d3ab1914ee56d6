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
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import repeat as array_repeat
from weft.ops.array import shape as array_shape
from weft.ops.array.pad import pad
from weft.ops.control.cond import cond
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import arg_extremes, casts, elementwise, reduce
from weft.ops.math.math import sigmoid
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.random import random


def _sampled(draw: Callable[..., Tensor], sample_shape: Any, dtype: Any) -> Tensor:
    """As many samples as `sample_shape` asks for, in that shape.

    `draw` is given their number, and a function that puts this number before other sizes.
    """
    with name_scope("call_sampler"):
        given = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        # One number stands for a list of one.
        missing = casts.cast(elementwise.equal(array_shape.rank(given), 0), dtypes.int32)
        shape = array_shape.reshape(given, _after_ones(missing, array_shape.shape(given)))
        count = reduce.reduce_prod(shape)
        drawn = draw(count, lambda sizes: array_join.concat([[count], sizes], 0))
        samples = casts.cast(drawn, dtype)
        rest = array_shape.shape(samples)[1:]
        return array_shape.reshape(samples, array_join.concat([shape, rest], 0))


def _after_ones(count: Tensor, dims: Tensor) -> Tensor:
    """`dims` with so many ones before them."""
    return pad(dims, [[count, 0]], constant_values=1)


def bernoulli_sample(
    probs: Any = None,
    logits: Any = None,
    dtype: Any = dtypes.int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Tensor:
    """Ones with the given probabilities."""
    make, given = (sigmoid, logits) if probs is None else (convert_to_tensor, probs)
    limit = make(given, name="probs")
    each = array_shape.shape(limit)

    def draw(_: Any, after_count: Callable[[Any], Tensor]) -> Tensor:
        sizes = after_count(each)
        return random.random_uniform(sizes, dtype=limit.dtype, seed=seed) < limit

    return _sampled(draw, sample_shape, dtype)


def categorical_sample(
    logits: Any, dtype: Any = dtypes.int32, sample_shape: Any = (), seed: int | None = None
) -> Tensor:
    """Class numbers drawn with the probabilities that `logits` give."""
    logits = convert_to_tensor(logits, name="logits")
    classes, outer = array_shape.shape(logits)[-1], array_shape.shape(logits)[:-1]

    def draw(count: Any, after_count: Callable[[Any], Tensor]) -> Tensor:
        rows = logits if logits.shape.ndims == 2 else array_shape.reshape(logits, [-1, classes])
        drawn_as = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        draws = random.multinomial(rows, count, seed=seed, output_dtype=drawn_as)
        turned = array_shape.transpose(draws)
        return array_shape.reshape(turned, after_count(outer))

    return _sampled(draw, sample_shape, dtype)


def tensor_of_rank(
    given: Any, ranks: tuple[int, ...], message: str, name: str, dtype: Any = None
) -> Tensor:
    """`given` as a tensor of one of these ranks; `message` may show its shape."""
    tensor = convert_to_tensor(given, dtype=dtype, name=name)
    if tensor.shape.ndims not in ranks:
        raise ValueError(message.format(shape=tensor.shape))
    return tensor


def start_and_end(start_tokens: Any, end_token: Any) -> tuple[Tensor, Tensor]:
    """The tokens that sequences start with, and the one that ends them."""
    start = tensor_of_rank(
        start_tokens, (1,), "start_tokens must be a vector", "start_tokens", dtypes.int32
    )
    end = tensor_of_rank(end_token, (0,), "end_token must be a scalar", "end_token", dtypes.int32)
    return start, end


def while_any_runs(finished: Tensor, idle: Any, inputs: Callable[[], Any]) -> Any:
    """`inputs()` as long as a sequence is not finished, `idle` after that."""
    return cond(reduce.reduce_all(finished), lambda: idle, inputs)


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


class _Sampler(Helper):
    """A helper that keeps its batch size and the form of its samples: by default one int32 each."""

    _batch_size: Any = None
    _sample_ids_shape: Any = ()
    _sample_ids_dtype: Any = dtypes.int32

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return TensorShape(self._sample_ids_shape)

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype


class CustomHelper(_Sampler):
    """A helper made of three functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._functions = initialize_fn, sample_fn, next_inputs_fn
        self._sample_ids_shape = TensorShape(sample_ids_shape or ())
        self._sample_ids_dtype = sample_ids_dtype or self._sample_ids_dtype

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, first = self._functions[0]()
            if self._batch_size is None:
                self._batch_size = array_shape.size(finished)
        return finished, first

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, f"{type(self).__name__}Sample", [time, outputs, state]):
            return self._functions[1](time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        with name_scope(name, f"{type(self).__name__}NextInputs", [time, outputs, state]):
            return self._functions[2](
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


def _as_inputs(value: Any) -> Tensor:
    return convert_to_tensor(value, name="inputs")


def _nothing_like_first(steps: Tensor) -> Tensor:
    return array_fill.zeros_like(steps[0, :])


class TrainingHelper(_Sampler):
    """Feeds given inputs, whatever the outputs are."""

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            self._inputs = steps = nest.map_structure(_as_inputs, inputs)
            if not time_major:
                steps = nest.map_structure(transpose_batch_time, steps)
            self._input_tas = nest.map_structure(unstacked, steps)
            rule = "Expected sequence_length to be a vector, but received shape: {shape}"
            self._sequence_length = tensor_of_rank(sequence_length, (1,), rule, "sequence_length")
            self._zero_inputs = nest.map_structure(_nothing_like_first, steps)
            self._batch_size = array_shape.size(sequence_length)

    @property
    def inputs(self) -> Any:
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        return self._sequence_length

    def _step(self, time: Any, finished: Tensor) -> tuple[Tensor, Any]:
        # Past the last input there is nothing to read.
        return finished, while_any_runs(
            finished,
            self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def initialize(self, name: str | None = None) -> Any:
        with name_scope(name, "TrainingHelperInitialize"):
            return self._step(0, elementwise.equal(0, self._sequence_length))

    def sample(self, time: Any, outputs: Any, name: str | None = None, **_: Any) -> Any:
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return casts.cast(arg_extremes.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, name: str | None = None, **_: Any
    ) -> Any:
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            after = time + 1
            return *self._step(after, after >= self._sequence_length), state


class GreedyEmbeddingHelper(_Sampler):
    """Takes the likeliest class of each output and feeds its embedding to the next step."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        look_up = self._embedding_fn = embedding_function(embedding)
        first, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = array_shape.size(start_tokens)
        self._start_tokens, self._start_inputs = first, look_up(first)

    def initialize(self, name: str | None = None) -> Any:
        return array_repeat.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        _check_single(outputs)
        return arg_extremes.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        finished = elementwise.equal(sample_ids, self._end_token)
        following = while_any_runs(
            finished, self._start_inputs, lambda: self._embedding_fn(sample_ids)
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


class InferenceHelper(_Sampler):
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
        self._sample_ids_shape = TensorShape(sample_shape)
        self._sample_ids_dtype = sample_dtype
        self._batch_size = array_shape.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

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
