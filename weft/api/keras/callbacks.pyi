# Written by `make stubs` from weft/api/keras/callbacks.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.callbacks.base import Callback as Callback
from weft.lib.keras.callbacks.logs import CSVLogger as CSVLogger
from weft.lib.keras.callbacks.logs import LambdaCallback as LambdaCallback
from weft.lib.keras.callbacks.logs import RemoteMonitor as RemoteMonitor
from weft.lib.keras.callbacks.model_checkpoint import ModelCheckpoint as ModelCheckpoint
from weft.lib.keras.callbacks.monitoring import EarlyStopping as EarlyStopping
from weft.lib.keras.callbacks.monitoring import LearningRateScheduler as LearningRateScheduler
from weft.lib.keras.callbacks.monitoring import ReduceLROnPlateau as ReduceLROnPlateau
from weft.lib.keras.callbacks.reporting import BaseLogger as BaseLogger
from weft.lib.keras.callbacks.reporting import History as History
from weft.lib.keras.callbacks.reporting import ProgbarLogger as ProgbarLogger
from weft.lib.keras.callbacks.reporting import TerminateOnNaN as TerminateOnNaN
from weft.lib.keras.callbacks.tensorboard import TensorBoard as TensorBoard
