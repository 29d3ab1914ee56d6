"""tf.summary: public names, re-exported from where they are made."""

from tensorboard.compat.proto.event_pb2 import (
    Event as Event,
)
from tensorboard.compat.proto.event_pb2 import (
    SessionLog as SessionLog,
)
from tensorboard.compat.proto.event_pb2 import (
    TaggedRunMetadata as TaggedRunMetadata,
)
from tensorboard.compat.proto.summary_pb2 import (
    Summary as Summary,
)
from tensorboard.compat.proto.summary_pb2 import (
    SummaryDescription as SummaryDescription,
)
