# Written by `make stubs` from weft/api/train/queue_runner.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.train.input.queue_runner import add_queue_runner as add_queue_runner
from weft.lib.train.input.queue_runner import QueueRunner as QueueRunner
from weft.lib.train.input.queue_runner import start_queue_runners as start_queue_runners
