# Written by `make stubs` from weft/api/keras/estimator.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.estimator.from_keras import model_to_estimator as model_to_estimator
