"""tf.data datasets as the data of a model."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Generator
from typing import Any

from weft.core import errors, nest
from weft.lib.data.dataset import Dataset
from weft.lib.data.eager_iterator import EagerIterator
from weft.lib.data.iterator import Iterator
from weft.lib.data.make_iterator import make_initializable_iterator
from weft.lib.data.reduction import cardinality
from weft.lib.keras.backend.session import get_session, get_value
from weft.lib.keras.backend.symbolic import runs_eagerly
from weft.lib.keras.engine.training_sources import OutOfData, Step
from weft.lib.platform import tf_logging as logging

_INFINITE = -1
# Operations whose elements come in the order of what they are made from.
_IN_ORDER = re.compile(
    "(Batch|Cache|Concatenate|Filter|FixedLengthRecord|Map|Options|PaddedBatch|ParallelMap|Prefetch"
    "|Range|Repeat|Skip|SparseTensorSlice|Take|Tensor|TensorSlice|TextLine|TFRecord|Window|Zip)"
    r"Dataset(V\d)?"
)


def is_dataset(x: Any) -> bool:
    return isinstance(x, Dataset)


def is_iterator(x: Any) -> bool:
    return isinstance(x, (Iterator, EagerIterator))


def refuse_iterators(x: Any) -> None:
    if is_iterator(x):
        raise ValueError(
            "For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `Datasets`"
            " as input but not iterators that have been manually generated from Datasets by users. "
            "Please directly pass in the original `Dataset` object instead of passing in "
            "`iter(dataset)`."
        )


def check_alone(x: Any, y: Any, sample_weight: Any, validation_split: Any = None) -> None:
    """A dataset has targets and weights of its own."""
    if y is not None:
        raise ValueError(
            f"You passed a dataset or dataset iterator ({x}) as input `x` to your model. In that "
            "case, you should not specify a target (`y`) argument, since the dataset or dataset "
            f"iterator generates both input data and target data. Received: {y}"
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when input `x` is a dataset or a dataset "
            "iterator. Instead, youcan provide sample_weight as the third element  of yourdataset, "
            f"i.e. (inputs, targets, sample_weight). Received: x={x}, sample_weight={sample_weight}"
        )
    if validation_split:
        raise ValueError(
            "`validation_split` argument is not supported when input `x` is a dataset or a dataset "
            f"iterator. Received: x={x}, validation_split={validation_split:f}"
        )


def warn_of_order(dataset: Dataset) -> None:
    """Says so where a dataset to train on is certainly not shuffled."""
    if _is_in_order(dataset):
        logging.warning(
            "Expected a shuffled dataset but input dataset `x` is not shuffled. Please invoke "
            "`shuffle()` on input dataset."
        )


def _is_in_order(dataset: Dataset) -> bool:
    try:
        below = dataset._inputs()
    except NotImplementedError:  # of a program's own, which only it knows
        return False
    known = _IN_ORDER.fullmatch(dataset._variant_tensor.op.type)
    return known is not None and all(_is_in_order(each) for each in below)


def started_iterator(dataset: Dataset) -> tuple[Iterator, Callable[[], None]]:
    """(an iterator at the first element, a function that puts it there again)"""
    iterator = make_initializable_iterator(dataset)

    def start() -> None:
        get_session((iterator.initializer,)).run(iterator.initializer)

    start()
    return iterator, start


def _next(dataset_or_iterator: Any) -> Any:
    if runs_eagerly():
        return next(iter(dataset_or_iterator))
    iterator = dataset_or_iterator
    if is_dataset(iterator):
        iterator, _ = started_iterator(iterator)
    return iterator.get_next()


class EagerBatches:
    """Steps that call `run(inputs, targets, weights)` with one element after the other.

    In training (`weighted`), an element counts as many times as it has rows. How many elements
    there are is known before only where it is said.
    """

    counts = "steps"
    is_dataset = True

    def __init__(
        self,
        dataset: Dataset,
        run: Callable[..., Any],
        steps: int | None,
        restarts: bool,
        weighted: bool,
    ) -> None:
        self._dataset, self._run, self._restarts = dataset, run, restarts
        self.steps, self.weighted = steps, weighted
        self.total = steps
        self._iterator = iter(dataset)

    def restart(self) -> None:
        """Starts the dataset again, unless an epoch goes on where the last one ended."""
        if self._restarts:
            self._iterator = iter(self._dataset)

    def epoch(self) -> Generator[Step]:
        number = 0
        while self.steps is None or number < self.steps:
            try:
                parts = elements(self._iterator)
            except (errors.OutOfRangeError, StopIteration):
                raise OutOfData from None
            size = int(nest.flatten(parts)[0].shape[0])
            weight = size if self.weighted else 1
            yield Step(functools.partial(self._run, *parts), size, number, weight)
            number += 1

    def close(self, timeout: float | None = None) -> None:
        """Does nothing: iterators need no end."""


def elements(dataset_or_iterator: Any) -> tuple[Any, Any, Any]:
    """(inputs, targets, weights) of the next element; None for those it has not."""
    found = _next(dataset_or_iterator)
    if not isinstance(found, (list, tuple)):
        return found, None, None
    if len(found) not in (2, 3):
        raise ValueError(
            "Please provide model inputs as a list or tuple of 2 or 3 elements: (input, target) or "
            f"(input, target, sample_weights) Received {found}"
        )
    return (*found, None) if len(found) == 2 else tuple(found)  # type: ignore[return-value]


def steps_of(dataset: Dataset, steps_name: str) -> int | None:
    """The number of batches in an epoch, if it can be known."""
    size = int(get_value(cardinality(dataset)))
    if size == _INFINITE:
        raise ValueError(
            "When passing an infinitely repeating dataset, you must specify the "
            f"`{steps_name}` argument."
        )
    return size if size >= 0 else None
