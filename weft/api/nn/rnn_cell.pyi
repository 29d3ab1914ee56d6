# Written by `make stubs` from weft/api/nn/rnn_cell.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.rnn.basic_cells import BasicLSTMCell as BasicLSTMCell
from weft.lib.rnn.basic_cells import BasicRNNCell as BasicRNNCell
from weft.lib.rnn.basic_cells import GRUCell as GRUCell
from weft.lib.rnn.basic_cells import LSTMCell as LSTMCell
from weft.lib.rnn.basic_cells import LSTMStateTuple as LSTMStateTuple
from weft.lib.rnn.cells import RNNCell as RNNCell
from weft.lib.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.lib.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.lib.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.lib.rnn.wrappers import ResidualWrapper as ResidualWrapper
