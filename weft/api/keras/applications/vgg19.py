"""tf.keras.applications.vgg19: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import (
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
from weft.lib.keras.applications.vgg19 import VGG19 as VGG19
