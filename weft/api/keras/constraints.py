"""tf.keras.constraints: public names, re-exported from where they are made."""

from weft.lib.keras.constraints import (
    Constraint as Constraint,
    deserialize as deserialize,
    get as get,
    max_norm as max_norm,
    MaxNorm as MaxNorm,
    min_max_norm as min_max_norm,
    MinMaxNorm as MinMaxNorm,
    non_neg as non_neg,
    NonNeg as NonNeg,
    radial_constraint as radial_constraint,
    RadialConstraint as RadialConstraint,
    serialize as serialize,
    unit_norm as unit_norm,
    UnitNorm as UnitNorm,
)
