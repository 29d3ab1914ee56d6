# Written by `make stubs` from weft/api/saved_model/tag_constants.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.tag_constants import GPU as GPU
from weft.lib.saved_model.tag_constants import SERVING as SERVING
from weft.lib.saved_model.tag_constants import TPU as TPU
from weft.lib.saved_model.tag_constants import TRAINING as TRAINING
