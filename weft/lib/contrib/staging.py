"""tf.contrib.staging: areas that hold tensors from one step for the next."""

from weft.ops.queues.staging import StagingArea as StagingArea
