"""Lines of the LIBSVM format: a label, then features as "number:value"."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid

_KINDS = "{float, double, int32, int64}"


def _shape(c: ShapeContext) -> list[Dims]:
    lines = c.dims(0)
    width = None if lines is None else len(lines) + 1
    return [lines, (None, width), (None,), (width,)]


def _number(text: bytes, dtype: np.dtype[Any], what: str) -> Any:
    try:
        return dtype.type(float(text) if dtype.kind == "f" else int(text))
    except ValueError:
        raise invalid(f"{what} format incorrect: {text.decode()}") from None


def _feature(text: bytes, dtype: np.dtype[Any]) -> tuple[int, Any]:
    number, colon, value = text.partition(b":")
    if not colon:
        raise invalid(f'Invalid feature "{text.decode()}"')
    try:
        index = int(number)
        found = dtype.type(float(value) if dtype.kind == "f" else int(value))
    except ValueError:
        raise invalid(f"Feature format incorrect: {text.decode()}") from None
    if index < 0:
        raise invalid(f"Feature index should be >= 0, got {index}")
    return index, found


@op(
    "DecodeLibsvm", inputs="input: string",
    outputs="label: label_dtype, feature_indices: int64, feature_values: dtype, "
    "feature_shape: int64",
    attrs=f"dtype: {_KINDS} = float, label_dtype: {_KINDS} = int64, num_features: int >= 1",
    shape=_shape, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def decode_libsvm_(xp: Any, input: Any, *, dtype: Any, label_dtype: Any, num_features: int) -> Any:
    lines = np.asarray(input)
    kind, label_kind = (np.dtype(each.as_numpy_dtype) for each in (dtype, label_dtype))
    labels, indices, values = np.zeros(lines.shape, label_kind), [], []
    for place in np.ndindex(lines.shape):
        words = lines[place].split()
        if not words:
            number = np.ravel_multi_index(place, lines.shape) if place else 0
            raise invalid(f'No label found for input[{number}]: "{lines[place].decode()}"')
        labels[place] = _number(words[0], label_kind, "Label")
        for word in words[1:]:
            index, value = _feature(word, kind)
            indices.append([*place, index])
            values.append(value)
    width = lines.ndim + 1
    return (
        labels,
        np.array(indices, np.int64).reshape(-1, width),
        np.array(values, kind),
        np.array([*lines.shape, num_features], np.int64),
    )
