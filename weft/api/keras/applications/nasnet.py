"""tf.keras.applications.nasnet: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.nasnet import (
    NASNetLarge as NASNetLarge,
    NASNetMobile as NASNetMobile,
    preprocess_input as preprocess_input,
)
