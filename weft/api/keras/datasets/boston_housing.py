"""tf.keras.datasets.boston_housing: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.boston_housing import load_data as load_data
