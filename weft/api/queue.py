"""tf.queue: public names, re-exported from where they are made."""

from weft.ops.queues import (
    FIFOQueue as FIFOQueue,
)
from weft.ops.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
)
from weft.ops.queues import (
    PriorityQueue as PriorityQueue,
)
from weft.ops.queues import (
    QueueBase as QueueBase,
)
from weft.ops.queues import (
    RandomShuffleQueue as RandomShuffleQueue,
)
