"""`SessionRun`: any tensors of the graph, as far as that leaves the model as it is.

Whoever may ask a model must not be able to change it for all others: a step that would assign
variables, read files or do anything else that lasts is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.serve import tensors
from weft.serve.effects import lasting_effect
from weft.serve.errors import invalid
from weft.serve.servable import Servable
from weft.serve.signatures import DEFAULT

_MOST_FETCHES = 1024


def session_run(
    servable: Servable, request: Any, deadline: float | None
) -> list[tuple[str, np.ndarray, DType]]:
    """(name as it was asked for, value, type) of each fetch."""
    if request.target:
        raise _refused("a target")
    if not request.fetch:
        raise invalid("Must specify at least one target to fetch or execute.")
    if len(request.fetch) > _MOST_FETCHES:
        raise invalid(
            f"{len(request.fetch)} fetches are more than the {_MOST_FETCHES} of a request"
        )
    named = _aliases(servable, request) if request.tensor_name_is_alias else {}
    feeds: dict[str, Any] = {}
    for each in request.feed:
        array = tensors.read(each.name, each.tensor)
        tensor = servable.tensor(named.get(each.name, each.name))
        tensors.check_type(len(feeds), array, tensor.dtype.base_dtype)
        feeds[tensor.name] = array
    fetched = [servable.tensor(named.get(name, name)) for name in request.fetch]
    _check_harmless(servable, fetched, feeds)
    values = servable.run_alone(feeds, [tensor.name for tensor in fetched], deadline)
    kinds = [tensor.dtype.base_dtype for tensor in fetched]
    return list(zip(request.fetch, values, kinds, strict=True))


def _aliases(servable: Servable, request: Any) -> dict[str, str]:
    key = request.model_spec.signature_name or DEFAULT
    signature = servable.signatures.get(key)
    if signature is None:
        raise invalid(f'Serving signature name: "{key}" not found in signature def')
    return {a: slot.tensor for a, slot in (signature.inputs | signature.outputs).items()}


def _check_harmless(servable: Servable, fetched: Sequence[Any], fed: Iterable[str]) -> None:
    """PermissionDeniedError if computing these would leave something behind."""
    key = tuple(tensor.name for tensor in fetched), tuple(sorted(fed))
    if key in servable.harmless:
        return
    effect = lasting_effect(servable.session.graph, [t.op for t in fetched], key[1])
    if effect:
        raise _refused(f"the operation {effect}")
    if len(servable.harmless) < _MOST_FETCHES:
        servable.harmless.add(key)


def _refused(what: str) -> errors.OpError:
    return errors.PermissionDeniedError(
        None, None, f"SessionRun must leave the model as it is, and {what} might not"
    )
