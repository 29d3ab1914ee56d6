"""tf.contrib.tensorboard: what programs tell TensorBoard's plugins."""

from weft.lib.contrib.tensorboard import plugins as plugins
