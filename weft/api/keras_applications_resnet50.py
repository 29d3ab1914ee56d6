"""tf.keras.applications.resnet50: public names, re-exported from where they are made."""

from weft.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.keras.applications.resnet import (
    preprocess_input as preprocess_input,
    ResNet50 as ResNet50,
)
