"""tf.keras.preprocessing: public names, re-exported from where they are made."""

from weft.api import keras_preprocessing_image as image
from weft.api import keras_preprocessing_sequence as sequence
from weft.api import keras_preprocessing_text as text
