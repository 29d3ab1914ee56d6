"""tf.compat.v2.summary.experimental: public names, re-exported from where they are made."""

from weft.lib.summary.recording import get_step as get_step
from weft.lib.summary.recording import set_step as set_step
from weft.lib.summary.write import summary_scope as summary_scope
from weft.lib.summary.write import write_raw_pb as write_raw_pb
