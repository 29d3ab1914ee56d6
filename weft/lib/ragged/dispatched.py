"""The public functions that take ragged tensors, under the names of what they dispatch from."""

from __future__ import annotations

from typing import Any

from weft.lib.ragged import array as ragged_array
from weft.lib.ragged import gather as ragged_gather
from weft.lib.ragged import joining as ragged_joining
from weft.lib.ragged import math as ragged_math
from weft.lib.ragged import strings as ragged_strings
from weft.lib.ragged.dispatch import also, binary, of_list, unary
from weft.lib.ragged.getitem import getitem
from weft.lib.ragged.tensor import RaggedTensor
from weft.ops.array import array, partition
from weft.ops.array import gather as gathering
from weft.ops.array import one_hot_search as select
from weft.ops.math import clip, elementwise, math, segment
from weft.ops.math import unary as maps
from weft.ops.strings import decode
from weft.ops.strings import hash as string_hash
from weft.ops.strings import join as joining
from weft.ops.strings import numbers as string_numbers
from weft.ops.strings import reduce as string_reduce
from weft.ops.strings import regex as string_regex
from weft.ops.strings import strings as text
from weft.ops.strings import unicode as string_unicode

# Each value by itself.
abs = unary(math.abs)
acos = unary(maps.acos)
acosh = unary(maps.acosh)
angle = unary(math.angle)
as_string = unary(string_numbers.as_string)
asin = unary(maps.asin)
asinh = unary(maps.asinh)
atan = unary(maps.atan)
atanh = unary(maps.atanh)
cast = unary(math.cast)
ceil = unary(maps.ceil)
check_numerics = unary(array.check_numerics)
clip_by_value = unary(clip.clip_by_value)
conj = unary(math.conj)
cos = unary(maps.cos)
cosh = unary(maps.cosh)
decode_base64 = unary(decode.decode_base64)
decode_compressed = unary(decode.decode_compressed)
digamma = unary(math.digamma)
encode_base64 = unary(decode.encode_base64)
erf = unary(math.erf)
erfc = unary(math.erfc)
exp = unary(maps.exp)
expm1 = unary(maps.expm1)
floor = unary(maps.floor)
identity = unary(array.identity)
imag = unary(math.imag)
invert = unary(maps.invert)
is_finite = unary(maps.is_finite)
is_inf = unary(maps.is_inf)
is_nan = unary(maps.is_nan)
lgamma = unary(math.lgamma)
log = unary(maps.log)
log1p = unary(maps.log1p)
log_sigmoid = unary(math.log_sigmoid)
logical_not = unary(maps.logical_not)
negative = unary(maps.negative)
ones_like = unary(array.ones_like)
real = unary(math.real)
reciprocal = unary(maps.reciprocal)
regex_full_match = unary(string_regex.regex_full_match)
regex_replace = unary(string_regex.regex_replace)
rint = unary(maps.rint)
round = unary(math.round)
rsqrt = unary(maps.rsqrt)
saturate_cast = unary(math.saturate_cast)
sign = unary(maps.sign)
sin = unary(maps.sin)
sinh = unary(maps.sinh)
sqrt = unary(maps.sqrt)
square = unary(maps.square)
string_length = unary(text.string_length)
string_strip = unary(text.string_strip)
string_to_hash_bucket = unary(string_hash.string_to_hash_bucket)
string_to_hash_bucket_fast = unary(string_hash.string_to_hash_bucket_fast)
string_to_hash_bucket_strong = unary(string_hash.string_to_hash_bucket_strong)
string_to_number = unary(string_numbers.string_to_number)
substr = unary(text.substr)
tan = unary(maps.tan)
unicode_script = unary(string_unicode.unicode_script)
zeros_like = unary(array.zeros_like)

# The values at one place in several tensors.
add_n = of_list(math.add_n)
string_join = of_list(joining.string_join)

