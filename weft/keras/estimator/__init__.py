"""tf.keras.estimator: Keras models as Estimators."""
