"""Results of input functions, taken apart into features and labels."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.graph.graph import GraphKeys, get_collection
from weft.graph.tensor import Tensor
from weft.lib.train.sessions.session_run_hook import SessionRunHook


class DatasetInitializerHook(SessionRunHook):
    """Initializes the iterator over a dataset in every session that is made."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """(features, labels, hooks) of tensors, or of a dataset of them."""
    hooks: list[SessionRunHook] = []
    if hasattr(result, "make_initializable_iterator"):
        iterator = result.make_initializable_iterator()
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return (*parse_iterator_result(result), hooks)


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """(features, labels); labels are None where there are features alone."""
    several = isinstance(result, (list, tuple))
    if several and len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    features, labels = result if several else (result, None)
    return features, labels


def ends(features: Any) -> bool:
    """Whether features can come to an end: they are from a dataset or a queue."""
    tensors = [each for each in nest.flatten(features) if isinstance(each, Tensor)]
    from_dataset = any(tensor.op.type == "IteratorGetNext" for tensor in tensors)
    return from_dataset or bool(get_collection(GraphKeys.QUEUE_RUNNERS))
