"""tf.initializers: public names, re-exported from where they are made."""

from weft.ops.initializers import (
    constant_initializer as constant,
)
from weft.ops.initializers import (
    glorot_normal_initializer as glorot_normal,
)
from weft.ops.initializers import (
    glorot_uniform_initializer as glorot_uniform,
)
from weft.ops.initializers import (
    he_normal as he_normal,
)
from weft.ops.initializers import (
    he_uniform as he_uniform,
)
from weft.ops.initializers import (
    identity_initializer as identity,
)
from weft.ops.initializers import (
    lecun_normal as lecun_normal,
)
from weft.ops.initializers import (
    lecun_uniform as lecun_uniform,
)
from weft.ops.initializers import (
    ones_initializer as ones,
)
from weft.ops.initializers import (
    orthogonal_initializer as orthogonal,
)
from weft.ops.initializers import (
    random_normal_initializer as random_normal,
)
from weft.ops.initializers import (
    random_uniform_initializer as random_uniform,
)
from weft.ops.initializers import (
    truncated_normal_initializer as truncated_normal,
)
from weft.ops.initializers import (
    uniform_unit_scaling_initializer as uniform_unit_scaling,
)
from weft.ops.initializers import (
    variance_scaling_initializer as variance_scaling,
)
from weft.ops.initializers import (
    zeros_initializer as zeros,
)
from weft.ops.lookup import (
    tables_initializer as tables_initializer,
)
from weft.ops.variables import (
    global_variables_initializer as global_variables,
)
from weft.ops.variables import (
    local_variables_initializer as local_variables,
)
from weft.ops.variables import (
    variables_initializer as variables,
)
