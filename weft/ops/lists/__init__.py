"""TensorArrays, tensor lists and the stacks of loops.

Gradients of their nodes, and what stands in for them while XLA traces, are declared apart.
"""

from weft.ops.lists import tensor_array as tensor_array
from weft.ops.lists import tensor_array_traced as tensor_array_traced
from weft.ops.lists import tensor_list_gradients as tensor_list_gradients
from weft.ops.lists import tensor_list_traced as tensor_list_traced
