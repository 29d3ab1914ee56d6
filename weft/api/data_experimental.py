"""tf.data.experimental: public names, re-exported from where they are made."""

from weft.io.tf_record import (
    TFRecordWriter as TFRecordWriter,
)
from weft.ops.array_sets import (
    unique as unique,
)
from weft.ops.functional import (
    scan as scan,
)
