"""tf.train.queue_runner: public names, re-exported from where they are made."""

from weft.train.queue_runner import (
    QueueRunner as QueueRunner,
)
from weft.train.queue_runner import (
    add_queue_runner as add_queue_runner,
)
from weft.train.queue_runner import (
    start_queue_runners as start_queue_runners,
)
