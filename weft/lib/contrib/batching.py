"""tf.contrib.batching: many small steps of a server as one."""

from weft.lib.functions.batched import nondifferentiable_batch_function as batch_function

__all__ = ["batch_function"]
