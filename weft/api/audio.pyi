# Written by `make stubs` from weft/api/audio.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.image.audio import decode_wav as decode_wav
from weft.ops.image.audio import encode_wav as encode_wav
