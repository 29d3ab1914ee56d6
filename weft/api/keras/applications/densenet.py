"""tf.keras.applications.densenet: public names, re-exported from where they are made."""

from weft.lib.keras.applications.densenet import (
    DenseNet121 as DenseNet121,
    DenseNet169 as DenseNet169,
    DenseNet201 as DenseNet201,
    preprocess_input as preprocess_input,
)
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
