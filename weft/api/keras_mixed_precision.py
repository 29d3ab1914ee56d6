"""tf.keras.mixed_precision: public names, re-exported from where they are made."""

from weft.api import keras_mixed_precision_experimental as experimental
