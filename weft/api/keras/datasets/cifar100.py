"""tf.keras.datasets.cifar100: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.cifar100 import load_data as load_data
