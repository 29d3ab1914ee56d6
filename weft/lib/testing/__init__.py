"""What `tf.test` is made of: loaded when a test first asks for it."""
