"""tf.data's operations: datasets and iterators."""
