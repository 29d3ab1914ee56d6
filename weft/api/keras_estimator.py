"""tf.keras.estimator: public names, re-exported from where they are made."""

from weft.keras.estimator.to_estimator import model_to_estimator as model_to_estimator
