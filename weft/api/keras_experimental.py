"""tf.keras.experimental: public names, re-exported from where they are made."""

from weft.feature_column.layers import SequenceFeatures as SequenceFeatures
from weft.keras.layers.rnn_cells import PeepholeLSTMCell as PeepholeLSTMCell
from weft.keras.optimizers.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
    LinearCosineDecay as LinearCosineDecay,
    NoisyLinearCosineDecay as NoisyLinearCosineDecay,
)
from weft.keras.premade.linear import LinearModel as LinearModel
from weft.keras.premade.wide_deep import WideDeepModel as WideDeepModel
from weft.keras.saving.saved_model import (
    export_saved_model as export_saved_model,
    load_from_saved_model as load_from_saved_model,
)
from weft.keras.utils.data_utils import (
    terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools,
)
