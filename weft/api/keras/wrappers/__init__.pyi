# Written by `make stubs` from weft/api/keras/wrappers/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.api.keras.wrappers import scikit_learn as scikit_learn
