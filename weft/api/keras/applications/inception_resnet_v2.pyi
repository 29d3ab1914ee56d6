# Written by `make stubs` from weft/api/keras/applications/inception_resnet_v2.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.inception_resnet_v2 import InceptionResNetV2 as InceptionResNetV2
from weft.lib.keras.applications.inception_resnet_v2 import preprocess_input as preprocess_input
