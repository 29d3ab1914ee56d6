"""tf.layers: public names, re-exported from where they are made."""

from weft.api import layers_experimental as experimental
from weft.layers.base import (
    Layer as Layer,
)
from weft.layers.convolutional import (
    Conv1D as Conv1D,
)
from weft.layers.convolutional import (
    Conv2D as Conv2D,
)
from weft.layers.convolutional import (
    Conv3D as Conv3D,
)
from weft.layers.convolutional import (
    conv1d as conv1d,
)
from weft.layers.convolutional import (
    conv2d as conv2d,
)
from weft.layers.convolutional import (
    conv3d as conv3d,
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
from weft.layers.normalization import (
    BatchNormalization as BatchNormalization,
)
from weft.layers.normalization import (
    batch_normalization as batch_normalization,
)
from weft.layers.pooling import (
    AveragePooling1D as AveragePooling1D,
)
from weft.layers.pooling import (
    AveragePooling2D as AveragePooling2D,
)
from weft.layers.pooling import (
    AveragePooling3D as AveragePooling3D,
)
from weft.layers.pooling import (
    MaxPooling1D as MaxPooling1D,
)
from weft.layers.pooling import (
    MaxPooling2D as MaxPooling2D,
)
from weft.layers.pooling import (
    MaxPooling3D as MaxPooling3D,
)
from weft.layers.pooling import (
    average_pooling1d as average_pooling1d,
)
from weft.layers.pooling import (
    average_pooling2d as average_pooling2d,
)
from weft.layers.pooling import (
    average_pooling3d as average_pooling3d,
)
from weft.layers.pooling import (
    max_pooling1d as max_pooling1d,
)
from weft.layers.pooling import (
    max_pooling2d as max_pooling2d,
)
from weft.layers.pooling import (
    max_pooling3d as max_pooling3d,
)
from weft.layers.separable import (
    SeparableConv1D as SeparableConv1D,
)
from weft.layers.separable import (
    SeparableConv2D as SeparableConv2D,
)
from weft.layers.separable import (
    separable_conv1d as separable_conv1d,
)
from weft.layers.separable import (
    separable_conv2d as separable_conv2d,
)
from weft.layers.transposed import (
    Conv2DTranspose as Conv2DTranspose,
)
from weft.layers.transposed import (
    Conv3DTranspose as Conv3DTranspose,
)
from weft.layers.transposed import (
    conv2d_transpose as conv2d_transpose,
)
from weft.layers.transposed import (
    conv3d_transpose as conv3d_transpose,
)
