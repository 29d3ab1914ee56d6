# Written by `make stubs` from weft/api/python_io.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.storage.tf_record import tf_record_iterator as tf_record_iterator
from weft.storage.tf_record import TFRecordCompressionType as TFRecordCompressionType
from weft.storage.tf_record import TFRecordOptions as TFRecordOptions
from weft.storage.tf_record import TFRecordWriter as TFRecordWriter
