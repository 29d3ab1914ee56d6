"""tf.keras.applications.mobilenet: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.mobilenet import (
    MobileNet as MobileNet,
    preprocess_input as preprocess_input,
)
