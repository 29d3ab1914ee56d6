"""tf.layers: public names, re-exported from where they are made."""

from weft.layers.base import (
    Layer as Layer,
)
from weft.layers.core import (
    Dense as Dense,
    dense as dense,
    dropout as dropout,
    Dropout as Dropout,
    Flatten as Flatten,
    flatten as flatten,
)
from weft.layers.input_spec import (
    InputSpec as InputSpec,
)
from weft.api import layers_experimental as experimental
