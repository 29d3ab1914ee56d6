"""tf.ragged: public names, re-exported from where they are made."""

from weft.lib.ragged.array import (
    boolean_mask as boolean_mask,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from weft.lib.ragged.constant import (
    constant as constant,
    constant_value as constant_value,
    placeholder as placeholder,
)
from weft.lib.ragged.joining import stack as stack
from weft.lib.ragged.mapping import map_flat_values as map_flat_values
from weft.lib.ragged.math import range as range
from weft.lib.ragged.rows import (
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
)
from weft.lib.ragged.value import RaggedTensorValue as RaggedTensorValue