# Pairs of values, broadcast.
add = binary(elementwise.add)
atan2 = binary(elementwise.atan2)
bitwise_and = binary(elementwise.bitwise_and)
bitwise_or = binary(elementwise.bitwise_or)
bitwise_xor = binary(elementwise.bitwise_xor)
complex = binary(math.complex)
div = binary(math.div)
div_no_nan = binary(math.div_no_nan)
divide = binary(math.divide)
equal = binary(elementwise.equal)
floordiv = binary(math.floordiv)
floormod = binary(elementwise.floormod)
greater = binary(elementwise.greater)
greater_equal = binary(elementwise.greater_equal)
left_shift = binary(elementwise.left_shift)
less = binary(elementwise.less)
less_equal = binary(elementwise.less_equal)
logical_and = binary(elementwise.logical_and)
logical_or = binary(elementwise.logical_or)
logical_xor = binary(math.logical_xor)
maximum = binary(elementwise.maximum)
minimum = binary(elementwise.minimum)
multiply = binary(elementwise.multiply)
not_equal = binary(elementwise.not_equal)
pow = binary(math.pow)
realdiv = binary(elementwise.realdiv)
right_shift = binary(elementwise.right_shift)
squared_difference = binary(elementwise.squared_difference)
subtract = binary(elementwise.subtract)
truediv = binary(math.truediv)
truncatediv = binary(elementwise.truncatediv)
truncatemod = binary(elementwise.truncatemod)

# Functions of rows.
batch_gather = also(gathering.batch_gather, ragged_gather.batch_gather)
concat = also(array.concat, ragged_joining.concat)
dynamic_partition = also(partition.dynamic_partition, ragged_array.dynamic_partition)
expand_dims = also(array.expand_dims, ragged_array.expand_dims_v1)
gather = also(gathering.gather, ragged_gather.gather)
gather_nd = also(gathering.gather_nd, ragged_gather.gather_nd)
one_hot = also(select.one_hot, ragged_array.one_hot)
rank = also(array.rank, ragged_array.rank)
reduce_all = also(math.reduce_all, ragged_math.reduce_all)
reduce_any = also(math.reduce_any, ragged_math.reduce_any)
reduce_join = also(string_reduce.reduce_join, ragged_strings.reduce_join)
reduce_max = also(math.reduce_max, ragged_math.reduce_max)
reduce_mean = also(math.reduce_mean, ragged_math.reduce_mean)
reduce_min = also(math.reduce_min, ragged_math.reduce_min)
reduce_prod = also(math.reduce_prod, ragged_math.reduce_prod)
reduce_sum = also(math.reduce_sum, ragged_math.reduce_sum)
size = also(array.size, ragged_array.size)
squeeze = also(array.squeeze, ragged_array.squeeze)
stack = also(array.stack, ragged_joining.stack)
tile = also(array.tile, ragged_array.tile)
unsorted_segment_max = also(segment.unsorted_segment_max, ragged_math.segment_max)
unsorted_segment_mean = also(segment.unsorted_segment_mean, ragged_math.segment_mean)
unsorted_segment_min = also(segment.unsorted_segment_min, ragged_math.segment_min)
unsorted_segment_prod = also(segment.unsorted_segment_prod, ragged_math.segment_prod)
unsorted_segment_sqrt_n = also(segment.unsorted_segment_sqrt_n, ragged_math.segment_sqrt_n)
unsorted_segment_sum = also(segment.unsorted_segment_sum, ragged_math.segment_sum)
where = also(select.where, ragged_array.where)

for _value in list(globals().values()):
    if hasattr(_value, "__wrapped__"):
        _value.__module__ = __name__  # where `pickle` looks for it


# ---- operators ----------------------------------------------------------------------------------


def _no_bool(_: RaggedTensor) -> bool:
    raise TypeError("RaggedTensor may not be used as a boolean.")


_BOTH_SIDES: dict[str, Any] = {
    "add": add, "and": logical_and, "div": div, "floordiv": floordiv, "mod": floormod,
    "mul": multiply, "or": logical_or, "pow": pow, "sub": subtract, "truediv": truediv,
    "xor": logical_xor,
}  # fmt: skip
_OTHERS: dict[str, Any] = {
    "abs": abs, "bool": _no_bool, "ge": greater_equal, "getitem": getitem, "gt": greater,
    "invert": logical_not, "le": less_equal, "lt": less, "neg": negative,
}  # fmt: skip


def _reflected(function: Any) -> Any:
    return lambda y, x: function(x, y)


for _name, _function in _BOTH_SIDES.items():
    setattr(RaggedTensor, f"__{_name}__", lambda x, y, f=_function: f(x, y))
    setattr(RaggedTensor, f"__r{_name}__", _reflected(_function))
for _name, _function in _OTHERS.items():
    setattr(RaggedTensor, f"__{_name}__", _function)
