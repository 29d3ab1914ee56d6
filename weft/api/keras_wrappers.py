"""tf.keras.wrappers: public names, re-exported from where they are made."""

from weft.api import keras_wrappers_scikit_learn as scikit_learn
