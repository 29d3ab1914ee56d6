"""tf.audio: public names, re-exported from where they are made."""

from weft.ops.image.audio import decode_wav as decode_wav, encode_wav as encode_wav
