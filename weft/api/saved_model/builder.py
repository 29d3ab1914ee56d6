"""tf.saved_model.builder: public names, re-exported from where they are made."""

from weft.lib.saved_model.builder import SavedModelBuilder as SavedModelBuilder
