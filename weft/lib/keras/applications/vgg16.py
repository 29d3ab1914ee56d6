"""VGG16."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications.common import Application
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.imagenet_utils import preprocess_input as preprocess_input
from weft.lib.keras.applications.vgg import vgg


def VGG16(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    """A network of 16 layers, for images of 224 x 224."""
    chosen = Application(include_top, weights, input_tensor, input_shape, pooling, classes)
    return vgg("vgg16", chosen)
