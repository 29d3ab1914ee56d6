"""tf.keras.preprocessing: public names, re-exported from where they are made."""

from weft.api.keras.preprocessing import image as image
from weft.api.keras.preprocessing import sequence as sequence
from weft.api.keras.preprocessing import text as text
