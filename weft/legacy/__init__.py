"""TensorFlow's module names for programs that import them."""
