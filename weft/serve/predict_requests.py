"""Predict requests read: the model, the inputs and the outputs that are wanted.

Clients ask a model for the same again and again. As they write it, a request with one input ends
with the input's numbers, and what stands before says all the rest: the model, the type, the shape
and every length. So a request of a known beginning and length is read by looking that up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.protos.serving import message
from weft.serve import tensors
from weft.serve.models import Spec, read_spec

_MOST_KEPT = 1024
_LONGEST = 1024  # bytes of a beginning that is worth keeping
_INVERTED = bytes(range(255, -1, -1))

Inputs = dict[str, np.ndarray]


class Heading(NamedTuple):
    """What a request says before its numbers, which begin at `start`."""

    spec: Spec
    wanted: tuple[str, ...]
    alias: str
    dtype: np.dtype
    shape: tuple[int, ...]
    start: int

    def inputs(self, data: bytes) -> Inputs:
        """The inputs of a request that begins so."""
        # A slice is memory of its own, in which numbers lie at addresses that suit them.
        return {self.alias: np.frombuffer(data[self.start :], self.dtype).reshape(self.shape)}


class Headings:
    """Reads requests; keeps the beginnings of those that end with the numbers of their input."""

    def __init__(self) -> None:
        self._starts: dict[int, int] = {}  # of the numbers, by the length of a request
        self._known: dict[bytes, Heading] = {}

    def read(self, data: bytes) -> Heading | Parsed:
        """The request; its tensors are yet to be read."""
        start = self._starts.get(len(data))
        known = None if start is None else self._known.get(data[:start])
        return known or Parsed(message("PredictRequest").FromString(data), self)

    def learn(self, data: bytes, request: Parsed, inputs: Inputs) -> None:
        """Keeps how a request with these inputs begins, if their numbers are all that follows."""
        if len(inputs) != 1 or request.wanted:
            return
        ((alias, array),) = inputs.items()
        start = len(data) - array.nbytes
        if not array.size or array.dtype not in tensors.NUMBERS or not 0 < start <= _LONGEST:
            return
        if self._starts.get(len(data), start) != start or not _ends_with(data, start, alias):
            return
        if len(self._known) >= _MOST_KEPT:
            self._known, self._starts = {}, {}
        made = Heading(request.spec, request.wanted, alias, array.dtype, array.shape, start)
        self._known[data[:start]] = made
        self._starts[len(data)] = start


class Parsed:
    """A request of an unknown beginning, as a message."""

    def __init__(self, request: Any, headings: Headings | None = None) -> None:
        self._request, self._headings = request, headings
        self.spec = read_spec(request.model_spec)
        self.wanted = tuple(request.output_filter)

    def inputs(self, data: bytes) -> Inputs:
        """As `Heading.inputs`. InvalidArgumentError if one of them is no tensor."""
        found = read_inputs(self._request)
        if self._headings is not None:
            self._headings.learn(data, self, found)
        return found


def read_inputs(request: Any) -> Inputs:
    """The inputs of a PredictRequest."""
    given = request.inputs
    return {alias: tensors.read(alias, given[alias]) for alias in given}


def _ends_with(data: bytes, start: int, alias: str) -> bool:
    """Whether numbers are all there is from `start` on: every bit there is one of theirs."""
    other = data[start:].translate(_INVERTED)
    try:
        request = message("PredictRequest").FromString(data[:start] + other)
        return read_inputs(request)[alias].tobytes() == other
    except Exception:  # so it was no number that changed
        return False
