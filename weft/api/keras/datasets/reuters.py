"""tf.keras.datasets.reuters: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.reuters import get_word_index as get_word_index, load_data as load_data
