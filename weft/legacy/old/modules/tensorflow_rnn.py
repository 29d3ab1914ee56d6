"""`tensorflow.models.rnn.rnn`, of the releases before 0.8."""

import weft

rnn = weft.nn.static_rnn
bidirectional_rnn = weft.nn.static_bidirectional_rnn
state_saving_rnn = weft.nn.static_state_saving_rnn
dynamic_rnn = weft.nn.dynamic_rnn
