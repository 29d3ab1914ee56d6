"""tf.math: public names, re-exported from where they are made."""

from weft.ops.array import (
    invert_permutation as invert_permutation,
)
from weft.ops.bins import (
    bincount as bincount,
)
from weft.ops.casts import (
    angle as angle,
    conj as conj,
    imag as imag,
    real as real,
)
from weft.ops.elementwise import (
    atan2 as atan2,
    maximum as maximum,
    minimum as minimum,
    squared_difference as squared_difference,
    xdivy as xdivy,
    xlogy as xlogy,
)
from weft.ops.math import (
    abs as abs,
    accumulate_n as accumulate_n,
    add_n as add_n,
    bessel_i0 as bessel_i0,
    bessel_i1 as bessel_i1,
    divide as divide,
    divide_no_nan as divide_no_nan,
    floordiv as floordiv,
    lbeta as lbeta,
    log_sigmoid as log_sigmoid,
    logical_xor as logical_xor,
    multiply_no_nan as multiply_no_nan,
    polyval as polyval,
    pow as pow,
    reciprocal_no_nan as reciprocal_no_nan,
    round as round,
    scalar_mul as scalar_mul,
    sigmoid as sigmoid,
    truediv as truediv,
)
from weft.ops.reduce import (
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_std as reduce_std,
    reduce_sum as reduce_sum,
    reduce_variance as reduce_variance,
)
from weft.ops.segment import (
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
)
from weft.ops.special import (
    bessel_i0e as bessel_i0e,
    bessel_i1e as bessel_i1e,
    betainc as betainc,
    igamma as igamma,
    igammac as igammac,
    polygamma as polygamma,
    zeta as zeta,
)
