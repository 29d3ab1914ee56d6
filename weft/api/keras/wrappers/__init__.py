"""tf.keras.wrappers: public names, re-exported from where they are made."""

from weft.api.keras.wrappers import scikit_learn as scikit_learn
