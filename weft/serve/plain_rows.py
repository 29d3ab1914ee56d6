"""What is asked most, by the shortest way: rows of floats in, rows of floats out.

Requests that are not so plain, and all that is wrong, are left to `json_requests`, `inference` and
`json_text`. What is read and written here is what they would read and write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.client.feeds import fits
from weft.graph.tensor import Tensor
from weft.serve import json_requests, json_text
from weft.serve.servable import Servable
from weft.serve.signatures import Signature


class PlainRows:
    """A signature with one input and one output, both floats, of a version without batching."""

    def __init__(self, servable: Servable, signature: Signature) -> None:
        (self._input,), (self._output,) = signature.inputs.values(), signature.outputs.values()
        self._servable = servable
        fed, fetched = servable.tensor(self._input.tensor), servable.tensor(self._output.tensor)
        self._dims = fed.dims
        self._call = servable.session._make_callable([fetched], [fed], False, _as_it_is)

    def read(self, document: dict[str, Any]) -> np.ndarray | None:
        """The input; None if the request is more than rows of floats, or they cannot be fed."""
        rows = document.get("instances")
        if not rows or type(rows) is not list or "inputs" in document:
            return None
        array = json_requests.matrix(rows, self._input.dtype)
        fit = array is None or self._dims is None or fits(self._dims, array.shape)
        return array if fit else None

    def answer(self, array: np.ndarray, deadline: float | None) -> str:
        """The response to a request that has been read."""
        (value,) = self._servable.call(self._call, (array,), deadline)
        dtype, alias = self._output.dtype, self._output.alias
        if value.ndim != 2 or not value.size:
            return json_text.rows([(alias, value, dtype)])
        return json_text.matrix(value, dtype)


def _as_it_is(tensor: Tensor, value: np.ndarray) -> np.ndarray:
    """A value that is of the tensor's type, fits, and is the step's own."""
    return value


def learn(servable: Servable, key: str, signature: Signature) -> None:
    """Finds the shortest way through a signature that a request calls `key`, if it has one."""
    ways = servable.plain_rows
    if key in ways:
        return
    ends = [*signature.inputs.values(), *signature.outputs.values()]
    plain = servable.batcher is None and len(signature.inputs) == len(signature.outputs) == 1
    plain = plain and all(slot.tensor and slot.dtype.name in json_text.FLOATS for slot in ends)
    ways[key] = PlainRows(servable, signature) if plain else None
