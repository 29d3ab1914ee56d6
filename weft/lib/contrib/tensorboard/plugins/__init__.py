"""tf.contrib.tensorboard.plugins"""

from weft.lib.contrib.tensorboard.plugins import projector as projector
