# Written by `make stubs` from weft/api/saved_model/builder.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.builder import SavedModelBuilder as SavedModelBuilder
