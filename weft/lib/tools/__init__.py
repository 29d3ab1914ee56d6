"""TensorFlow's tools for graphs and checkpoints: freezing, transforming, looking into them."""
