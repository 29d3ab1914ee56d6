"""tf.train.queue_runner: public names, re-exported from where they are made."""

from weft.lib.train.input.queue_runner import (
    add_queue_runner as add_queue_runner,
    QueueRunner as QueueRunner,
    start_queue_runners as start_queue_runners,
)
