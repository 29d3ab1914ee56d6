"""`tensorflow.models.rnn.linear`, of the releases before 0.7."""

from weft.legacy.old.tensorflow_behaviour import linear

__all__ = ["linear"]
