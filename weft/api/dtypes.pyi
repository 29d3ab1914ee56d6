# Written by `make stubs` from weft/api/dtypes.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.core.dtypes import as_dtype as as_dtype
from weft.core.dtypes import bfloat16 as bfloat16
from weft.core.dtypes import bool as bool
from weft.core.dtypes import complex128 as complex128
from weft.core.dtypes import complex64 as complex64
from weft.core.dtypes import double as double
from weft.core.dtypes import DType as DType
from weft.core.dtypes import float16 as float16
from weft.core.dtypes import float32 as float32
from weft.core.dtypes import float64 as float64
from weft.core.dtypes import half as half
from weft.core.dtypes import int16 as int16
from weft.core.dtypes import int32 as int32
from weft.core.dtypes import int64 as int64
from weft.core.dtypes import int8 as int8
from weft.core.dtypes import qint16 as qint16
from weft.core.dtypes import qint32 as qint32
from weft.core.dtypes import qint8 as qint8
from weft.core.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from weft.core.dtypes import quint16 as quint16
from weft.core.dtypes import quint8 as quint8
from weft.core.dtypes import resource as resource
from weft.core.dtypes import string as string
from weft.core.dtypes import uint16 as uint16
from weft.core.dtypes import uint32 as uint32
from weft.core.dtypes import uint64 as uint64
from weft.core.dtypes import uint8 as uint8
from weft.core.dtypes import variant as variant
def as_string(input: _Any, precision: _builtins.int = -1, scientific: _builtins.bool = False, shortest: _builtins.bool = False, width: _builtins.int = -1, fill: _builtins.str = '', name: _builtins.str | None = None) -> _Tensor: ...
def cast(x: _Any, dtype: _Any, name: _builtins.str | None = None) -> _Any: ...
def complex(real: _Any, imag: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def saturate_cast(value: _Any, dtype: _Any, name: _builtins.str | None = None) -> _Any: ...
