# Written by `make stubs` from weft/api/keras/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.feature_column.layers import SequenceFeatures as SequenceFeatures
from weft.lib.keras.layers.rnn_cells import PeepholeLSTMCell as PeepholeLSTMCell
from weft.lib.keras.optimizers.schedules import CosineDecay as CosineDecay
from weft.lib.keras.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from weft.lib.keras.optimizers.schedules import LinearCosineDecay as LinearCosineDecay
from weft.lib.keras.optimizers.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
from weft.lib.keras.premade.linear import LinearModel as LinearModel
from weft.lib.keras.premade.wide_deep import WideDeepModel as WideDeepModel
from weft.lib.keras.saving.saved_model import export_saved_model as export_saved_model
from weft.lib.keras.saving.saved_model import load_from_saved_model as load_from_saved_model
from weft.lib.keras.utils.data_utils import terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools
