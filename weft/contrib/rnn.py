"""tf.contrib.rnn: cells and networks, re-exported from where they are made."""

from weft.rnn.basic_cells import BasicLSTMCell as BasicLSTMCell
from weft.rnn.basic_cells import BasicRNNCell as BasicRNNCell
from weft.rnn.basic_cells import GRUCell as GRUCell
from weft.rnn.basic_cells import LSTMCell as LSTMCell
from weft.rnn.basic_cells import LSTMStateTuple as LSTMStateTuple
from weft.rnn.block_cells import GRUBlockCell as GRUBlockCell
from weft.rnn.block_cells import GRUBlockCellV2 as GRUBlockCellV2
from weft.rnn.block_cells import LSTMBlockCell as LSTMBlockCell
from weft.rnn.cells import LayerRNNCell as LayerRNNCell
from weft.rnn.cells import RNNCell as RNNCell
from weft.rnn.conv_cells import Conv1DLSTMCell as Conv1DLSTMCell
from weft.rnn.conv_cells import Conv2DLSTMCell as Conv2DLSTMCell
from weft.rnn.conv_cells import Conv3DLSTMCell as Conv3DLSTMCell
from weft.rnn.conv_cells import ConvLSTMCell as ConvLSTMCell
from weft.rnn.dynamic import best_effort_input_batch_size as best_effort_input_batch_size
from weft.rnn.fused import FusedRNNCell as FusedRNNCell
from weft.rnn.fused import FusedRNNCellAdaptor as FusedRNNCellAdaptor
from weft.rnn.fused import LSTMBlockFusedCell as LSTMBlockFusedCell
from weft.rnn.fused import LSTMBlockWrapper as LSTMBlockWrapper
from weft.rnn.fused import TimeReversedFusedRNN as TimeReversedFusedRNN
from weft.rnn.gated_cells import CompiledWrapper as CompiledWrapper
from weft.rnn.gated_cells import HighwayWrapper as HighwayWrapper
from weft.rnn.gated_cells import IntersectionRNNCell as IntersectionRNNCell
from weft.rnn.gated_cells import SRUCell as SRUCell
from weft.rnn.gated_cells import UGRNNCell as UGRNNCell
from weft.rnn.grid_cells import BidirectionalGridLSTMCell as BidirectionalGridLSTMCell
from weft.rnn.grid_cells import GridLSTMCell as GridLSTMCell
from weft.rnn.grid_cells import TimeFreqLSTMCell as TimeFreqLSTMCell
from weft.rnn.independent_cells import IndRNNCell as IndRNNCell
from weft.rnn.independent_cells import IndyGRUCell as IndyGRUCell
from weft.rnn.independent_cells import IndyLSTMCell as IndyLSTMCell
from weft.rnn.lstm_variants import (
    CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell,
)
from weft.rnn.lstm_variants import GLSTMCell as GLSTMCell
from weft.rnn.lstm_variants import PhasedLSTMCell as PhasedLSTMCell
from weft.rnn.more_cells import AttentionCellWrapper as AttentionCellWrapper
from weft.rnn.more_cells import LayerNormBasicLSTMCell as LayerNormBasicLSTMCell
from weft.rnn.more_cells import NASCell as NASCell
from weft.rnn.projections import EmbeddingWrapper as EmbeddingWrapper
from weft.rnn.projections import InputProjectionWrapper as InputProjectionWrapper
from weft.rnn.projections import OutputProjectionWrapper as OutputProjectionWrapper
from weft.rnn.stacks import stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn
from weft.rnn.stacks import stack_bidirectional_rnn as stack_bidirectional_rnn
from weft.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from weft.rnn.static import static_rnn as static_rnn
from weft.rnn.static import static_state_saving_rnn as static_state_saving_rnn
from weft.rnn.step import transpose_batch_time as transpose_batch_time
from weft.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.rnn.wrappers import ResidualWrapper as ResidualWrapper
