# Written by `make stubs` from weft/api/estimator/inputs.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.estimator.inputs import numpy_input_fn as numpy_input_fn
from weft.lib.estimator.inputs import pandas_input_fn as pandas_input_fn
