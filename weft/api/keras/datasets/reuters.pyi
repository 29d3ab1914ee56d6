# Written by `make stubs` from weft/api/keras/datasets/reuters.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.datasets.reuters import get_word_index as get_word_index
from weft.lib.keras.datasets.reuters import load_data as load_data
