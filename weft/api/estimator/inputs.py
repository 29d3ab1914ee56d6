"""tf.estimator.inputs: public names, re-exported from where they are made."""

from weft.lib.estimator.inputs import (
    numpy_input_fn as numpy_input_fn,
    pandas_input_fn as pandas_input_fn,
)
