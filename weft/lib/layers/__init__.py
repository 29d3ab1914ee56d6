"""tf.layers: objects that own variables and apply them to tensors."""
