"""tf.keras.applications.vgg16: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import (
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
from weft.lib.keras.applications.vgg16 import VGG16 as VGG16
