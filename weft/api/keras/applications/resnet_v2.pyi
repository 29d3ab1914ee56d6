# Written by `make stubs` from weft/api/keras/applications/resnet_v2.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.resnet_v2 import preprocess_input as preprocess_input
from weft.lib.keras.applications.resnet_v2 import ResNet101V2 as ResNet101V2
from weft.lib.keras.applications.resnet_v2 import ResNet152V2 as ResNet152V2
from weft.lib.keras.applications.resnet_v2 import ResNet50V2 as ResNet50V2
