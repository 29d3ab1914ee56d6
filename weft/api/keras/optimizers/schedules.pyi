# Written by `make stubs` from weft/api/keras/optimizers/schedules.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.optimizers.schedules import deserialize as deserialize
from weft.lib.keras.optimizers.schedules import ExponentialDecay as ExponentialDecay
from weft.lib.keras.optimizers.schedules import InverseTimeDecay as InverseTimeDecay
from weft.lib.keras.optimizers.schedules import LearningRateSchedule as LearningRateSchedule
from weft.lib.keras.optimizers.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from weft.lib.keras.optimizers.schedules import PolynomialDecay as PolynomialDecay
from weft.lib.keras.optimizers.schedules import serialize as serialize
