"""K.function: inputs in, outputs out, variables updated on the way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.client.feeds import to_array
from weft.client.session import Session
from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor_util import is_tensor
from weft.lib.keras.backend.session import get_session
from weft.lib.keras.backend.symbolic import eager_program
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.state.updates import assign
from weft.ops.state.variables import Variable


class Function:
    """Runs a part of the graph. An input of None is not fed; one that is a tensor is run first.

    `fetches` may be appended to between calls; what `fetch_callbacks` has for a fetch is called
    with its value.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        updates: Any = None,
        name: str | None = None,
        feed_dict: dict[Any, Any] | None = None,
        fetches: Any = (),
        options: Any = None,
        run_metadata: Any = None,
    ) -> None:
        if updates is not None and not isinstance(updates, (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.name = name
        self.inputs = nest.flatten(inputs, expand_composites=True)
        self._outputs_structure = outputs
        self.outputs = [_value(x) for x in nest.flatten(outputs, expand_composites=True)]
        with control_dependencies(self.outputs[:1]):
            self.updates_op = control.group(*[_update(u) for u in updates or ()])
        self.feed_dict = feed_dict
        fetched = fetches if isinstance(fetches, (list, tuple)) else [fetches]
        self.fetches = [array.identity(x) for x in fetched]
        self.run_options, self.run_metadata = options, run_metadata
        self.fetch_callbacks: dict[Any, Callable[[Any], None]] = {}
        # (what it is for, a callable): one value, since several threads may call the function.
        self._ready: tuple[Any, Any] = (None, None)

    def __call__(self, inputs: Any) -> Any:
        given = nest.flatten(inputs, expand_composites=True)
        session = get_session((*given, *self.outputs, *self.inputs))
        # Inputs at the end, such as the learning phase, may be left out.
        fed = [(t, v) for t, v in zip(self.inputs, given, strict=False) if v is not None]
        fed += list((self.feed_dict or {}).items())
        values = _arrays(session, fed)
        run = self._prepared(session, tuple(tensor for tensor, _ in fed))
        results, extra, _ = run(*values, options=self.run_options, run_metadata=self.run_metadata)
        for fetch, value in zip(self.fetches, extra, strict=True):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return self._structured(session, results)

    def _prepared(self, session: Session, fed: tuple[Any, ...]) -> Any:
        key = (session, tuple(id(t) for t in fed), tuple(id(t) for t in self.fetches))
        made_for, made = self._ready
        if made_for != key:
            fetches = [self.outputs, self.fetches, self.updates_op]
            # As TensorFlow's, which lets labels have one axis less than their placeholder.
            made = session._make_callable(fetches, list(fed), True, to_array)
            self._ready = (key, made)
        return made

    def _structured(self, session: Session, results: list[Any]) -> Any:
        """`results` in the structure of the outputs; sparse outputs are of NumPy arrays."""
        flat = nest.flatten(self._outputs_structure)
        if all(is_tensor(x) and not hasattr(x, "dense_shape") for x in flat):
            return nest.pack_sequence_as(self._outputs_structure, results)
        packed = nest.pack_sequence_as(self._outputs_structure, results, expand_composites=True)
        return nest.map_structure(lambda x: session.run(x) if is_tensor(x) else x, packed)


def function(
    inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any
) -> Function:
    """A Python function that feeds `inputs`, computes `outputs`, and runs `updates`.

    Updates are operations, or pairs (variable, new value).
    """
    known = inspect.signature(Function).parameters
    for key in kwargs:
        if key not in known:
            raise ValueError(
                f'Invalid argument "{key}" passed to K.function with TensorFlow backend'
            )
    kind = Function
    if eager_program() is not None:
        from weft.lib.keras.backend.eager_function import EagerFunction

        kind = EagerFunction
    return kind(inputs, outputs, updates=updates, name=name, **kwargs)


def _value(x: Any) -> Any:
    return convert_to_tensor(x) if isinstance(x, Variable) else x


def _update(given: Any) -> Any:
    return assign(*given) if isinstance(given, tuple) else given


def _arrays(session: Session, fed: list[tuple[Any, Any]]) -> list[Any]:
    """The values to feed, of the types of the tensors they are for."""
    tensors = [value for _, value in fed if is_tensor(value)]
    computed = iter(session.run(tensors) if tensors else ())
    return [
        np.asarray(
            next(computed) if is_tensor(value) else value,
            dtype=tensor.dtype.base_dtype.as_numpy_dtype,
        )
        for tensor, value in fed
    ]
