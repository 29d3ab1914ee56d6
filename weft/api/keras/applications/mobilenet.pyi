# Written by `make stubs` from weft/api/keras/applications/mobilenet.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.mobilenet import MobileNet as MobileNet
from weft.lib.keras.applications.mobilenet import preprocess_input as preprocess_input
