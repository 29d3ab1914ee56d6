"""ResNet50V2, ResNet101V2 and ResNet152V2."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import Application, application
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.residual import resnet


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


@application
def ResNet50V2(chosen: Application) -> Any:
    """A residual network of 50 layers, for images of 224 x 224."""
    return resnet("resnet50v2", chosen)


@application
def ResNet101V2(chosen: Application) -> Any:
    """A residual network of 101 layers, for images of 224 x 224."""
    return resnet("resnet101v2", chosen)


@application
def ResNet152V2(chosen: Application) -> Any:
    """A residual network of 152 layers, for images of 224 x 224."""
    return resnet("resnet152v2", chosen)
