"""tf.python_io: public names, re-exported from where they are made."""

from weft.storage.tf_record import (
    tf_record_iterator as tf_record_iterator,
    TFRecordCompressionType as TFRecordCompressionType,
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
