"""tf.saved_model.experimental: public names, re-exported from where they are made."""

from weft.lib.saved_model.save import save as save
