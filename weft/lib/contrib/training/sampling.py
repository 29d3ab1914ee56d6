"""Examples taken in other proportions than they come in: rejected, repeated, balanced by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.shapes import dimension_at_index
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.train.input.batches import converted
from weft.lib.train.input.queues import batch, maybe_batch
from weft.lib.train.optimizers.moving_averages import assign_moving_average
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import one_hot
from weft.ops.array.repeat import repeat
from weft.ops.control import check
from weft.ops.control.cond import cond
from weft.ops.control.control import with_dependencies
from weft.ops.control.printing import Print
from weft.ops.math import math
from weft.ops.random.random import random_poisson, random_uniform
from weft.ops.state import variable_scope as vs
from weft.ops.state.variables import Variable

# Examples of each class that are taken as seen before there were any.
_SMOOTHING = 10


def rejection_sample(
    tensors: Any,
    accept_prob_fn: Callable[[list[Tensor]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Batches of the examples that are kept, each with the probability that a function gives it.

    Args:
        tensors: one example, or several with `enqueue_many`.
        accept_prob_fn: from the tensors of an example to the probability that it is kept.
        batch_size: of the results.
        queue_threads: that fill the queue of kept examples.
        enqueue_many: whether the first dimension of `tensors` counts examples.
        prebatch_capacity, prebatch_threads: of the queue that takes them apart then.
        runtime_checks: whether to check that probabilities are between 0 and 1.
        name: of the operations.

    Returns:
        A list of tensors.
    """
    with vs.variable_scope(name, "rejection_sample", tensors):
        example = converted(tensors)
        if enqueue_many:
            _check_first_dimensions(example, example[0])
            example = _one_by_one(example, prebatch_threads, prebatch_capacity)
        probability = convert_to_tensor(accept_prob_fn(example))
        if runtime_checks:
            checks = [
                check.assert_less_equal(0.0, probability),
                check.assert_less_equal(probability, 1.0),
            ]
            probability = with_dependencies(checks, probability, name="prob_with_checks")
        return _kept(example, probability, batch_size, queue_threads)


def stratified_sample(
    tensors: Any,
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Batches in which classes have given frequencies, by rejection of what comes too often.

    Args:
        tensors: one example, or several with `enqueue_many`.
        labels: its class, or theirs.
        target_probs: the frequencies of the classes in the results.
        batch_size: of the results.
        init_probs: the frequencies in the data; estimated from what was seen if None.
        enqueue_many: whether the first dimension counts examples.
        queue_capacity, threads_per_queue: of the queue that takes them apart then.
        name: of the operations.

    Returns:
        A list of tensors, and their labels.

    Raises:
        ValueError: the two vectors of probabilities are of different lengths.
        InvalidArgumentError: when run, if these are no probabilities, or a class is wanted that
            has probability 0.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        examples, labels = converted(tensors), convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, dtypes.float32)
        if not enqueue_many:
            examples = [array.expand_dims(tensor, 0) for tensor in examples]
            labels = array.expand_dims(labels, 0)
        if init_probs is None:
            target.shape.assert_is_fully_defined()
            seen: Tensor = _frequencies(labels, target.shape.num_elements())
        else:
            seen = convert_to_tensor(init_probs, dtypes.float32)
        seen, target = _checked_probabilities(seen), _checked_probabilities(target)
        if seen.shape.num_elements() != target.shape.num_elements():
            raise ValueError("Probability parameters must have the same length.")
        examples, labels = _checked_examples(examples, labels, seen.shape.num_elements())
        *example, label = _one_by_one([*examples, labels], threads_per_queue, queue_capacity)
        accept = _acceptance(seen, target)
        kept = _kept([*example, label], gather(accept, label), batch_size, threads_per_queue)
        return kept[:-1], kept[-1]


def _one_by_one(examples: list[Tensor], threads: int, capacity: int) -> list[Tensor]:
    ones = batch(examples, 1, threads, capacity, enqueue_many=True)
    ones = ones if isinstance(ones, list) else [ones]
    return [array.squeeze(each, [0]) for each in ones]


def _kept(example: list[Tensor], probability: Any, size: int, threads: int) -> list[Tensor]:
    keep = random_uniform([]) < probability
    kept = maybe_batch(example, keep, size, threads)
    return [kept] if isinstance(kept, Tensor) else kept


