"""tf.contrib.tensorboard.plugins"""

from weft.contrib.tensorboard.plugins import projector as projector
