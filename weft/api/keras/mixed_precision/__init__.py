"""tf.keras.mixed_precision: public names, re-exported from where they are made."""

from weft.api.keras.mixed_precision import experimental as experimental
