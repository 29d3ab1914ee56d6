"""tf.keras.optimizers: public names, re-exported from where they are made."""

from weft.lib.keras.optimizers import (
    deserialize as deserialize,
    get as get,
    Optimizer as Optimizer,
    serialize as serialize,
)
from weft.lib.keras.optimizers.adagrad import Adadelta as Adadelta, Adagrad as Adagrad
from weft.lib.keras.optimizers.adam import Adam as Adam, Adamax as Adamax
from weft.lib.keras.optimizers.ftrl import Ftrl as Ftrl
from weft.lib.keras.optimizers.nadam import Nadam as Nadam
from weft.lib.keras.optimizers.rmsprop import RMSprop as RMSprop
from weft.lib.keras.optimizers.sgd import SGD as SGD
from weft.api.keras.optimizers import schedules as schedules
