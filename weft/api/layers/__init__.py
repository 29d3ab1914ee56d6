"""tf.layers: public names, re-exported from where they are made."""

from weft.lib.layers.base import InputSpec as InputSpec, Layer as Layer
from weft.lib.layers.convolutional import (
    Conv1D as Conv1D,
    conv1d as conv1d,
    Conv2D as Conv2D,
    conv2d as conv2d,
    Conv3D as Conv3D,
    conv3d as conv3d,
)
from weft.lib.layers.core import (
    Dense as Dense,
    dense as dense,
    Dropout as Dropout,
    dropout as dropout,
    Flatten as Flatten,
    flatten as flatten,
)
from weft.lib.layers.normalization import (
    batch_normalization as batch_normalization,
    BatchNormalization as BatchNormalization,
)
from weft.lib.layers.pooling import (
    average_pooling1d as average_pooling1d,
    average_pooling2d as average_pooling2d,
    average_pooling3d as average_pooling3d,
    AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling3D as AveragePooling3D,
    max_pooling1d as max_pooling1d,
    max_pooling2d as max_pooling2d,
    max_pooling3d as max_pooling3d,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling3D as MaxPooling3D,
)
from weft.lib.layers.separable import (
    separable_conv1d as separable_conv1d,
    separable_conv2d as separable_conv2d,
    SeparableConv1D as SeparableConv1D,
    SeparableConv2D as SeparableConv2D,
)
from weft.lib.layers.transposed import (
    conv2d_transpose as conv2d_transpose,
    Conv2DTranspose as Conv2DTranspose,
    conv3d_transpose as conv3d_transpose,
    Conv3DTranspose as Conv3DTranspose,
)
from weft.api.layers import experimental as experimental
