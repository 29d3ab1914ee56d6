"""tf.estimator: a model function, trained, evaluated, served and exported."""
