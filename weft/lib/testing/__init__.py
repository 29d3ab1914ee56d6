"""The parts of `tf.test`: loaded when a test first asks for them."""
