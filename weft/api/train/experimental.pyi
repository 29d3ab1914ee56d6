# Written by `make stubs` from weft/api/train/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.train.checkpoint.python_state import PythonState as PythonState
from weft.lib.train.optimizers.loss_scale import DynamicLossScale as DynamicLossScale
from weft.lib.train.optimizers.loss_scale import FixedLossScale as FixedLossScale
from weft.lib.train.optimizers.loss_scale import LossScale as LossScale
from weft.lib.train.optimizers.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from weft.lib.keras.mixed_precision.graph_rewrite import auto_mixed_precision_scope as auto_mixed_precision_scope
from weft.lib.keras.mixed_precision.graph_rewrite import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from weft.lib.keras.mixed_precision.graph_rewrite import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
