"""tf.keras.optimizers.schedules: public names, re-exported from where they are made."""

from weft.lib.keras.optimizers.schedules import (
    deserialize as deserialize,
    ExponentialDecay as ExponentialDecay,
    InverseTimeDecay as InverseTimeDecay,
    LearningRateSchedule as LearningRateSchedule,
    PiecewiseConstantDecay as PiecewiseConstantDecay,
    PolynomialDecay as PolynomialDecay,
    serialize as serialize,
)
