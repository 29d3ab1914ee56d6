"""tf.keras.applications.imagenet_utils: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import (
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
