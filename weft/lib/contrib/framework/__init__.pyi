# Written by `make stubs` from weft/lib/contrib/framework/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.core import nest as nest
from weft.graph.bounded_spec import BoundedTensorSpec as BoundedTensorSpec
from weft.graph.collection_def import prepend_name_scope as prepend_name_scope
from weft.graph.collection_def import strip_name_scope as strip_name_scope
from weft.graph.slices import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from weft.graph.tensor_util import is_tensor as is_tensor
from weft.graph.type_spec import TensorSpec as TensorSpec
from weft.lib.contrib.framework.arg_scope import add_arg_scope as add_arg_scope
from weft.lib.contrib.framework.arg_scope import arg_scope as arg_scope
from weft.lib.contrib.framework.arg_scope import arg_scope_func_key as arg_scope_func_key
from weft.lib.contrib.framework.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from weft.lib.contrib.framework.arg_scope import current_arg_scope as current_arg_scope
from weft.lib.contrib.framework.arg_scope import has_arg_scope as has_arg_scope
from weft.lib.contrib.framework.checkpoints import assign_from_checkpoint as assign_from_checkpoint
from weft.lib.contrib.framework.checkpoints import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from weft.lib.contrib.framework.checkpoints import init_from_checkpoint as init_from_checkpoint
from weft.lib.contrib.framework.checkpoints import list_variables as list_variables
from weft.lib.contrib.framework.checkpoints import load_checkpoint as load_checkpoint
from weft.lib.contrib.framework.checkpoints import load_variable as load_variable
from weft.lib.contrib.framework.deprecation import deprecated as deprecated
from weft.lib.contrib.framework.deprecation import deprecated_arg_values as deprecated_arg_values
from weft.lib.contrib.framework.deprecation import deprecated_args as deprecated_args
from weft.lib.contrib.framework.deprecation import experimental as experimental
from weft.lib.contrib.framework.graph_names import get_graph_from_inputs as get_graph_from_inputs
from weft.lib.contrib.framework.graph_names import get_name_scope as get_name_scope
from weft.lib.contrib.framework.loading import load_linear_multiclass_bias_initializer as load_linear_multiclass_bias_initializer
from weft.lib.contrib.framework.loading import load_variable_slot_initializer as load_variable_slot_initializer
from weft.lib.contrib.framework.python_function import py_func as py_func
from weft.lib.contrib.framework.tensors import assert_scalar_int as assert_scalar_int
from weft.lib.contrib.framework.tensors import get_placeholders as get_placeholders
from weft.lib.contrib.framework.tensors import reduce_sum_n as reduce_sum_n
from weft.lib.contrib.framework.tensors import remove_squeezable_dimensions as remove_squeezable_dimensions
from weft.lib.contrib.framework.variables import VariableDeviceChooser as VariableDeviceChooser
from weft.lib.contrib.framework.variables import add_model_variable as add_model_variable
from weft.lib.contrib.framework.variables import assert_or_get_global_step as assert_or_get_global_step
from weft.lib.contrib.framework.variables import assign_from_values as assign_from_values
from weft.lib.contrib.framework.variables import assign_from_values_fn as assign_from_values_fn
from weft.lib.contrib.framework.variables import filter_variables as filter_variables
from weft.lib.contrib.framework.variables import get_local_variables as get_local_variables
from weft.lib.contrib.framework.variables import get_model_variables as get_model_variables
from weft.lib.contrib.framework.variables import get_trainable_variables as get_trainable_variables
from weft.lib.contrib.framework.variables import get_unique_variable as get_unique_variable
from weft.lib.contrib.framework.variables import get_variable_full_name as get_variable_full_name
from weft.lib.contrib.framework.variables import get_variables as get_variables
from weft.lib.contrib.framework.variables import get_variables_by_name as get_variables_by_name
from weft.lib.contrib.framework.variables import get_variables_by_suffix as get_variables_by_suffix
from weft.lib.contrib.framework.variables import get_variables_to_restore as get_variables_to_restore
from weft.lib.contrib.framework.variables import global_variable as global_variable
from weft.lib.contrib.framework.variables import local_variable as local_variable
from weft.lib.contrib.framework.variables import zero_initializer as zero_initializer
from weft.lib.train.checkpoint.remap import load_and_remap_matrix_initializer as load_and_remap_matrix_initializer
from weft.lib.train.checkpoint.remap import load_embedding_initializer as load_embedding_initializer
from weft.ops.control.case import smart_case as smart_case
from weft.ops.control.check import assert_same_float_dtype as assert_same_float_dtype
from weft.ops.control.check import assert_scalar as assert_scalar
from weft.ops.control.check import is_non_decreasing as is_non_decreasing
from weft.ops.control.check import is_numeric_tensor as is_numeric_tensor
from weft.ops.control.check import is_strictly_increasing as is_strictly_increasing
from weft.ops.control.checked_shapes import with_same_shape as with_same_shape
from weft.ops.control.checked_shapes import with_shape as with_shape
from weft.ops.control.cond import smart_cond as smart_cond
from weft.ops.control.cond import smart_constant_value as smart_constant_value
from weft.ops.math.sort import argsort as argsort
from weft.ops.math.sort import sort as sort
from weft.ops.queues.record_input import RecordInput as RecordInput
from weft.ops.state.initializers import convolutional_delta_orthogonal as convolutional_delta_orthogonal
def assert_global_step(global_step_tensor: _Any) -> None: ...
def create_global_step(graph: _Any = None) -> _Any: ...
def get_global_step(graph: _Any = None) -> _Any: ...
def get_or_create_global_step(graph: _Any = None) -> _Any: ...
def model_variable(name: _builtins.str, shape: _Any = None, dtype: _Any = ..., initializer: _Any = None, regularizer: _Any = None, trainable: _builtins.bool = True, collections: _Any = None, caching_device: _Any = None, device: _Any = None, partitioner: _Any = None, custom_getter: _Any = None, use_resource: _builtins.bool | None = None, synchronization: _Any = ..., aggregation: _Any = ...) -> _Any: ...
def variable(name: _builtins.str, shape: _Any = None, dtype: _Any = None, initializer: _Any = None, regularizer: _Any = None, trainable: _builtins.bool = True, collections: _Any = None, caching_device: _Any = None, device: _Any = None, partitioner: _Any = None, custom_getter: _Any = None, use_resource: _builtins.bool | None = None, synchronization: _Any = ..., aggregation: _Any = ...) -> _Any: ...
