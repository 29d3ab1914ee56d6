"""tf.keras.datasets.cifar10: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.cifar10 import load_data as load_data
