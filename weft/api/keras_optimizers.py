"""tf.keras.optimizers: public names, re-exported from where they are made."""

from weft.keras.optimizers import (
    deserialize as deserialize,
    get as get,
    Optimizer as Optimizer,
    serialize as serialize,
)
from weft.keras.optimizers.adagrad import (
    Adadelta as Adadelta,
    Adagrad as Adagrad,
)
from weft.keras.optimizers.adam import (
    Adam as Adam,
    Adamax as Adamax,
)
from weft.keras.optimizers.ftrl import Ftrl as Ftrl
from weft.keras.optimizers.nadam import Nadam as Nadam
from weft.keras.optimizers.rmsprop import RMSprop as RMSprop
from weft.keras.optimizers.sgd import SGD as SGD
from weft.api import keras_optimizers_schedules as schedules
