"""tf.keras.wrappers: Keras models as other libraries want them."""
