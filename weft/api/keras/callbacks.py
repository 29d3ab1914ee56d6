"""tf.keras.callbacks: public names, re-exported from where they are made."""

from weft.lib.keras.callbacks.base import Callback as Callback
from weft.lib.keras.callbacks.logs import (
    CSVLogger as CSVLogger,
    LambdaCallback as LambdaCallback,
    RemoteMonitor as RemoteMonitor,
)
from weft.lib.keras.callbacks.model_checkpoint import ModelCheckpoint as ModelCheckpoint
from weft.lib.keras.callbacks.monitoring import (
    EarlyStopping as EarlyStopping,
    LearningRateScheduler as LearningRateScheduler,
    ReduceLROnPlateau as ReduceLROnPlateau,
)
from weft.lib.keras.callbacks.reporting import (
    BaseLogger as BaseLogger,
    History as History,
    ProgbarLogger as ProgbarLogger,
    TerminateOnNaN as TerminateOnNaN,
)
from weft.lib.keras.callbacks.tensorboard import TensorBoard as TensorBoard
