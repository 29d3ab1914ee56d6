"""tf.contrib.checkpoint: what can be put in a tf.train.Checkpoint."""

from weft.train.checkpoint_management import CheckpointManager as CheckpointManager
from weft.train.checkpoint_objects import AutoTrackable as Checkpointable  # noqa: F401
from weft.train.checkpoint_objects import Trackable as CheckpointableBase  # noqa: F401
