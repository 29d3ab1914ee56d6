"""tf.keras.mixed_precision.experimental: public names, re-exported from where they are made."""

from weft.lib.keras.mixed_precision.loss_scale_optimizer import (
    LossScaleOptimizer as LossScaleOptimizer,
)
from weft.lib.keras.mixed_precision.policy import (
    global_policy as global_policy,
    Policy as Policy,
    set_policy as set_policy,
)
