# Written by `make stubs` from weft/api/keras/datasets/cifar100.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.datasets.cifar100 import load_data as load_data
