"""The signatures of a loaded model, looked up once: aliases, tensors, types and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import sizes_in
from weft.serve.errors import invalid, precondition
from weft.serve.tensors import check_type

DEFAULT = "serving_default"


@dataclass(frozen=True)
class Slot:
    """One input or output. `dims` is None where even the rank is open."""

    alias: str
    tensor: str
    dtype: DType
    dims: tuple[int | None, ...] | None


@dataclass(frozen=True)
class Signature:
    """Named inputs and outputs. `info` is the SignatureDef."""

    key: str
    method: str
    inputs: dict[str, Slot]
    outputs: dict[str, Slot]
    info: Any

    def slots_of(self, aliases: tuple[str, ...]) -> list[Slot]:
        """The outputs of these aliases, or all of them if there is none."""
        if not aliases:
            return list(self.outputs.values())
        for alias in aliases:
            if alias not in self.outputs:
                raise invalid(
                    f"output tensor alias not found in signature: {alias} Outputs expected to be in"
                    f" the set {{{','.join(sorted(self.outputs))}}}."
                )
            if aliases.count(alias) > 1:
                raise invalid(f"duplicate output tensor alias: {alias}")
        return [self.outputs[alias] for alias in aliases]

    def feeds(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Tensor -> array, checked, of alias -> array."""
        if given.keys() != self.inputs.keys():
            self._refuse(set(given))
        found = {}
        for position, (alias, slot) in enumerate(self.inputs.items()):
            if not slot.tensor:
                raise invalid(f"The input {alias} consists of several tensors: it has no one name")
            check_type(position, given[alias], slot.dtype)
            found[slot.tensor] = given[alias]
        return found

    def _refuse(self, given: set[str]) -> None:
        wanted = set(self.inputs)
        if len(given) == len(wanted):
            raise invalid(
                f"input tensor alias not found in signature: {min(given - wanted)}. Inputs expected"
                f" to be in the set {{{','.join(sorted(wanted))}}}."
            )

        def listed(names: set[str]) -> str:
            return f"{{{','.join(sorted(names))}}}"

        raise invalid(
            f"input size does not match signature: {len(given)}!={len(wanted)} len({listed(given)})"
            f" != len({listed(wanted)}). Sent extra: {listed(given - wanted)}. Missing but"
            f" required: {listed(wanted - given)}."
        )


def read_signatures(meta_graph: Any) -> dict[str, Signature]:
    """The signatures that can be called, by key; those that only name an operation are not."""
    return {
        key: Signature(key, info.method_name, _slots(info.inputs), _slots(info.outputs), info)
        for key, info in sorted(meta_graph.signature_def.items())
        if not key.startswith("__saved_model_")
    }


def _slots(infos: Any) -> dict[str, Slot]:
    return {
        alias: Slot(alias, info.name, dtypes.as_dtype(info.dtype or 1), _dims(info.tensor_shape))
        for alias, info in sorted(infos.items())
    }


def _dims(shape: Any) -> tuple[int | None, ...] | None:
    if shape.unknown_rank:
        return None
    return tuple([size if size >= 0 else None for size in sizes_in(shape)])


def find(signatures: dict[str, Signature], key: str) -> Signature:
    """The signature of a Predict request."""
    found = signatures.get(key or DEFAULT)
    if found is None:
        raise precondition(f'Serving signature key "{key or DEFAULT}" not found.')
    return found
