"""Iterators in eager execution: Python's own, over tensors that have values."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from weft.core.errors import OutOfRangeError
from weft.graph.op_def import raw
from weft.lib.data.structure import (
    OfElements,
    flat_tensor_shapes,
    flat_tensor_types,
    from_tensor_list,
)
from weft.lib.train.checkpoint.objects import Trackable
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec


class EagerIterator(OfElements, Trackable):
    """The elements of a dataset, from its beginning.

    Args:
        dataset: a `Dataset`.

    Raises:
        StopIteration: from `next`: there are no more elements.

    Example:
        >>> def first():
        ...     return next(tf.contrib.eager.Iterator(tf.data.Dataset.range(5, 7)))
        >>> int(session.run(tf.py_function(first, [], tf.int64)))
        5
    """

    def __init__(self, dataset: Any) -> None:
        applied = dataset._apply_options()
        self._dataset = applied  # with what its functions have captured
        self._element_spec = spec = dataset.element_spec
        self._structure = {
            "output_types": flat_tensor_types(spec), "output_shapes": flat_tensor_shapes(spec),
        }  # fmt: skip
        self._iterator_resource = raw.AnonymousIteratorV2(**self._structure)[0]
        raw.MakeIterator(applied._variant_tensor, self._iterator_resource)
        # A loop that is left early does not say so: threads that read ahead end with this object.
        weakref.finalize(self, _release, self._iterator_resource._array()).atexit = False

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self._next()
        except OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """The next element; OutOfRangeError if there is none."""
        return self._next()

    def _next(self) -> Any:
        found = raw.IteratorGetNextSync(self._iterator_resource, **self._structure)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        return from_tensor_list(self._element_spec, found)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"ITERATOR": lambda name: _Position(self._iterator_resource, name)}


def _release(resource: Any) -> None:
    """On a thread of its own: the collector may have called while this one holds a lock."""
    threading.Thread(target=resource.released, name="weft-data-release", daemon=True).start()


class _Position(SaveableObject):
    """The position of an iterator, as a checkpoint holds it."""

    def __init__(self, resource: Any, name: str) -> None:
        state = raw.SerializeIterator(resource)
        super().__init__(resource, [SaveSpec(state, "", f"{name}-state")], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return raw.DeserializeIterator(self.op, restored_tensors[0])
