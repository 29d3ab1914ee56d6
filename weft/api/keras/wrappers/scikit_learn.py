"""tf.keras.wrappers.scikit_learn: public names, re-exported from where they are made."""

from weft.lib.keras.wrappers.scikit_learn import (
    KerasClassifier as KerasClassifier,
    KerasRegressor as KerasRegressor,
)
