"""tf.keras.applications.inception_v3: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.inception_v3 import (
    InceptionV3 as InceptionV3,
    preprocess_input as preprocess_input,
)
