# Written by `make stubs` from weft/api/saved_model/loader.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.files import maybe_saved_model_directory as maybe_saved_model_directory
from weft.lib.saved_model.loader import load as load
