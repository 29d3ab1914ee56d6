"""tf.contrib.summary: summaries that are written when their operations run."""

from weft.lib.summary.event_writers import SummaryWriter as SummaryWriter
from weft.lib.summary.event_writers import create_db_writer as create_db_writer
from weft.lib.summary.event_writers import create_file_writer as create_file_writer
from weft.lib.summary.event_writers import create_summary_file_writer as create_summary_file_writer
from weft.lib.summary.event_writers import flush as flush
from weft.lib.summary.summary_ops_v2 import all_v2_summary_ops
from weft.lib.summary.summary_ops_v2 import always_record_summaries as always_record_summaries
from weft.lib.summary.summary_ops_v2 import audio as audio
from weft.lib.summary.summary_ops_v2 import eval_dir as eval_dir
from weft.lib.summary.summary_ops_v2 import generic as generic
from weft.lib.summary.summary_ops_v2 import graph as graph
from weft.lib.summary.summary_ops_v2 import histogram as histogram
from weft.lib.summary.summary_ops_v2 import image as image
from weft.lib.summary.summary_ops_v2 import import_event as import_event
from weft.lib.summary.summary_ops_v2 import initialize as initialize
from weft.lib.summary.summary_ops_v2 import never_record_summaries as never_record_summaries
from weft.lib.summary.summary_ops_v2 import (
    record_summaries_every_n_global_steps as record_summaries_every_n_global_steps,
)
from weft.lib.summary.summary_ops_v2 import scalar as scalar
from weft.lib.summary.summary_ops_v2 import should_record_summaries as should_record_summaries
from weft.lib.summary.summary_ops_v2 import (
    summary_writer_initializer_op as summary_writer_initializer_op,
)

all_summary_ops = all_v2_summary_ops
