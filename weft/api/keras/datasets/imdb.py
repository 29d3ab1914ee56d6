"""tf.keras.datasets.imdb: public names, re-exported from where they are made."""

from weft.lib.keras.datasets.imdb import get_word_index as get_word_index, load_data as load_data
