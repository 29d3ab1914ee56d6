"""tf.contrib.proto: messages in tensors of strings, taken apart and put together."""

from weft.ops.parsing.proto_codec import decode_proto as decode_proto
from weft.ops.parsing.proto_codec import encode_proto as encode_proto
