# Written by `make stubs` from weft/api/keras/applications/resnet50.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.resnet import preprocess_input as preprocess_input
def ResNet50(include_top: _builtins.bool = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _builtins.str | None = None, classes: _builtins.int = 1000) -> _Any: ...
