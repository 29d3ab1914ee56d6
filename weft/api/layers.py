"""tf.layers: public names, re-exported from where they are made."""

from weft.core.nest import (
    flatten as flatten,
)
from weft.ops.nn_conv import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
)
from weft.ops.nn_dilated import (
    separable_conv2d as separable_conv2d,
)
from weft.ops.nn_impl import (
    dropout as dropout,
)
from weft.ops.nn_moments import (
    batch_normalization as batch_normalization,
)
