"""VGG19."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications.common import Application, application
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.imagenet_utils import preprocess_input as preprocess_input
from weft.lib.keras.applications.vgg import vgg


@application
def VGG19(chosen: Application) -> Any:
    """A network of 19 layers, for images of 224 x 224."""
    return vgg("vgg19", chosen)
