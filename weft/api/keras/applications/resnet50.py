"""tf.keras.applications.resnet50: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.resnet import (
    preprocess_input as preprocess_input,
    ResNet50 as ResNet50,
)
