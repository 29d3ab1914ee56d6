"""tf.estimator.tpu: public names, re-exported from where they are made."""

from weft.lib.estimator.tpu_config import (
    InputPipelineConfig as InputPipelineConfig,
    RunConfig as RunConfig,
    TPUConfig as TPUConfig,
)
from weft.lib.estimator.tpu_estimator import TPUEstimator as TPUEstimator
from weft.lib.estimator.tpu_spec import TPUEstimatorSpec as TPUEstimatorSpec
