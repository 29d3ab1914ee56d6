"""tf.io: public names, re-exported from where they are made."""

from weft.graph.graph_io import (
    write_graph as write_graph,
)
from weft.ops.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)
