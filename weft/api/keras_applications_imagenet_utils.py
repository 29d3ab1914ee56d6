"""tf.keras.applications.imagenet_utils: public names, re-exported from where they are made."""

from weft.keras.applications.imagenet_utils import (
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
