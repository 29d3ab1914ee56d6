"""tf.debugging: public names, re-exported from where they are made."""

from weft.ops.array_pass import (
    check_numerics as check_numerics,
)
from weft.ops.check import (
    assert_all_finite as assert_all_finite,
)
from weft.ops.check import (
    assert_equal as assert_equal,
)
from weft.ops.check import (
    assert_greater as assert_greater,
)
from weft.ops.check import (
    assert_greater_equal as assert_greater_equal,
)
from weft.ops.check import (
    assert_less as assert_less,
)
from weft.ops.check import (
    assert_less_equal as assert_less_equal,
)
from weft.ops.check import (
    assert_near as assert_near,
)
from weft.ops.check import (
    assert_negative as assert_negative,
)
from weft.ops.check import (
    assert_non_negative as assert_non_negative,
)
from weft.ops.check import (
    assert_non_positive as assert_non_positive,
)
from weft.ops.check import (
    assert_none_equal as assert_none_equal,
)
from weft.ops.check import (
    assert_positive as assert_positive,
)
from weft.ops.check import (
    is_non_decreasing as is_non_decreasing,
)
from weft.ops.check import (
    is_strictly_increasing as is_strictly_increasing,
)
from weft.ops.check_shapes import (
    assert_rank as assert_rank,
)
from weft.ops.check_shapes import (
    assert_rank_at_least as assert_rank_at_least,
)
from weft.ops.check_shapes import (
    assert_rank_in as assert_rank_in,
)
from weft.ops.check_shapes import (
    assert_scalar as assert_scalar,
)
from weft.ops.check_shapes import (
    assert_shapes as assert_shapes,
)
from weft.ops.check_types import (
    assert_integer as assert_integer,
)
from weft.ops.check_types import (
    assert_proper_iterable as assert_proper_iterable,
)
from weft.ops.check_types import (
    assert_same_float_dtype as assert_same_float_dtype,
)
from weft.ops.check_types import (
    assert_type as assert_type,
)
from weft.ops.check_types import (
    is_numeric_tensor as is_numeric_tensor,
)
from weft.ops.control import (
    Assert as Assert,
)
from weft.ops.unary import (
    is_finite as is_finite,
)
from weft.ops.unary import (
    is_inf as is_inf,
)
from weft.ops.unary import (
    is_nan as is_nan,
)
