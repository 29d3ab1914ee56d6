"""tf.keras.regularizers: public names, re-exported from where they are made."""

from weft.lib.keras.regularizers import (
    deserialize as deserialize,
    get as get,
    l1 as l1,
    l1_l2 as l1_l2,
    L1L2 as L1L2,
    l2 as l2,
    Regularizer as Regularizer,
    serialize as serialize,
)
