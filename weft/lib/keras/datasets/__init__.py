"""tf.keras.datasets: small data sets, downloaded once and kept in ~/.keras/datasets."""
