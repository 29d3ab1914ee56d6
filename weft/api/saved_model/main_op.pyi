# Written by `make stubs` from weft/api/saved_model/main_op.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.main_op import main_op as main_op
from weft.lib.saved_model.main_op import main_op_with_restore as main_op_with_restore
