# Written by `make stubs` from weft/api/ragged.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.ragged.array import boolean_mask as boolean_mask
from weft.lib.ragged.array import stack_dynamic_partitions as stack_dynamic_partitions
from weft.lib.ragged.constant import constant as constant
from weft.lib.ragged.constant import constant_value as constant_value
from weft.lib.ragged.constant import placeholder as placeholder
from weft.lib.ragged.joining import stack as stack
from weft.lib.ragged.mapping import map_flat_values as map_flat_values
from weft.lib.ragged.math import range as range
from weft.lib.ragged.rows import row_splits_to_segment_ids as row_splits_to_segment_ids
from weft.lib.ragged.rows import segment_ids_to_row_splits as segment_ids_to_row_splits
from weft.lib.ragged.value import RaggedTensorValue as RaggedTensorValue
