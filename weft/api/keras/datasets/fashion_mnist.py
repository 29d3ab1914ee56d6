"""tf.keras.datasets.fashion_mnist: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.fashion_mnist import load_data as load_data
