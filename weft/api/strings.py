"""tf.strings: public names, re-exported from where they are made."""

from weft.ops.string_join import (
    string_join as join,
)
from weft.ops.string_numbers import (
    as_string as as_string,
)
from weft.ops.string_numbers import (
    string_to_number as to_number,
)
