"""The layer that is being called right now, on what, and whether for training."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class CallContext(threading.local):
    """The innermost layer whose `call` is running on this thread."""

    layer: Any = None
    inputs: Any = None
    in_call: bool = False
    # Whether a layer around this one is not to be trained.
    frozen: bool = False
    # What was passed as `training`, to be handed on to the layers inside.
    training: Any = None
    # There is no graph apart from the default one.
    in_keras_graph: bool = False

    @contextmanager
    def enter(self, layer: Any, inputs: Any, training: Any) -> Iterator[None]:
        before = (self.layer, self.inputs, self.in_call, self.frozen, self.training)
        self.layer, self.inputs, self.in_call, self.training = layer, inputs, True, training
        self.frozen = self.frozen or not layer.trainable
        try:
            yield
        finally:
            self.layer, self.inputs, self.in_call, self.frozen, self.training = before


_context = CallContext()


def call_context() -> CallContext:
    return _context
