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
    decode_base64 as decode_base64,
)
from weft.ops.decode import (
    decode_compressed as decode_compressed,
)
from weft.ops.decode import (
    decode_raw as decode_raw,
)
from weft.ops.decode import (
    encode_base64 as encode_base64,
)
from weft.ops.image_codec import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
)
from weft.ops.image_codec import (
    decode_bmp as decode_bmp,
)
from weft.ops.image_codec import (
    decode_gif as decode_gif,
)
from weft.ops.image_codec import (
    decode_image as decode_image,
)
from weft.ops.image_codec import (
    decode_jpeg as decode_jpeg,
)
from weft.ops.image_codec import (
    decode_png as decode_png,
)
from weft.ops.image_codec import (
    encode_jpeg as encode_jpeg,
)
from weft.ops.image_codec import (
    extract_jpeg_shape as extract_jpeg_shape,
)
from weft.ops.image_codec import (
    is_jpeg as is_jpeg,
)
from weft.ops.parsing_csv import (
    decode_csv as decode_csv,
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
from weft.ops.parsing_tensor import (
    decode_json_example as decode_json_example,
)
from weft.ops.parsing_tensor import (
    parse_tensor as parse_tensor,
)
from weft.ops.parsing_tensor import (
    serialize_tensor as serialize_tensor,
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
from weft.ops.sparse_serialize import (
    deserialize_many_sparse as deserialize_many_sparse,
)
from weft.ops.sparse_serialize import (
    serialize_many_sparse as serialize_many_sparse,
)
from weft.ops.sparse_serialize import (
    serialize_sparse as serialize_sparse,
)
from weft.train.input import (
    match_filenames_once as match_filenames_once,
)
