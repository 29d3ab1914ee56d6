"""tf.losses and tf.metrics."""
