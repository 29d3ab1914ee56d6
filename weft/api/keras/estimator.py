"""tf.keras.estimator: public names, re-exported from where they are made."""

from weft.lib.estimator.from_keras import model_to_estimator as model_to_estimator
