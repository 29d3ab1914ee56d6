"""Losses of sequences, given a function that takes labels and logits by position.

Until 1.0 such a function was called with (logits, labels), in 1.0 with (labels, logits), since
then by these names.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

import weft
from weft.legacy.old import notices

_GIVEN = "softmax_loss_function"


def _by_name(function: Callable[..., Any], loss: str) -> Callable[..., Any]:
    """The function, as one that is called with `labels` and `logits`."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return function
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    if takes_all or parameters.keys() >= {"labels", "logits"} or len(parameters) < 2:
        return function
    first = next(iter(parameters))
    has_labels_first = "label" in first or "target" in first
    order = "labels, logits" if has_labels_first else "logits, labels"
    notices.tell_of(f"tensorflow.{loss}", f"with a function of ({order})", "its order")

    def named(labels: Any, logits: Any) -> Any:
        return function(labels, logits) if has_labels_first else function(logits, labels)

    return named


def _taking_both(name: str) -> Callable[..., Any]:
    """A loss of `weft`, by its name, that takes functions of today and of then."""
    loss = operator.attrgetter(name)(weft)
    place = list(inspect.signature(loss).parameters).index(_GIVEN)

    @functools.wraps(loss)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get(_GIVEN) is not None:
            kwargs[_GIVEN] = _by_name(kwargs[_GIVEN], name)
        elif len(args) > place and args[place] is not None:
            args = (*args[:place], _by_name(args[place], name), *args[place + 1 :])
        return loss(*args, **kwargs)

    return call


legacy_model_with_buckets = _taking_both("contrib.legacy_seq2seq.model_with_buckets")
legacy_sequence_loss = _taking_both("contrib.legacy_seq2seq.sequence_loss")
legacy_sequence_loss_by_example = _taking_both("contrib.legacy_seq2seq.sequence_loss_by_example")
sequence_loss = _taking_both("contrib.seq2seq.sequence_loss")
