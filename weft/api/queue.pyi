# Written by `make stubs` from weft/api/queue.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.queues.queues import FIFOQueue as FIFOQueue
from weft.ops.queues.queues import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.queues.queues import PriorityQueue as PriorityQueue
from weft.ops.queues.queues import QueueBase as QueueBase
from weft.ops.queues.queues import RandomShuffleQueue as RandomShuffleQueue
