# Written by `make stubs` from weft/api/keras/mixed_precision/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer as LossScaleOptimizer
from weft.lib.keras.mixed_precision.policy import global_policy as global_policy
from weft.lib.keras.mixed_precision.policy import Policy as Policy
from weft.lib.keras.mixed_precision.policy import set_policy as set_policy
