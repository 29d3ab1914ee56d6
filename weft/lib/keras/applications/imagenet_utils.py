"""Images as the models want them, and what the models say in words."""

from __future__ import annotations

import functools
import json
import warnings
from typing import Any

import numpy as np

from weft.graph.convert import convert_to_tensor
from weft.lib.keras import backend as K
from weft.lib.keras.utils.files import get_file
from weft.ops.math import casts

CLASS_INDEX_PATH = (
    "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
)
CLASS_INDEX_HASH = "c2c37ea517e94d9795004a39431a14cb"
# Of colours from 0 to 1; and, as Caffe has them, of blue, green and red from 0 to 255.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CAFFE_MEAN = (103.939, 116.779, 123.68)


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Colours from 0 to 255 on the scale that a model was trained with.

    "tf" is -1 to 1; "torch" is mean 0 and deviation 1; "caffe" is blue, green, red with mean 0. An
    array of floats is changed in place, where that is possible.
    """
    data_format = data_format or K.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format {data_format}")
    if isinstance(x, np.ndarray):
        if not np.issubdtype(x.dtype, np.floating):
            x = x.astype(K.floatx())
    else:
        x = convert_to_tensor(x)
        x = x if x.dtype.is_floating else casts.cast(x, K.floatx())
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    channel = -1 if data_format == "channels_last" else -3
    if mode == "torch":
        x /= 255.0
        x -= _along(MEAN, channel, x)
        x /= _along(DEVIATION, channel, x)
        return x
    x = x[..., ::-1] if channel == -1 else x[..., ::-1, :, :]
    x -= _along(CAFFE_MEAN, channel, x)
    return x


def _along(values: tuple[float, ...], channel: int, x: Any) -> Any:
    """Values for the channels, of the type of `x`."""
    array = np.reshape(values, (3,) if channel == -1 else (3, 1, 1))
    dtype = x.dtype if isinstance(x, np.ndarray) else x.dtype.as_numpy_dtype
    return array.astype(dtype)


@functools.cache
def class_index() -> dict[str, list[str]]:
    """Number of a class -> its name in WordNet, and in English."""
    path = get_file(
        "imagenet_class_index.json",
        CLASS_INDEX_PATH,
        cache_subdir="models",
        file_hash=CLASS_INDEX_HASH,
    )
    with open(path) as file:
        return json.load(file)


def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """For each row, the `top` likeliest classes: (name in WordNet, in English, probability)."""
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape "
            f"(samples, 1000)). Found array with shape: {preds.shape}"
        )
    names = class_index()
    return [
        [(*names[str(i)], row[i]) for i in row.argsort()[-top:][::-1]]  # type: ignore[misc]
        for row in preds
    ]


def obtain_input_shape(
    input_shape: Any,
    default_size: int,
    min_size: int,
    require_flatten: bool,
    weights: Any = None,
) -> tuple[int | None, ...]:
    """The shape of a model's images: what was asked for, checked, or what is usual for it."""
    first = K.image_data_format() == "channels_first"
    channels = 3
    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        channels = input_shape[0 if first else -1]
        if channels not in (1, 3):
            warnings.warn(
                "This model usually expects 1 or 3 input channels. However, it was passed an "
                f"input_shape with {channels} input channels.",
                stacklevel=4,
            )
    default = _shape(first, channels, default_size)
    if weights == "imagenet" and require_flatten:
        if input_shape is not None and tuple(input_shape) != default:
            raise ValueError(
                "When setting `include_top=True` and loading `imagenet` weights, `input_shape` "
                f"should be {default}."
            )
        return default
    if not input_shape:
        return default if require_flatten else _shape(first, 3, None)
    _check_shape(input_shape, first, min_size, weights)
    if require_flatten and None in input_shape:
        raise ValueError(
            "If `include_top` is True, you should specify a static `input_shape`. Got "
            f"`input_shape={input_shape}`"
        )
    return tuple(input_shape)


def _shape(channels_first: bool, channels: int, size: int | None) -> tuple[int | None, ...]:
    return (channels, size, size) if channels_first else (size, size, channels)


def _check_shape(input_shape: Any, channels_first: bool, min_size: int, weights: Any) -> None:
    if len(input_shape) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    channels = input_shape[0 if channels_first else -1]
    if channels != 3 and weights == "imagenet":
        raise ValueError(f"The input must have 3 channels; got `input_shape={input_shape}`")
    sizes = input_shape[1:] if channels_first else input_shape[:-1]
    if any(size is not None and size < min_size for size in sizes):
        raise ValueError(
            f"Input size must be at least {min_size}x{min_size}; got `input_shape={input_shape}`"
        )
