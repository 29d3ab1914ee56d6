# Written by `make stubs` from weft/api/keras/preprocessing/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.api.keras.preprocessing import image as image
from weft.api.keras.preprocessing import sequence as sequence
from weft.api.keras.preprocessing import text as text
