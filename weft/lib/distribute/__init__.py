"""tf.distribute: copies of a model on several devices, kept in step."""
