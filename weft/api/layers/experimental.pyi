# Written by `make stubs` from weft/api/layers/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.layers.naming import keras_style_scope as keras_style_scope
from weft.lib.layers.naming import set_keras_style as set_keras_style
