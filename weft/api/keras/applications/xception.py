"""tf.keras.applications.xception: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.xception import (
    preprocess_input as preprocess_input,
    Xception as Xception,
)
