"""tf.io: public names, re-exported from where they are made."""

from weft.graph.graph_io import (
    write_graph as write_graph,
)
from weft.io.tf_record import (
    tf_record_iterator as tf_record_iterator,
    TFRecordCompressionType as TFRecordCompressionType,
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from weft.ops.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)
from weft.ops.readers import (
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from weft.train.input import (
    match_filenames_once as match_filenames_once,
)
from weft.api import io_gfile as gfile
