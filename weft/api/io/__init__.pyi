# Written by `make stubs` from weft/api/io/__init__.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.graph.graph_io import write_graph as write_graph
from weft.storage.tf_record import tf_record_iterator as tf_record_iterator
from weft.storage.tf_record import TFRecordCompressionType as TFRecordCompressionType
from weft.storage.tf_record import TFRecordOptions as TFRecordOptions
from weft.storage.tf_record import TFRecordWriter as TFRecordWriter
from weft.ops.strings.decode import decode_raw as decode_raw
from weft.ops.image.decode import decode_and_crop_jpeg as decode_and_crop_jpeg
from weft.ops.image.decode import decode_bmp as decode_bmp
from weft.ops.image.decode import decode_gif as decode_gif
from weft.ops.image.decode import decode_image as decode_image
from weft.ops.image.decode import decode_jpeg as decode_jpeg
from weft.ops.image.decode import decode_png as decode_png
from weft.ops.image.decode import extract_jpeg_shape as extract_jpeg_shape
from weft.ops.image.decode import is_jpeg as is_jpeg
from weft.ops.image.encode import encode_jpeg as encode_jpeg
from weft.ops.parsing.csv import decode_csv as decode_csv
from weft.ops.parsing.features import FixedLenFeature as FixedLenFeature
from weft.ops.parsing.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from weft.ops.parsing.features import parse_example as parse_example
from weft.ops.parsing.features import parse_single_example as parse_single_example
from weft.ops.parsing.features import SparseFeature as SparseFeature
from weft.ops.parsing.features import VarLenFeature as VarLenFeature
from weft.ops.parsing.sequence import parse_sequence_example as parse_sequence_example
from weft.ops.parsing.sequence import parse_single_sequence_example as parse_single_sequence_example
from weft.ops.strings.serialized_tensors import decode_json_example as decode_json_example
from weft.ops.strings.serialized_tensors import parse_tensor as parse_tensor
from weft.ops.strings.serialized_tensors import serialize_tensor as serialize_tensor
from weft.ops.parsing.proto_codec import decode_proto as decode_proto
from weft.ops.parsing.proto_codec import encode_proto as encode_proto
from weft.ops.queues.queues import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.queues.queues import PriorityQueue as PriorityQueue
from weft.ops.queues.queues import QueueBase as QueueBase
from weft.ops.queues.queues import RandomShuffleQueue as RandomShuffleQueue
from weft.ops.sparse.serialize import deserialize_many_sparse as deserialize_many_sparse
from weft.ops.sparse.serialize import serialize_many_sparse as serialize_many_sparse
from weft.ops.sparse.serialize import serialize_sparse as serialize_sparse
from weft.lib.train.input.queues import match_filenames_once as match_filenames_once
from weft.api.io import gfile as gfile
def matching_files(pattern: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def read_file(filename: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def write_file(filename: _Any, contents: _Any, name: _builtins.str | None = None) -> _Any: ...
def decode_base64(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def decode_compressed(bytes: _Any, compression_type: _builtins.str = '', name: _builtins.str | None = None) -> _Tensor: ...
def encode_base64(input: _Any, pad: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
