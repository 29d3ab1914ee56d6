"""tf.saved_model.loader: public names, re-exported from where they are made."""

from weft.lib.saved_model.files import maybe_saved_model_directory as maybe_saved_model_directory
from weft.lib.saved_model.loader import load as load
