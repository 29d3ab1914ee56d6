"""tf.contrib.recurrent: recurrent networks as loops over a function of one step."""

from weft.lib.contrib.recurrent.functional_rnn import (
    bidirectional_functional_rnn as bidirectional_functional_rnn,
)
from weft.lib.contrib.recurrent.functional_rnn import functional_rnn as functional_rnn
from weft.lib.contrib.recurrent.loops import Recurrent as Recurrent
