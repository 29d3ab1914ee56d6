"""tf.function: Python functions that become functions of the graph, one for each signature."""
