"""tf.contrib.util: values of constants, and messages that hold tensors."""

from weft.graph.constant_value import constant_value as constant_value
from weft.graph.meta_graph_parts import ops_used_by_graph_def as ops_used_by_graph_def
from weft.graph.meta_graph_parts import stripped_op_list_for_graph as stripped_op_list_for_graph
from weft.graph.tensor_proto import make_ndarray as make_ndarray
from weft.graph.tensor_proto import make_tensor_proto as make_tensor_proto
