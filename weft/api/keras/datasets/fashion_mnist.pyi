# Written by `make stubs` from weft/api/keras/datasets/fashion_mnist.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.datasets.fashion_mnist import load_data as load_data
