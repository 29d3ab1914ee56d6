# Written by `make stubs` from weft/api/keras/applications/resnet.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.resnet import preprocess_input as preprocess_input
from weft.lib.keras.applications.resnet import ResNet101 as ResNet101
from weft.lib.keras.applications.resnet import ResNet152 as ResNet152
from weft.lib.keras.applications.resnet import ResNet50 as ResNet50
