"""tf.train.experimental: public names, re-exported from where they are made."""

from weft.train.loss_scale import (
    DynamicLossScale as DynamicLossScale,
)
from weft.train.loss_scale import (
    FixedLossScale as FixedLossScale,
)
from weft.train.loss_scale import (
    LossScale as LossScale,
)
from weft.train.loss_scale_optimizer import (
    MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer,
)
