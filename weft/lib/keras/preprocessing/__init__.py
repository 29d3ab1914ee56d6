"""tf.keras.preprocessing: texts, sequences and images on their way to a model."""
