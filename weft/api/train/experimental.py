"""tf.train.experimental: public names, re-exported from where they are made."""

from weft.lib.train.checkpoint.python_state import PythonState as PythonState
from weft.lib.train.optimizers.loss_scale import (
    DynamicLossScale as DynamicLossScale,
    FixedLossScale as FixedLossScale,
    LossScale as LossScale,
)
from weft.lib.train.optimizers.loss_scale_optimizer import (
    MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer,
)
from weft.lib.keras.mixed_precision.graph_rewrite import (
    auto_mixed_precision_scope as auto_mixed_precision_scope,
    disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite,
)
