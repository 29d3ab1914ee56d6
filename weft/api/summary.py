"""tf.summary: public names, re-exported from where they are made."""

from tensorboard.compat.proto.event_pb2 import (
    Event as Event,
    SessionLog as SessionLog,
    TaggedRunMetadata as TaggedRunMetadata,
)
from tensorboard.compat.proto.summary_pb2 import (
    Summary as Summary,
    SummaryDescription as SummaryDescription,
)
