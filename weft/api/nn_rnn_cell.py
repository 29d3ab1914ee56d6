"""tf.nn.rnn_cell: public names, re-exported from where they are made."""

from weft.rnn.cells import (
    BasicLSTMCell as BasicLSTMCell,
)
from weft.rnn.cells import (
    BasicRNNCell as BasicRNNCell,
)
from weft.rnn.cells import (
    GRUCell as GRUCell,
)
from weft.rnn.cells import (
    LSTMCell as LSTMCell,
)
from weft.rnn.cells import (
    LSTMStateTuple as LSTMStateTuple,
)
from weft.rnn.cells import (
    RNNCell as RNNCell,
)
from weft.rnn.wrappers import (
    DeviceWrapper as DeviceWrapper,
)
from weft.rnn.wrappers import (
    DropoutWrapper as DropoutWrapper,
)
from weft.rnn.wrappers import (
    MultiRNNCell as MultiRNNCell,
)
from weft.rnn.wrappers import (
    ResidualWrapper as ResidualWrapper,
)
