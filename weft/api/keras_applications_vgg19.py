"""tf.keras.applications.vgg19: public names, re-exported from where they are made."""

from weft.keras.applications.imagenet_utils import (
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
from weft.keras.applications.vgg19 import VGG19 as VGG19
