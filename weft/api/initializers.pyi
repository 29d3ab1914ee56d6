# Written by `make stubs` from weft/api/initializers.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.state.initializers import constant_initializer as _is_constant
from weft.ops.state.initializers import glorot_normal_initializer as _is_glorot_normal
from weft.ops.state.initializers import glorot_uniform_initializer as _is_glorot_uniform
from weft.ops.state.initializers import he_normal as he_normal
from weft.ops.state.initializers import he_uniform as he_uniform
from weft.ops.state.initializers import identity_initializer as _is_identity
from weft.ops.state.initializers import lecun_normal as lecun_normal
from weft.ops.state.initializers import lecun_uniform as lecun_uniform
from weft.ops.state.initializers import ones_initializer as _is_ones
from weft.ops.state.initializers import orthogonal_initializer as _is_orthogonal
from weft.ops.state.initializers import random_normal_initializer as _is_random_normal
from weft.ops.state.initializers import random_uniform_initializer as _is_random_uniform
from weft.ops.state.initializers import truncated_normal_initializer as _is_truncated_normal
from weft.ops.state.initializers import uniform_unit_scaling_initializer as _is_uniform_unit_scaling
from weft.ops.state.initializers import variance_scaling_initializer as _is_variance_scaling
from weft.ops.state.initializers import zeros_initializer as _is_zeros
from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.state.variable_lists import global_variables_initializer as _is_global_variables
from weft.ops.state.variable_lists import local_variables_initializer as _is_local_variables
from weft.ops.state.variable_lists import variables_initializer as _is_variables
constant = _is_constant
glorot_normal = _is_glorot_normal
glorot_uniform = _is_glorot_uniform
identity = _is_identity
ones = _is_ones
orthogonal = _is_orthogonal
random_normal = _is_random_normal
random_uniform = _is_random_uniform
truncated_normal = _is_truncated_normal
uniform_unit_scaling = _is_uniform_unit_scaling
variance_scaling = _is_variance_scaling
zeros = _is_zeros
global_variables = _is_global_variables
local_variables = _is_local_variables
variables = _is_variables
