# Written by `make stubs` from weft/api/keras/optimizers/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.optimizers import deserialize as deserialize
from weft.lib.keras.optimizers import get as get
from weft.lib.keras.optimizers import Optimizer as Optimizer
from weft.lib.keras.optimizers import serialize as serialize
from weft.lib.keras.optimizers.adagrad import Adadelta as Adadelta
from weft.lib.keras.optimizers.adagrad import Adagrad as Adagrad
from weft.lib.keras.optimizers.adam import Adam as Adam
from weft.lib.keras.optimizers.adam import Adamax as Adamax
from weft.lib.keras.optimizers.ftrl import Ftrl as Ftrl
from weft.lib.keras.optimizers.nadam import Nadam as Nadam
from weft.lib.keras.optimizers.rmsprop import RMSprop as RMSprop
from weft.lib.keras.optimizers.sgd import SGD as SGD
from weft.api.keras.optimizers import schedules as schedules
