# Written by `make stubs` from weft/api/keras/applications/inception_v3.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.inception_v3 import preprocess_input as preprocess_input
def InceptionV3(include_top: _builtins.bool = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _builtins.str | None = None, classes: _builtins.int = 1000) -> _Any: ...
