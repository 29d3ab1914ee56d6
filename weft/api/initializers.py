"""tf.initializers: public names, re-exported from where they are made."""

from weft.ops.state.initializers import (
    constant_initializer as constant,
    glorot_normal_initializer as glorot_normal,
    glorot_uniform_initializer as glorot_uniform,
    he_normal as he_normal,
    he_uniform as he_uniform,
    identity_initializer as identity,
    lecun_normal as lecun_normal,
    lecun_uniform as lecun_uniform,
    ones_initializer as ones,
    orthogonal_initializer as orthogonal,
    random_normal_initializer as random_normal,
    random_uniform_initializer as random_uniform,
    truncated_normal_initializer as truncated_normal,
    uniform_unit_scaling_initializer as uniform_unit_scaling,
    variance_scaling_initializer as variance_scaling,
    zeros_initializer as zeros,
)
from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.state.variable_lists import (
    global_variables_initializer as global_variables,
    local_variables_initializer as local_variables,
    variables_initializer as variables,
)
