"""tf.contrib.rnn: cells and networks, re-exported from where they are made."""

from weft.lib.rnn.basic_cells import BasicLSTMCell as BasicLSTMCell
from weft.lib.rnn.basic_cells import BasicRNNCell as BasicRNNCell
from weft.lib.rnn.basic_cells import GRUCell as GRUCell
from weft.lib.rnn.basic_cells import LSTMCell as LSTMCell
from weft.lib.rnn.basic_cells import LSTMStateTuple as LSTMStateTuple
from weft.lib.rnn.block_cells import GRUBlockCell as GRUBlockCell
from weft.lib.rnn.block_cells import GRUBlockCellV2 as GRUBlockCellV2
from weft.lib.rnn.block_cells import LSTMBlockCell as LSTMBlockCell
from weft.lib.rnn.cells import LayerRNNCell as LayerRNNCell
from weft.lib.rnn.cells import RNNCell as RNNCell
from weft.lib.rnn.conv_cells import Conv1DLSTMCell as Conv1DLSTMCell
from weft.lib.rnn.conv_cells import Conv2DLSTMCell as Conv2DLSTMCell
from weft.lib.rnn.conv_cells import Conv3DLSTMCell as Conv3DLSTMCell
from weft.lib.rnn.conv_cells import ConvLSTMCell as ConvLSTMCell
from weft.lib.rnn.dynamic import best_effort_input_batch_size as best_effort_input_batch_size
from weft.lib.rnn.fused import FusedRNNCell as FusedRNNCell
from weft.lib.rnn.fused import FusedRNNCellAdaptor as FusedRNNCellAdaptor
from weft.lib.rnn.fused import LSTMBlockFusedCell as LSTMBlockFusedCell
from weft.lib.rnn.fused import LSTMBlockWrapper as LSTMBlockWrapper
from weft.lib.rnn.fused import TimeReversedFusedRNN as TimeReversedFusedRNN
from weft.lib.rnn.gated_cells import CompiledWrapper as CompiledWrapper
from weft.lib.rnn.gated_cells import HighwayWrapper as HighwayWrapper
from weft.lib.rnn.gated_cells import IntersectionRNNCell as IntersectionRNNCell
from weft.lib.rnn.gated_cells import SRUCell as SRUCell
from weft.lib.rnn.gated_cells import UGRNNCell as UGRNNCell
from weft.lib.rnn.grid_cells import BidirectionalGridLSTMCell as BidirectionalGridLSTMCell
from weft.lib.rnn.grid_cells import GridLSTMCell as GridLSTMCell
from weft.lib.rnn.grid_cells import TimeFreqLSTMCell as TimeFreqLSTMCell
from weft.lib.rnn.independent_cells import IndRNNCell as IndRNNCell
from weft.lib.rnn.independent_cells import IndyGRUCell as IndyGRUCell
from weft.lib.rnn.independent_cells import IndyLSTMCell as IndyLSTMCell
from weft.lib.rnn.lstm_variants import (
    CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell,
)
from weft.lib.rnn.lstm_variants import GLSTMCell as GLSTMCell
from weft.lib.rnn.lstm_variants import PhasedLSTMCell as PhasedLSTMCell
from weft.lib.rnn.more_cells import AttentionCellWrapper as AttentionCellWrapper
from weft.lib.rnn.more_cells import LayerNormBasicLSTMCell as LayerNormBasicLSTMCell
from weft.lib.rnn.more_cells import NASCell as NASCell
from weft.lib.rnn.projections import EmbeddingWrapper as EmbeddingWrapper
from weft.lib.rnn.projections import InputProjectionWrapper as InputProjectionWrapper
from weft.lib.rnn.projections import OutputProjectionWrapper as OutputProjectionWrapper
from weft.lib.rnn.stacks import stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn
from weft.lib.rnn.stacks import stack_bidirectional_rnn as stack_bidirectional_rnn
from weft.lib.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from weft.lib.rnn.static import static_rnn as static_rnn
from weft.lib.rnn.static import static_state_saving_rnn as static_state_saving_rnn
from weft.lib.rnn.step import transpose_batch_time as transpose_batch_time
from weft.lib.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.lib.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.lib.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.lib.rnn.wrappers import ResidualWrapper as ResidualWrapper
