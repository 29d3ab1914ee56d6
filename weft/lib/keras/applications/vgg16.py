"""VGG16."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications.common import Application, application
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.imagenet_utils import preprocess_input as preprocess_input
from weft.lib.keras.applications.vgg import vgg


@application
def VGG16(chosen: Application) -> Any:
    """A network of 16 layers, for images of 224 x 224."""
    return vgg("vgg16", chosen)
