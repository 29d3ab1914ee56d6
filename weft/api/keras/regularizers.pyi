# Written by `make stubs` from weft/api/keras/regularizers.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.regularizers import deserialize as deserialize
from weft.lib.keras.regularizers import get as get
from weft.lib.keras.regularizers import l1 as l1
from weft.lib.keras.regularizers import l1_l2 as l1_l2
from weft.lib.keras.regularizers import L1L2 as L1L2
from weft.lib.keras.regularizers import l2 as l2
from weft.lib.keras.regularizers import Regularizer as Regularizer
from weft.lib.keras.regularizers import serialize as serialize
