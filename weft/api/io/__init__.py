"""tf.io: public names, re-exported from where they are made."""

from weft.graph.graph_io import write_graph as write_graph
from weft.storage.tf_record import (
    tf_record_iterator as tf_record_iterator,
    TFRecordCompressionType as TFRecordCompressionType,
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from weft.ops.strings.decode import decode_raw as decode_raw
from weft.ops.image.decode import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    extract_jpeg_shape as extract_jpeg_shape,
    is_jpeg as is_jpeg,
)
from weft.ops.image.encode import encode_jpeg as encode_jpeg
from weft.ops.parsing.csv import decode_csv as decode_csv
from weft.ops.parsing.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from weft.ops.parsing.sequence import (
    parse_sequence_example as parse_sequence_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from weft.ops.strings.serialized_tensors import (
    decode_json_example as decode_json_example,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from weft.ops.parsing.proto_codec import decode_proto as decode_proto, encode_proto as encode_proto
from weft.ops.queues.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)
from weft.ops.queues.readers import (
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from weft.ops.sparse.serialize import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)
from weft.lib.ragged.dispatched import (
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    encode_base64 as encode_base64,
)
from weft.lib.train.input.queues import match_filenames_once as match_filenames_once
from weft.api.io import gfile as gfile
