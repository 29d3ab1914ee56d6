"""tf.contrib.util: values of constants, and messages that hold tensors."""

from weft.graph.constant_value import constant_value as constant_value
from weft.graph.tensor_proto import make_ndarray as make_ndarray
from weft.graph.tensor_proto import make_tensor_proto as make_tensor_proto
