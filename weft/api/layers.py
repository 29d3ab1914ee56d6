"""tf.layers: public names, re-exported from where they are made."""

from weft.api import layers_experimental as experimental
from weft.layers.base import (
    Layer as Layer,
)
from weft.layers.core import (
    Dense as Dense,
)
from weft.layers.core import (
    Dropout as Dropout,
)
from weft.layers.core import (
    Flatten as Flatten,
)
from weft.layers.core import (
    dense as dense,
)
from weft.layers.core import (
    dropout as dropout,
)
from weft.layers.core import (
    flatten as flatten,
)
from weft.layers.input_spec import (
    InputSpec as InputSpec,
)
