"""tf.contrib.checkpoint: what can be put in a tf.train.Checkpoint."""

from weft.lib.train.checkpoint.management import CheckpointManager as CheckpointManager
from weft.lib.train.checkpoint.objects import AutoTrackable as Checkpointable  # noqa: F401
from weft.lib.train.checkpoint.objects import Trackable as CheckpointableBase  # noqa: F401
