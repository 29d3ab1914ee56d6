"""tf.contrib.tfprof: tf.profiler under its earlier names."""

from weft.lib.contrib.tfprof import model_analyzer as model_analyzer
from weft.lib.contrib.tfprof import tfprof_logger as tfprof_logger
from weft.lib.profiler.context import ProfileContext as ProfileContext
