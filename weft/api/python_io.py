"""tf.python_io: public names, re-exported from where they are made."""

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
