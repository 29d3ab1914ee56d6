"""Arrays as users give them, made into one list in the order that a model expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.core import nest
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.graph.tensor_util import is_tensor
from weft.lib.keras import losses
from weft.lib.keras.engine.training_losses import check_keys
from weft.lib.platform import tf_logging as logging
from weft.lib.ragged.tensor import RaggedTensor
from weft.lib.ragged.value import RaggedTensorValue
from weft.ops.array import array

_COMPOSITES = (SparseTensor, SparseTensorValue, RaggedTensor, RaggedTensorValue)


def is_composite(x: Any) -> bool:
    return isinstance(x, _COMPOSITES)


def has_tensors(x: Any) -> bool:
    if isinstance(x, Mapping):
        x = list(x.values())
    return any(is_tensor(each) for each in (x if isinstance(x, (list, tuple)) else [x]))


def as_arrays(
    data: Any, names: list[str], shapes: Any, kind: str, check_batch_axis: bool = False
) -> list[Any]:
    """`data` as one array for each of `names`; checked against `shapes` where these are given."""
    if not names:
        if not isinstance(data, dict) and _length(data):
            raise ValueError(f"Error when checking model {kind}: expected no data, but got:", data)
        return []
    if data is None:
        return [None] * len(names)
    found = [_column(x) for x in _listed(data, names)]
    if shapes is None:
        shapes = [None] * len(names)
    elif len(found) > len(names):
        # As TensorFlow, which says nothing.
        logging.warning(f"The model has the {kind}s {names}: further arrays are not used.")
        found = found[: len(names)]
    if len(found) == len(names):
        found = [_with_axis(x, shape) for x, shape in zip(found, shapes, strict=True)]
    else:
        found = _check_count(found, names, kind)
    for x, name, shape in zip(found, names, shapes, strict=True):
        if shape is not None and x is not None:
            _check_shape(x, name, shape, kind, check_batch_axis)
    return found


def _length(data: Any) -> int:
    return len(data) if hasattr(data, "__len__") else 0


def _listed(data: Any, names: list[str]) -> list[Any]:
    if isinstance(data, dict):
        return _by_name(data, names)
    if not isinstance(data, (list, tuple)):
        return [data]
    match data:
        case [list() | tuple(), *_]:
            return [np.asarray(each) for each in data]
        case [float() | int(), *_] if len(names) == 1:
            return [np.asarray(data)]
    return list(data)


def _by_name(data: dict[str, Any], names: list[str]) -> list[Any]:
    try:
        return [data[name] for name in names]
    except KeyError as error:
        raise ValueError(
            f'No data provided for "{error.args[0]}". Need data for each key in: {names}'
        ) from None


def _column(x: Any) -> Any:
    """The values of a table of pandas, as an array."""
    return x.values if type(x).__name__ in ("DataFrame", "Series") else x


def _with_axis(x: Any, shape: Any) -> Any:
    """One number for each sample becomes a row of one, unless numbers are expected."""
    if isinstance(x, int):
        raise ValueError(f"Expected an array data type but received an integer: {x}")
    is_array = hasattr(x, "shape") and not is_composite(x)
    if not is_array or (shape is not None and len(shape) == 1):
        return x
    if is_tensor(x):
        return array.expand_dims(x, axis=1) if x.shape.ndims == 1 else x
    return np.expand_dims(x, 1) if len(x.shape) == 1 else x


def _check_count(data: list[Any], names: list[str], kind: str) -> list[Any]:
    """Raises, unless a list of numbers was meant as one array."""
    where, shown = f"Error when checking model {kind}: ", str(data)[:200]
    if data and hasattr(data[0], "shape"):
        raise ValueError(
            f"{where}the list of Numpy arrays that you are passing to your model is not the size "
            f"the model expected. Expected to see {len(names)} array(s), but instead got the "
            f"following list of {len(data)} arrays: {shown}..."
        )
    if len(names) == 1:
        return [np.asarray(data)]
    raise ValueError(
        f"{where}you are passing a list as input to your model, but the model expects a list of "
        f"{len(names)} Numpy arrays instead. The list you passed was: {shown}"
    )


def _check_shape(x: Any, name: str, shape: Any, kind: str, check_batch_axis: bool) -> None:
    if not hasattr(x, "shape"):
        raise TypeError(
            f"Error when checking model {kind}: data should be a Numpy array, or list/dict of Numpy"
            f" arrays. Found: {str([x])[:200]}..."
        )
    if isinstance(x, SparseTensorValue):
        found = tuple(x.dense_shape)
    elif is_tensor(x) or is_composite(x):
        if x.shape is None or (not isinstance(x.shape, tuple) and x.shape.ndims is None):
            return
        found = tuple(x.shape if isinstance(x.shape, tuple) else x.shape.as_list())
    else:
        found = x.shape
    if len(found) != len(shape):
        raise ValueError(
            f"Error when checking {kind}: expected {name} to have {len(shape)} dimensions, but got "
            f"array with shape {found}"
        )
    if not check_batch_axis:
        found, shape = found[1:], tuple(shape[1:])
    if any(None not in (a, b) and a != b for a, b in zip(found, shape, strict=True)):
        raise ValueError(
            f"Error when checking {kind}: expected {name} to have shape {shape} but got array with "
            f"shape {found}"
        )


# ---- weights ----


def weights_per_output(given: Any, names: list[str], kind: str) -> list[Any]:
    """`sample_weight` or `class_weight`, one for each output."""
    is_list = isinstance(given, (list, tuple))
    if given is None or (is_list and not given):
        return [None for _ in names]
    if len(names) == 1:
        return [_weights_of_only(given, names[0])]
    if is_list:
        if len(given) == len(names):
            return list(given)
        raise ValueError(
            f"Provided `{kind}` was a list of {len(given)} elements, but the model has "
            f"{len(names)} outputs. You should provide one `{kind}`array per model output."
        )
    if isinstance(given, Mapping):
        check_keys(kind, given, names)
        return [given.get(name) for name in names]
    raise TypeError(
        f"The model has multiple outputs, so `{kind}` should be either a list or a dict. Provided "
        f"`{kind}` type not understood: {given}"
    )


def _weights_of_only(given: Any, name: str) -> Any:
    """The weights of the only output there is, which may be in a list or by name."""
    match given:
        case [one] if isinstance(given, (list, tuple)):
            return one
        case dict() if name in given:
            return given[name]
    return given


def sample_weights_of(y: Any, sample_weight: Any, class_weight: Any, mode: str | None) -> Any:
    """The weights of the samples of one output: those given times those of their classes."""
    if isinstance(sample_weight, tuple):
        sample_weight = sample_weight[0]
    if isinstance(sample_weight, list):
        sample_weight = np.asarray(sample_weight)
    sample_weight = _column(sample_weight)
    _check_weights(y, sample_weight, mode)
    by_class = _weights_of_classes(y, class_weight) if isinstance(class_weight, dict) else None
    if by_class is None or sample_weight is None:
        return by_class if sample_weight is None else sample_weight
    return by_class * sample_weight


# What to do about weights of a wrong rank, without and with weights for steps of time.
_WRONG_RANK = (
    'timestep-wise sample weights, you should specify sample_weight_mode="temporal" in compile(). '
    "If you just mean to use sample-wise weights, make sure your sample_weight array is 1D.",
    "timestep-wise sample weighting, you should pass a 2D sample_weight array.",
)


def _check_weights(y: Any, weights: Any, mode: str | None) -> None:
    temporal = mode == "temporal"
    if not temporal and mode not in (None, "samplewise"):
        raise ValueError(f'"sample_weight_mode should be None or "temporal". Found: {mode}')
    if temporal and len(y.shape) < 3:
        raise ValueError(
            f"Found a sample_weight array for an input with shape {y.shape}. Timestep-wise sample "
            'weighting (use of sample_weight_mode="temporal") is restricted to outputs that are at '
            "least 3D, i.e. that have a time dimension."
        )
    if weights is None:
        return
    rank = len(weights.shape)
    if rank != (2 if temporal else 1):
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape}. In order to use "
            f"{_WRONG_RANK[temporal]}"
        )
    if rank > len(y.shape):
        raise ValueError(
            f"Found a sample_weight with shape{weights.shape}.Expected sample_weight with rank less"
            f" than or equal to {len(y.shape)}"
        )
    if not is_tensor(weights) and y.shape[:rank] != weights.shape:
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape} for an input with shape "
            f"{y.shape}. sample_weight cannot be broadcast."
        )


def _weights_of_classes(y: Any, class_weight: dict[Any, float]) -> np.ndarray:
    if len(y.shape) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    classes = y
    if len(y.shape) == 2:
        classes = np.argmax(y, axis=1) if y.shape[1] > 1 else np.reshape(y, y.shape[0])
    missing = set(classes.tolist()) - set(class_weight)
    if missing:
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes "
            f"{missing} exist in the data but not in `class_weight`."
        )
    return np.asarray([class_weight[each] for each in classes.tolist()])


# ---- checks ----


def check_lengths(inputs: Any, targets: Any, weights: Any) -> None:
    """All arrays must have as many samples."""
    x, y, w = _lengths(inputs), _lengths(targets), _lengths(weights)
    for found, arrays, what in (
        (x, inputs, "input arrays (x)"),
        (y, targets, "target arrays (y)"),
        (w, weights, "sample_weight arrays"),
    ):
        if len(found) > 1:
            raise ValueError(
                f"All {what} should have the same number of samples. Got array shapes: "
                f"{[each.shape for each in arrays]}"
            )
    if x and y and x != y:
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. Found "
            f"{min(x)} input samples and {min(y)} target samples."
        )
    if y and w and y != w:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. Got "
            f"{min(y)} input samples and {min(w)} target samples."
        )


def _lengths(arrays: Any) -> set[int]:
    return {
        each.shape[0]
        for each in nest.flatten(arrays)
        if each is not None and not is_tensor(each) and not is_composite(each)
    }


def check_targets(targets: list[Any], loss_fns: list[Any], shapes: list[Any]) -> None:
    """Losses that compare element by element want targets like the output."""
    alike = (losses.mean_squared_error, losses.binary_crossentropy, losses.categorical_crossentropy)
    for y, loss, shape in zip(targets, loss_fns, shapes, strict=False):
        if y is None or loss is None or is_tensor(y):
            continue
        if losses.is_categorical_crossentropy(loss) and y.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {y.shape} while using as loss "
                "`categorical_crossentropy`. `categorical_crossentropy` expects targets to be "
                "binary matrices (1s and 0s) of shape (samples, classes). If your targets are "
                "integer classes, you can convert them to the expected format via:\n```\nfrom "
                "keras.utils import to_categorical\ny_binary = to_categorical(y_int)\n```\n\n"
                "Alternatively, you can use the loss function `sparse_categorical_crossentropy` "
                "instead, which does expect integer targets."
            )
        if getattr(loss, "fn", None) in alike and shape is not None:
            for found, wanted in zip(y.shape[1:], shape[1:], strict=False):
                if wanted is not None and found != wanted:
                    raise ValueError(
                        f"A target array with shape {y.shape} was passed for an output of shape "
                        f"{shape} while using as loss `{loss.name or loss.fn.__name__}`. This loss "
                        "expects targets to have the same shape as the output."
                    )


# ---- parts ----


def sliced(arrays: list[Any], start: Any, stop: int | None = None) -> list[Any]:
    """The samples from `start` to `stop`, or those whose numbers `start` is an array of."""
    if isinstance(start, np.ndarray):
        rows: Any = start
    else:
        rows = slice(start, stop)
    return [None if x is None else _rows(x, rows) for x in arrays]


def _rows(x: Any, rows: Any) -> Any:
    if isinstance(x, bool):  # the learning phase, which has no samples
        return x
    if isinstance(x, Tensor) and isinstance(rows, np.ndarray):
        return x[int(rows[0]) : int(rows[-1]) + 1]
    # Files that are read piece by piece take lists only.
    return x[rows] if isinstance(x, np.ndarray) or isinstance(rows, slice) else x[rows.tolist()]


def split(parts: tuple[Any, Any, Any], fraction: float) -> tuple[Any, Any]:
    """(what is to train on, the last `fraction` of all to validate on), each like `parts`."""
    x = nest.flatten(parts[0])
    if has_tensors(x):
        raise ValueError(
            "If your data is in the form of symbolic tensors, you cannot use `validation_split`."
        )
    count = x[0].shape[0] if hasattr(x[0], "shape") else len(x[0])
    at = int(count * (1.0 - fraction))
    return tuple(_part(p, 0, at) for p in parts), tuple(_part(p, at, None) for p in parts)


def _part(arrays: Any, start: int, stop: int | None) -> Any:
    if isinstance(arrays, dict):
        return dict(zip(arrays, sliced(list(arrays.values()), start, stop), strict=True))
    return sliced(arrays, start, stop) if arrays else arrays
