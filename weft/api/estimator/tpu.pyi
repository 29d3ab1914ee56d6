# Written by `make stubs` from weft/api/estimator/tpu.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.estimator.tpu_config import InputPipelineConfig as InputPipelineConfig
from weft.lib.estimator.tpu_config import RunConfig as RunConfig
from weft.lib.estimator.tpu_config import TPUConfig as TPUConfig
from weft.lib.estimator.tpu_estimator import TPUEstimator as TPUEstimator
from weft.lib.estimator.tpu_spec import TPUEstimatorSpec as TPUEstimatorSpec
