"""tf.saved_model.tag_constants: public names, re-exported from where they are made."""

from weft.lib.saved_model.tag_constants import (
    GPU as GPU,
    SERVING as SERVING,
    TPU as TPU,
    TRAINING as TRAINING,
)
