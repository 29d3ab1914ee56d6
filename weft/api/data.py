"""tf.data: public names, re-exported from where they are made."""

from weft.api import data_experimental as experimental
