"""tf.ragged: tensors whose rows have different lengths.

A `RaggedTensor` is flat values and the places where rows begin and end (`splits`); its values may
be ragged again. Everything else is made of ordinary operations on these parts.

    tensor.py       the class: factories, parts, session
    partition.py    rows given by lengths, starts, limits or numbers
    conversion.py   dense and sparse tensors, both ways
    rows.py         lengths, splits and ranges
    broadcast.py    ragged and dense shapes that fit each other
    dispatch.py     how ordinary functions take ragged arguments; dispatched.py: which do

The other modules hold the functions of tf.ragged and what ordinary functions do with ragged
arguments.
"""

from weft.lib.ragged import dispatched as dispatched  # gives ragged tensors their operators
