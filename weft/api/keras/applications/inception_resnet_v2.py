"""tf.keras.applications.inception_resnet_v2: public names, re-exported from where they are made."""

from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.inception_resnet_v2 import (
    InceptionResNetV2 as InceptionResNetV2,
    preprocess_input as preprocess_input,
)
