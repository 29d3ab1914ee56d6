"""tf.keras.datasets.mnist: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.mnist import load_data as load_data
