"""tf.nn.rnn_cell: public names, re-exported from where they are made."""

from weft.rnn.basic_cells import (
    BasicLSTMCell as BasicLSTMCell,
    BasicRNNCell as BasicRNNCell,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    LSTMStateTuple as LSTMStateTuple,
)
from weft.rnn.cells import RNNCell as RNNCell
from weft.rnn.wrappers import (
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    MultiRNNCell as MultiRNNCell,
    ResidualWrapper as ResidualWrapper,
)
