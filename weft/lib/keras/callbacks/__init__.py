"""tf.keras.callbacks: what is told of a training as it goes on."""

from weft.lib.keras.callbacks.base import Callback as Callback
from weft.lib.keras.callbacks.base import CallbackList as CallbackList
from weft.lib.keras.callbacks.configure import configure_callbacks as configure_callbacks
from weft.lib.keras.callbacks.configure import make_logs as make_logs
from weft.lib.keras.callbacks.configure import set_callback_parameters as set_callback_parameters
from weft.lib.keras.callbacks.reporting import BaseLogger as BaseLogger
from weft.lib.keras.callbacks.reporting import History as History
from weft.lib.keras.callbacks.reporting import ProgbarLogger as ProgbarLogger
from weft.lib.keras.callbacks.reporting import TerminateOnNaN as TerminateOnNaN
