# Written by `make stubs` from weft/api/keras/applications/densenet.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.densenet import DenseNet121 as DenseNet121
from weft.lib.keras.applications.densenet import DenseNet169 as DenseNet169
from weft.lib.keras.applications.densenet import DenseNet201 as DenseNet201
from weft.lib.keras.applications.densenet import preprocess_input as preprocess_input
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
