"""tf.keras.applications.resnet_v2: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.resnet_v2 import (
    preprocess_input as preprocess_input,
    ResNet101V2 as ResNet101V2,
    ResNet152V2 as ResNet152V2,
    ResNet50V2 as ResNet50V2,
)
