"""tf.compat.v2.summary: public names, re-exported from where they are made."""

from weft.lib.summary import experimental as experimental
from weft.lib.summary.event_writers import SummaryWriter as SummaryWriter
from weft.lib.summary.event_writers import create_file_writer_v2 as create_file_writer
from weft.lib.summary.event_writers import create_noop_writer as create_noop_writer
from weft.lib.summary.event_writers import flush as flush
from weft.lib.summary.kinds import audio as audio
from weft.lib.summary.kinds import histogram as histogram
from weft.lib.summary.kinds import image as image
from weft.lib.summary.kinds import scalar as scalar
from weft.lib.summary.kinds import text as text
from weft.lib.summary.recording import record_if as record_if
from weft.lib.summary.traces import trace_export as trace_export
from weft.lib.summary.traces import trace_off as trace_off
from weft.lib.summary.traces import trace_on as trace_on
from weft.lib.summary.write import write as write

__all__ = [
    "SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "experimental", "flush",
    "histogram", "image", "record_if", "scalar", "text", "trace_export", "trace_off", "trace_on",
    "write",
]  # fmt: skip
