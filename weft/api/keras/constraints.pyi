# Written by `make stubs` from weft/api/keras/constraints.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.constraints import Constraint as Constraint
from weft.lib.keras.constraints import deserialize as deserialize
from weft.lib.keras.constraints import get as get
from weft.lib.keras.constraints import max_norm as max_norm
from weft.lib.keras.constraints import MaxNorm as MaxNorm
from weft.lib.keras.constraints import min_max_norm as min_max_norm
from weft.lib.keras.constraints import MinMaxNorm as MinMaxNorm
from weft.lib.keras.constraints import non_neg as non_neg
from weft.lib.keras.constraints import NonNeg as NonNeg
from weft.lib.keras.constraints import radial_constraint as radial_constraint
from weft.lib.keras.constraints import RadialConstraint as RadialConstraint
from weft.lib.keras.constraints import serialize as serialize
from weft.lib.keras.constraints import unit_norm as unit_norm
from weft.lib.keras.constraints import UnitNorm as UnitNorm
