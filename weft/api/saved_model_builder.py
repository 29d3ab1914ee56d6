"""tf.saved_model.builder: public names, re-exported from where they are made."""

from weft.saved_model.builder import SavedModelBuilder as SavedModelBuilder
