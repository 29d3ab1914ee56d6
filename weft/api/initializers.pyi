# Written by `make stubs` from weft/api/initializers.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.state.initializers import constant_initializer as constant
from weft.ops.state.initializers import glorot_normal_initializer as glorot_normal
from weft.ops.state.initializers import glorot_uniform_initializer as glorot_uniform
from weft.ops.state.initializers import he_normal as he_normal
from weft.ops.state.initializers import he_uniform as he_uniform
from weft.ops.state.initializers import identity_initializer as identity
from weft.ops.state.initializers import lecun_normal as lecun_normal
from weft.ops.state.initializers import lecun_uniform as lecun_uniform
from weft.ops.state.initializers import ones_initializer as ones
from weft.ops.state.initializers import orthogonal_initializer as orthogonal
from weft.ops.state.initializers import random_normal_initializer as random_normal
from weft.ops.state.initializers import random_uniform_initializer as random_uniform
from weft.ops.state.initializers import truncated_normal_initializer as truncated_normal
from weft.ops.state.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling
from weft.ops.state.initializers import variance_scaling_initializer as variance_scaling
from weft.ops.state.initializers import zeros_initializer as zeros
from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.state.variable_lists import global_variables_initializer as global_variables
from weft.ops.state.variable_lists import local_variables_initializer as local_variables
from weft.ops.state.variable_lists import variables_initializer as variables
