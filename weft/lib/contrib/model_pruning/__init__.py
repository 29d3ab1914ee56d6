"""tf.contrib.model_pruning: weights masked in training, more and more of them."""

from weft.lib.contrib.model_pruning.frozen import (
    graph_def_from_checkpoint as graph_def_from_checkpoint,
)
from weft.lib.contrib.model_pruning.frozen import strip_pruning_vars_fn as strip_pruning_vars_fn
from weft.lib.contrib.model_pruning.layers import MaskedBasicLSTMCell as MaskedBasicLSTMCell
from weft.lib.contrib.model_pruning.layers import MaskedLSTMCell as MaskedLSTMCell
from weft.lib.contrib.model_pruning.layers import masked_conv2d as masked_conv2d
from weft.lib.contrib.model_pruning.layers import masked_convolution as masked_convolution
from weft.lib.contrib.model_pruning.layers import masked_fully_connected as masked_fully_connected
from weft.lib.contrib.model_pruning.masks import apply_mask as apply_mask
from weft.lib.contrib.model_pruning.masks import get_masked_weights as get_masked_weights
from weft.lib.contrib.model_pruning.masks import get_masks as get_masks
from weft.lib.contrib.model_pruning.masks import get_thresholds as get_thresholds
from weft.lib.contrib.model_pruning.masks import get_weight_sparsity as get_weight_sparsity
from weft.lib.contrib.model_pruning.masks import get_weights as get_weights
from weft.lib.contrib.model_pruning.pruning import Pruning as Pruning
from weft.lib.contrib.model_pruning.pruning import get_pruning_hparams as get_pruning_hparams
from weft.lib.contrib.model_pruning.pruning import train as train
