"""tf.nn.rnn_cell: public names, re-exported from where they are made."""

from weft.lib.rnn.basic_cells import (
    BasicLSTMCell as BasicLSTMCell,
    BasicRNNCell as BasicRNNCell,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    LSTMStateTuple as LSTMStateTuple,
)
from weft.lib.rnn.cells import RNNCell as RNNCell
from weft.lib.rnn.wrappers import (
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    MultiRNNCell as MultiRNNCell,
    ResidualWrapper as ResidualWrapper,
)
