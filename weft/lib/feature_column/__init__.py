"""tf.feature_column: columns of data that say how raw features become the inputs of a model."""
