# Written by `make stubs` from weft/api/keras/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.engine.input_layer import Input as Input
from weft.lib.keras.engine.network_saving import KERAS_VERSION as _is___version__
from weft.lib.keras.engine.sequential import Sequential as Sequential
from weft.lib.keras.engine.training import Model as Model
from weft.api.keras import activations as activations
from weft.api.keras import applications as applications
from weft.api.keras import backend as backend
from weft.api.keras import callbacks as callbacks
from weft.api.keras import constraints as constraints
from weft.api.keras import datasets as datasets
from weft.api.keras import estimator as estimator
from weft.api.keras import experimental as experimental
from weft.api.keras import initializers as initializers
from weft.api.keras import layers as layers
from weft.api.keras import losses as losses
from weft.api.keras import metrics as metrics
from weft.api.keras import mixed_precision as mixed_precision
from weft.api.keras import models as models
from weft.api.keras import optimizers as optimizers
from weft.api.keras import preprocessing as preprocessing
from weft.api.keras import regularizers as regularizers
from weft.api.keras import utils as utils
from weft.api.keras import wrappers as wrappers
__version__ = _is___version__
