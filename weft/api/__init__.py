"""The public namespaces: tf.nn is weft.api.nn, and so on."""
