"""tf.xla: public names, re-exported from where they are made."""

from weft.api.xla import experimental as experimental
