# Written by `make stubs` from weft/api/keras/activations.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.activations import deserialize as deserialize
from weft.lib.keras.activations import elu as elu
from weft.lib.keras.activations import exponential as exponential
from weft.lib.keras.activations import get as get
from weft.lib.keras.activations import hard_sigmoid as hard_sigmoid
from weft.lib.keras.activations import linear as linear
from weft.lib.keras.activations import relu as relu
from weft.lib.keras.activations import selu as selu
from weft.lib.keras.activations import serialize as serialize
from weft.lib.keras.activations import sigmoid as sigmoid
from weft.lib.keras.activations import softmax as softmax
from weft.lib.keras.activations import softplus as softplus
from weft.lib.keras.activations import softsign as softsign
from weft.lib.keras.activations import tanh as tanh
