"""Settings of Keras as a whole: the type of floats, the fuzz factor, where channels are."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np


def _configured() -> dict[str, Any]:
    """The defaults, and what the user's keras.json says instead."""
    settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(home, "keras.json")) as file:
            given = json.load(file)
    except (OSError, ValueError):
        return settings
    return settings | {key: given[key] for key in settings if key in given}


_settings: dict[str, Any] = _configured()


def backend() -> str:
    """The name of the backend: always "tensorflow"."""
    return "tensorflow"


def floatx() -> str:
    """The name of the type that floats have by default."""
    return _settings["floatx"]


def set_floatx(value: str) -> None:
    """Sets the floating-point type that layers have unless they say otherwise."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError("Unknown floatx type: " + str(value))
    _settings["floatx"] = str(value)


def epsilon() -> float:
    """The small number that keeps divisions and logarithms finite."""
    return _settings["epsilon"]


def set_epsilon(value: float) -> None:
    """Sets the small number that keeps Keras from dividing by zero."""
    _settings["epsilon"] = value


def image_data_format() -> str:
    """The place of the channels in images: "channels_first" or "channels_last"."""
    return _settings["image_data_format"]


def set_image_data_format(data_format: str) -> None:
    """Sets where channels are unless a layer says: "channels_last" or "channels_first"."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Unknown data_format: " + str(data_format))
    _settings["image_data_format"] = str(data_format)


def standard_data_format(data_format: str | None) -> str:
    """`data_format`, or the one that is set where it is None."""
    data_format = image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format: " + str(data_format))
    return data_format


def cast_to_floatx(x: Any) -> Any:
    """`x` as an array (or tensor, if it is one) of floats of the default type."""
    from weft.graph.tensor_util import is_tensor
    from weft.ops.math import casts

    return casts.cast(x, floatx()) if is_tensor(x) else np.asarray(x, dtype=floatx())
