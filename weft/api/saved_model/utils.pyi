# Written by `make stubs` from weft/api/saved_model/utils.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.tensor_info import build_tensor_info as build_tensor_info
from weft.lib.saved_model.tensor_info import get_tensor_from_tensor_info as get_tensor_from_tensor_info
