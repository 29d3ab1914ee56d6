"""tf.contrib.tensorboard: what programs tell TensorBoard's plugins."""

from weft.contrib.tensorboard import plugins as plugins
