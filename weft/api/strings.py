"""tf.strings: public names, re-exported from where they are made."""

from weft.ops.string_join import (
    string_join as join,
)
