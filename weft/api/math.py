"""tf.math: public names, re-exported from where they are made."""

from weft.ops.array_shape import (
    invert_permutation as invert_permutation,
)
from weft.ops.bins import (
    bincount as bincount,
)
from weft.ops.casts import (
    angle as angle,
)
from weft.ops.casts import (
    conj as conj,
)
from weft.ops.casts import (
    imag as imag,
)
from weft.ops.casts import (
    real as real,
)
from weft.ops.check import (
    is_non_decreasing as is_non_decreasing,
)
from weft.ops.check import (
    is_strictly_increasing as is_strictly_increasing,
)
from weft.ops.confusion_matrix import (
    confusion_matrix as confusion_matrix,
)
from weft.ops.elementwise import (
    add as add,
)
from weft.ops.elementwise import (
    atan2 as atan2,
)
from weft.ops.elementwise import (
    equal as equal,
)
from weft.ops.elementwise import (
    floormod as floormod,
)
from weft.ops.elementwise import (
    greater as greater,
)
from weft.ops.elementwise import (
    greater_equal as greater_equal,
)
from weft.ops.elementwise import (
    less as less,
)
from weft.ops.elementwise import (
    less_equal as less_equal,
)
from weft.ops.elementwise import (
    logical_and as logical_and,
)
from weft.ops.elementwise import (
    logical_or as logical_or,
)
from weft.ops.elementwise import (
    maximum as maximum,
)
from weft.ops.elementwise import (
    minimum as minimum,
)
from weft.ops.elementwise import (
    mod as mod,
)
from weft.ops.elementwise import (
    multiply as multiply,
)
from weft.ops.elementwise import (
    nextafter as nextafter,
)
from weft.ops.elementwise import (
    not_equal as not_equal,
)
from weft.ops.elementwise import (
    squared_difference as squared_difference,
)
from weft.ops.elementwise import (
    subtract as subtract,
)
from weft.ops.elementwise import (
    xdivy as xdivy,
)
from weft.ops.elementwise import (
    xlogy as xlogy,
)
from weft.ops.math import (
    abs as abs,
)
from weft.ops.math import (
    accumulate_n as accumulate_n,
)
from weft.ops.math import (
    add_n as add_n,
)
from weft.ops.math import (
    bessel_i0 as bessel_i0,
)
from weft.ops.math import (
    bessel_i1 as bessel_i1,
)
from weft.ops.math import (
    divide as divide,
)
from weft.ops.math import (
    divide_no_nan as divide_no_nan,
)
from weft.ops.math import (
    floordiv as floordiv,
)
from weft.ops.math import (
    lbeta as lbeta,
)
from weft.ops.math import (
    log_sigmoid as log_sigmoid,
)
from weft.ops.math import (
    logical_xor as logical_xor,
)
from weft.ops.math import (
    multiply_no_nan as multiply_no_nan,
)
from weft.ops.math import (
    polyval as polyval,
)
from weft.ops.math import (
    pow as pow,
)
from weft.ops.math import (
    reciprocal_no_nan as reciprocal_no_nan,
)
from weft.ops.math import (
    round as round,
)
from weft.ops.math import (
    scalar_mul as scalar_mul,
)
from weft.ops.math import (
    sigmoid as sigmoid,
)
from weft.ops.math import (
    truediv as truediv,
)
from weft.ops.nn_impl import (
    in_top_k as in_top_k,
)
from weft.ops.nn_impl import (
    log_softmax as log_softmax,
)
from weft.ops.nn_impl import (
    softmax as softmax,
)
from weft.ops.nn_impl import (
    softplus as softplus,
)
from weft.ops.nn_impl import (
    softsign as softsign,
)
from weft.ops.nn_impl import (
    top_k as top_k,
)
from weft.ops.nn_moments import (
    l2_normalize as l2_normalize,
)
from weft.ops.nn_moments import (
    zero_fraction as zero_fraction,
)
from weft.ops.reduce import (
    argmax as argmax,
)
from weft.ops.reduce import (
    argmin as argmin,
)
from weft.ops.reduce import (
    count_nonzero as count_nonzero,
)
from weft.ops.reduce import (
    cumprod as cumprod,
)
from weft.ops.reduce import (
    cumsum as cumsum,
)
from weft.ops.reduce import (
    cumulative_logsumexp as cumulative_logsumexp,
)
from weft.ops.reduce import (
    reduce_all as reduce_all,
)
from weft.ops.reduce import (
    reduce_any as reduce_any,
)
from weft.ops.reduce import (
    reduce_euclidean_norm as reduce_euclidean_norm,
)
from weft.ops.reduce import (
    reduce_logsumexp as reduce_logsumexp,
)
from weft.ops.reduce import (
    reduce_max as reduce_max,
)
from weft.ops.reduce import (
    reduce_mean as reduce_mean,
)
from weft.ops.reduce import (
    reduce_min as reduce_min,
)
from weft.ops.reduce import (
    reduce_prod as reduce_prod,
)
from weft.ops.reduce import (
    reduce_std as reduce_std,
)
from weft.ops.reduce import (
    reduce_sum as reduce_sum,
)
from weft.ops.reduce import (
    reduce_variance as reduce_variance,
)
from weft.ops.segment import (
    segment_max as segment_max,
)
from weft.ops.segment import (
    segment_mean as segment_mean,
)
from weft.ops.segment import (
    segment_min as segment_min,
)
from weft.ops.segment import (
    segment_prod as segment_prod,
)
from weft.ops.segment import (
    segment_sum as segment_sum,
)
from weft.ops.segment import (
    unsorted_segment_max as unsorted_segment_max,
)
from weft.ops.segment import (
    unsorted_segment_mean as unsorted_segment_mean,
)
from weft.ops.segment import (
    unsorted_segment_min as unsorted_segment_min,
)
from weft.ops.segment import (
    unsorted_segment_prod as unsorted_segment_prod,
)
from weft.ops.segment import (
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
)
from weft.ops.segment import (
    unsorted_segment_sum as unsorted_segment_sum,
)
from weft.ops.special import (
    bessel_i0e as bessel_i0e,
)
from weft.ops.special import (
    bessel_i1e as bessel_i1e,
)
from weft.ops.special import (
    betainc as betainc,
)
from weft.ops.special import (
    digamma as digamma,
)
from weft.ops.special import (
    erf as erf,
)
from weft.ops.special import (
    erfc as erfc,
)
from weft.ops.special import (
    igamma as igamma,
)
from weft.ops.special import (
    igammac as igammac,
)
from weft.ops.special import (
    lgamma as lgamma,
)
from weft.ops.special import (
    polygamma as polygamma,
)
from weft.ops.special import (
    zeta as zeta,
)
from weft.ops.unary import (
    acos as acos,
)
from weft.ops.unary import (
    acosh as acosh,
)
from weft.ops.unary import (
    asin as asin,
)
from weft.ops.unary import (
    asinh as asinh,
)
from weft.ops.unary import (
    atan as atan,
)
from weft.ops.unary import (
    atanh as atanh,
)
from weft.ops.unary import (
    ceil as ceil,
)
from weft.ops.unary import (
    cos as cos,
)
from weft.ops.unary import (
    cosh as cosh,
)
from weft.ops.unary import (
    exp as exp,
)
from weft.ops.unary import (
    expm1 as expm1,
)
from weft.ops.unary import (
    floor as floor,
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
from weft.ops.unary import (
    log as log,
)
from weft.ops.unary import (
    log1p as log1p,
)
from weft.ops.unary import (
    logical_not as logical_not,
)
from weft.ops.unary import (
    negative as negative,
)
from weft.ops.unary import (
    reciprocal as reciprocal,
)
from weft.ops.unary import (
    rint as rint,
)
from weft.ops.unary import (
    rsqrt as rsqrt,
)
from weft.ops.unary import (
    sign as sign,
)
from weft.ops.unary import (
    sin as sin,
)
from weft.ops.unary import (
    sinh as sinh,
)
from weft.ops.unary import (
    sqrt as sqrt,
)
from weft.ops.unary import (
    square as square,
)
from weft.ops.unary import (
    tan as tan,
)
from weft.ops.unary import (
    tanh as tanh,
)
