"""tf.strings: public names, re-exported from where they are made."""

from weft.ops.strings.reduce import unsorted_segment_join as unsorted_segment_join
from weft.ops.strings.unicode import unicode_transcode as unicode_transcode
from weft.ops.strings.strings import (
    string_format as format,
    string_lower as lower,
    string_upper as upper,
)
from weft.lib.ragged.dispatched import (
    as_string as as_string,
    string_join as join,
    string_length as length,
    reduce_join as reduce_join,
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    string_strip as strip,
    substr as substr,
    string_to_hash_bucket as to_hash_bucket,
    string_to_hash_bucket_fast as to_hash_bucket_fast,
    string_to_hash_bucket_strong as to_hash_bucket_strong,
    string_to_number as to_number,
    unicode_script as unicode_script,
)
from weft.lib.ragged.strings import (
    string_bytes_split as bytes_split,
    ngrams as ngrams,
    strings_split as split,
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
)
