# Written by `make stubs` from weft/api/keras/wrappers/scikit_learn.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.wrappers.scikit_learn import KerasClassifier as KerasClassifier
from weft.lib.keras.wrappers.scikit_learn import KerasRegressor as KerasRegressor
