"""What requests ask of a version: predictions, classes, numbers. Arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.lib.saved_model import signature_constants as names
from weft.serve import signatures
from weft.serve.errors import invalid
from weft.serve.servable import Servable
from weft.serve.signatures import DEFAULT, Signature, Slot
from weft.serve.tensors import type_name

_MOST_QUESTIONS = 256  # that are kept with a version
Answer = list[tuple[str, np.ndarray, DType]]
"""(alias, value, type) of each output."""


@dataclass(frozen=True)
class Question:
    """A signature of a version and the outputs that are wanted of it, looked up once."""

    signature: Signature
    aliases: list[str]
    kinds: list[DType]
    fetches: tuple[str, ...]


def predict(
    servable: Servable,
    key: str,
    inputs: dict[str, np.ndarray],
    wanted: tuple[str, ...] = (),
    deadline: float | None = None,
) -> tuple[str, Answer]:
    """The signature's key, and the outputs that are wanted (or all of them)."""
    question = servable.questions.get((key, wanted)) or _question(servable, key, inputs, wanted)
    feeds = question.signature.feeds(inputs)
    values = servable.run(feeds, question.fetches, deadline)
    return question.signature.key, [*zip(question.aliases, values, question.kinds)]  # noqa: B905


def _question(
    servable: Servable, key: str, inputs: dict[str, np.ndarray], wanted: tuple[str, ...]
) -> Question:
    signature = signatures.find(servable.signatures, key)
    signature.feeds(inputs)  # what is wrong with them is told before what is wrong with `wanted`
    slots = signature.slots_of(wanted)
    aliases, kinds = [slot.alias for slot in slots], [slot.dtype for slot in slots]
    made = Question(signature, aliases, kinds, tuple(slot.tensor for slot in slots))
    if len(servable.questions) < _MOST_QUESTIONS:
        servable.questions[key, wanted] = made
    return made


# ---- examples -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Classes:
    """Labels and scores, [batch, classes]; at least one of them is there."""

    labels: np.ndarray | None
    scores: np.ndarray | None

    def rows(self) -> list[list[tuple[bytes, float]]]:
        """(label, score) of each class of each example."""
        one: Any = self.labels if self.labels is not None else self.scores
        labels = self.labels.tolist() if self.labels is not None else None
        scores = self.scores.tolist() if self.scores is not None else None
        batch, count = one.shape
        return [
            [
                (labels[i][c] if labels else b"", scores[i][c] if scores else 0.0)
                for c in range(count)
            ]
            for i in range(batch)
        ]


def classify(
    servable: Servable, key: str, examples: np.ndarray, deadline: float | None = None
) -> Classes:
    """Classes of serialized tf.Examples."""
    signature = _found(servable, key)
    slots = _class_slots(signature)
    values = _run(servable, [signature], slots, examples, deadline)
    return _classes(signature, values, len(examples))


def regress(
    servable: Servable, key: str, examples: np.ndarray, deadline: float | None = None
) -> np.ndarray:
    """One number for each serialized tf.Example."""
    signature = _found(servable, key)
    slots = _number_slots(signature)
    values = _run(servable, [signature], slots, examples, deadline)
    return _numbers(signature, values, len(examples))


def multi_inference(
    servable: Servable,
    tasks: Sequence[tuple[str, str]],
    examples: np.ndarray,
    deadline: float | None = None,
) -> list[Classes | np.ndarray]:
    """Several (signature, method) of the same examples, in one step."""
    chosen: list[Signature] = []
    slots: list[Slot] = []
    for key, method in tasks:
        signature = servable.signatures.get(key or DEFAULT)
        if signature in chosen:
            raise invalid(f"Duplicate evaluation of signature: {key or DEFAULT}")
        if signature is None:
            raise invalid(f"Requested signature not found in model graph: {key or DEFAULT}")
        chosen.append(signature)
        slots += _SLOTS.get(method, _unsupported(method))(signature)
    values = _run(servable, chosen, slots, examples, deadline)
    return [
        _RESULTS[method](signature, values, len(examples))
        for signature, (_, method) in zip(chosen, tasks, strict=True)
    ]


def _found(servable: Servable, key: str) -> Signature:
    signature = servable.signatures.get(key or DEFAULT)
    if signature is None:
        raise invalid(f"No signature was found with the name: {key or DEFAULT}")
    return signature


def _run(
    servable: Servable,
    chosen: Sequence[Signature],
    slots: Sequence[Slot],
    examples: np.ndarray,
    deadline: float | None,
) -> dict[str, np.ndarray]:
    """Tensor -> value, of all these slots."""
    fed = sorted({slot.tensor for each in chosen for slot in each.inputs.values()})
    fetched = sorted({slot.tensor for slot in slots})
    if not len(examples):
        raise invalid("Input is empty.")
    values = servable.run({name: examples for name in fed}, fetched, deadline)
    return dict(zip(fetched, values, strict=True))