def _frequencies(labels: Tensor, classes: Any) -> Tensor:
    start = [_SMOOTHING] * classes
    counts = Variable(start, trainable=False, name="class_count", dtype=dtypes.int64)
    now = math.reduce_sum(one_hot(labels, classes, dtype=dtypes.int64), 0)
    grown = counts.assign_add(now) + 0  # a value of this step, not the variable
    return math.cast(math.truediv(grown, math.reduce_sum(grown)), dtypes.float32)


def _acceptance(seen: Tensor, target: Tensor) -> Tensor:
    """The probability with which an example of each class is kept; 1 for the rarest."""
    possible = math.logical_or(math.not_equal(seen, 0), math.equal(target, 0))
    message = "All classes with zero initial probability must also have zero target probability: "
    seen = with_dependencies(
        [check.Assert(math.reduce_all(possible), [message, seen, target])], seen
    )
    ratio = math.div_no_nan(target, seen)
    accept = ratio / math.reduce_max(ratio)
    rejected = math.reduce_sum((1 - accept) * seen)
    warning = "Proportion of examples rejected by sampler is high."
    return cond(
        math.less(rejected, 0.5),
        lambda: accept,
        lambda: Print(accept, [accept], message=warning, first_n=10),
    )


def _checked_probabilities(probabilities: Tensor) -> Tensor:
    probabilities.shape.assert_is_fully_defined()
    probabilities.shape.assert_has_rank(1)
    total, tolerance = math.reduce_sum(probabilities), 1e-6
    checks = [
        check.assert_non_negative(probabilities),
        check.assert_less(total, 1.0 + tolerance),
        check.assert_less(1.0 - tolerance, total),
    ]
    return with_dependencies(checks, probabilities)


def _check_first_dimensions(tensors: Sequence[Tensor], like: Tensor) -> None:
    for tensor in tensors:
        first = dimension_at_index(tensor.shape.with_rank_at_least(1), 0)
        first.assert_is_compatible_with(dimension_at_index(like.shape, 0))


def _checked_examples(
    examples: list[Tensor], labels: Tensor, classes: Any
) -> tuple[list[Tensor], Tensor]:
    labels.shape.assert_has_rank(1)
    _check_first_dimensions(examples, labels)
    count = array.shape(labels)[0]
    some = check.assert_positive(count)
    examples = [
        with_dependencies([some, check.assert_equal(array.shape(each)[0], count)], each)
        for each in examples
    ]
    checks = [
        some,
        check.assert_integer(labels),
        check.assert_non_negative(labels),
        check.assert_less(labels, math.cast(classes, labels.dtype)),
    ]
    return examples, with_dependencies(checks, labels)


# ---- some examples more often than once ----


def resample_at_rate(
    inputs: Sequence[Any],
    rates: Any,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:
    """Rows of all inputs, each as often as a Poisson number with its rate says.

    Args:
        inputs: tensors with the same number of rows.
        rates: the mean of each row's number.
        scope: of the operations.
        seed: of the random numbers.
        back_prop: whether gradients reach the rates' numbers.

    Returns:
        A list of tensors.
    """
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = math.cast(random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        rows = repeat(math.range(array.shape(counts)[0]), counts)
        return [gather(each, rows if back_prop else array.stop_gradient(rows)) for each in inputs]


def weighted_resample(
    inputs: Sequence[Any],
    weights: Any,
    overall_rate: Any,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Rows of all inputs in proportion to their weights.

    Args:
        inputs: tensors with the same number of rows.
        weights: one for each row.
        overall_rate: how many rows come out for each that goes in, on average.
        scope: of the operations.
        mean_decay: of the average weight, which is estimated over steps.
        seed: of the random numbers.

    Returns:
        A list of tensors, and the rate at which each of their rows was taken.
    """
    with name_scope(scope, "weighted_resample", inputs) as opscope:
        with vs.variable_scope(scope, "estimate_mean", inputs):
            start = math.cast(0, weights.dtype)
            average = vs.get_local_variable(
                "estimated_mean", initializer=start, dtype=weights.dtype
            )
            mean = assign_moving_average(average, math.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        rate, *results = resample_at_rate([rates, *inputs], rates, opscope, seed)
        return results, rate
