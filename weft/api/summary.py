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
from weft.lib.summary.summary import (
    audio as audio,
    get_summary_description as get_summary_description,
    histogram as histogram,
    image as image,
    merge as merge,
    merge_all as merge_all,
    scalar as scalar,
    tensor_summary as tensor_summary,
    text as text,
)
from weft.lib.summary.summary_ops_v2 import (
    all_v2_summary_ops as all_v2_summary_ops,
    initialize as initialize,
)
from weft.lib.summary.writer import FileWriter as FileWriter, FileWriterCache as FileWriterCache
