"""ResNet50, ResNet101 and ResNet152."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import Application, application
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.residual import resnet


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Blue, green and red with mean 0, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="caffe")


@application
def ResNet50(chosen: Application) -> Any:
    """A residual network of 50 layers, for images of 224 x 224."""
    return resnet("resnet50", chosen)


@application
def ResNet101(chosen: Application) -> Any:
    """A residual network of 101 layers, for images of 224 x 224."""
    return resnet("resnet101", chosen)


@application
def ResNet152(chosen: Application) -> Any:
    """A residual network of 152 layers, for images of 224 x 224."""
    return resnet("resnet152", chosen)