def _unsupported(method: str) -> Any:
    def refuse(signature: Signature) -> Any:
        raise errors.UnimplementedError(None, None, f"Unsupported signature method_name: {method}")

    return refuse


# ---- classification -----------------------------------------------------------------------------


def _class_slots(signature: Signature) -> list[Slot]:
    if len(signature.inputs) != 1:
        raise invalid("Expected one input Tensor.")
    if len(signature.outputs) not in (1, 2):
        raise invalid(f"Expected one or two output Tensors, found {len(signature.outputs)}")
    _check_inputs(signature, "classification", names.CLASSIFY_INPUTS)
    keys = names.CLASSIFY_OUTPUT_CLASSES, names.CLASSIFY_OUTPUT_SCORES
    found = [signature.outputs[key] for key in keys if key in signature.outputs]
    if not found:
        raise invalid(
            "Expected classification signature outputs to contain at least one of"
            f' "{keys[0]}" or "{keys[1]}". Signature was: {signature.info}'
        )
    return found


def _classes(signature: Signature, values: dict[str, np.ndarray], count: int) -> Classes:
    labels = _matrix(signature, values, names.CLASSIFY_OUTPUT_CLASSES, dtypes.string, count)
    scores = _matrix(signature, values, names.CLASSIFY_OUTPUT_SCORES, dtypes.float32, count)
    if labels is not None and scores is not None and labels.shape[1] != scores.shape[1]:
        raise invalid(
            "Tensors class and score should match in dim_size(1). Got"
            f" {labels.shape[1]} vs. {scores.shape[1]}"
        )
    return Classes(labels, scores)


def _matrix(
    signature: Signature, values: dict[str, np.ndarray], alias: str, wanted: DType, count: int
) -> np.ndarray | None:
    slot = signature.outputs.get(alias)
    if slot is None:
        return None
    value = values[slot.tensor]
    if value.ndim != 2:
        raise invalid(f"Expected Tensor shape: [batch_size num_classes] but got {_shown(value)}")
    if slot.dtype is not wanted:
        raise invalid(
            f"Expected {alias} Tensor of {_enum_name(wanted)}. Got: {_enum_name(slot.dtype)}"
        )
    if len(value) != count:
        raise invalid(f"Expected {alias} output batch size of {count}. Got: {len(value)}")
    return value


# ---- regression ---------------------------------------------------------------------------------


def _number_slots(signature: Signature) -> list[Slot]:
    if len(signature.inputs) != 1:
        raise invalid("Expected one input Tensor.")
    if len(signature.outputs) != 1:
        raise invalid("Expected one output Tensor.")
    _check_inputs(signature, "regression", names.REGRESS_INPUTS)
    if names.REGRESS_OUTPUTS not in signature.outputs:
        raise invalid(f"No regression outputs found in SignatureDef: {signature.info}")
    return [signature.outputs[names.REGRESS_OUTPUTS]]


def _numbers(signature: Signature, values: dict[str, np.ndarray], count: int) -> np.ndarray:
    slot = signature.outputs[names.REGRESS_OUTPUTS]
    value = values[slot.tensor]
    if value.ndim != 1 and not (value.ndim == 2 and value.shape[1] == 1):
        raise invalid(
            "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got"
            f" {_shown(value)}"
        )
    if len(value) != count:
        raise invalid(f"Input batch size did not match output batch size: {count} vs. {len(value)}")
    if slot.dtype is not dtypes.float32:
        raise invalid(
            f"Expected output Tensor of DT_FLOAT.  Got: DT_{type_name(slot.dtype).upper()}"
        )
    return value.reshape(-1)


_SLOTS = {names.CLASSIFY_METHOD_NAME: _class_slots, names.REGRESS_METHOD_NAME: _number_slots}
_RESULTS: dict[str, Any] = {
    names.CLASSIFY_METHOD_NAME: _classes,
    names.REGRESS_METHOD_NAME: _numbers,
}


# ---- what both check ----------------------------------------------------------------------------


def _check_inputs(signature: Signature, kind: str, alias: str) -> None:
    if alias not in signature.inputs:
        raise invalid(f"No {kind} inputs found in SignatureDef: {signature.info}")


def _shown(value: np.ndarray) -> str:
    return f"[{','.join(map(str, value.shape))}]"


def _enum_name(dtype: DType) -> str:
    return f"DT_{type_name(dtype).upper()}"
