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

from weft.summary.summary import (
    audio as audio,
)
from weft.summary.summary import (
    get_summary_description as get_summary_description,
)
from weft.summary.summary import (
    histogram as histogram,
)
from weft.summary.summary import (
    image as image,
)
from weft.summary.summary import (
    merge as merge,
)
from weft.summary.summary import (
    merge_all as merge_all,
)
from weft.summary.summary import (
    scalar as scalar,
)
from weft.summary.summary import (
    tensor_summary as tensor_summary,
)
from weft.summary.summary import (
    text as text,
)
from weft.summary.summary_ops_v2 import (
    all_v2_summary_ops as all_v2_summary_ops,
)
from weft.summary.summary_ops_v2 import (
    initialize as initialize,
)
from weft.summary.writer import (
    FileWriter as FileWriter,
)
from weft.summary.writer import (
    FileWriterCache as FileWriterCache,
)
