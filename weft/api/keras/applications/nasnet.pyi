# Written by `make stubs` from weft/api/keras/applications/nasnet.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.nasnet import NASNetLarge as NASNetLarge
from weft.lib.keras.applications.nasnet import NASNetMobile as NASNetMobile
from weft.lib.keras.applications.nasnet import preprocess_input as preprocess_input
