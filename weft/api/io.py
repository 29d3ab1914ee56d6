"""tf.io: public names, re-exported from where they are made."""

from weft.api import io_gfile as gfile
from weft.graph.graph_io import (
    write_graph as write_graph,
)
from weft.io.tf_record import (
    TFRecordCompressionType as TFRecordCompressionType,
)
from weft.io.tf_record import (
    TFRecordOptions as TFRecordOptions,
)
from weft.io.tf_record import (
    TFRecordWriter as TFRecordWriter,
)
from weft.io.tf_record import (
    tf_record_iterator as tf_record_iterator,
)
from weft.ops.decode import (
    decode_raw as decode_raw,
)
from weft.ops.parsing_features import (
    FixedLenFeature as FixedLenFeature,
)
from weft.ops.parsing_features import (
    FixedLenSequenceFeature as FixedLenSequenceFeature,
)
from weft.ops.parsing_features import (
    SparseFeature as SparseFeature,
)
from weft.ops.parsing_features import (
    VarLenFeature as VarLenFeature,
)
from weft.ops.parsing_features import (
    parse_example as parse_example,
)
from weft.ops.parsing_features import (
    parse_single_example as parse_single_example,
)
from weft.ops.parsing_sequence import (
    parse_sequence_example as parse_sequence_example,
)
from weft.ops.parsing_sequence import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from weft.ops.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
)
from weft.ops.queues import (
    PriorityQueue as PriorityQueue,
)
from weft.ops.queues import (
    QueueBase as QueueBase,
)
from weft.ops.queues import (
    RandomShuffleQueue as RandomShuffleQueue,
)
from weft.ops.readers import (
    matching_files as matching_files,
)
from weft.ops.readers import (
    read_file as read_file,
)
from weft.ops.readers import (
    write_file as write_file,
)
from weft.train.input import (
    match_filenames_once as match_filenames_once,
)
