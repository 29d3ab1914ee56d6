"""tf.strings: public names, re-exported from where they are made."""

from weft.ops.string_hash import (
    string_to_hash_bucket as to_hash_bucket,
    string_to_hash_bucket_fast as to_hash_bucket_fast,
    string_to_hash_bucket_strong as to_hash_bucket_strong,
)
from weft.ops.string_join import string_join as join
from weft.ops.string_numbers import (
    as_string as as_string,
    string_to_number as to_number,
)
from weft.ops.string_reduce import (
    reduce_join as reduce_join,
    unsorted_segment_join as unsorted_segment_join,
)
from weft.ops.string_regex import (
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
)
from weft.ops.string_split import string_split_v2 as split
from weft.ops.string_unicode import unicode_transcode as unicode_transcode
from weft.ops.strings import (
    string_format as format,
    string_length as length,
    string_lower as lower,
    string_strip as strip,
    substr as substr,
    string_upper as upper,
)
