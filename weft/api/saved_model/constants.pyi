# Written by `make stubs` from weft/api/saved_model/constants.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.constants import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from weft.lib.saved_model.constants import ASSETS_KEY as ASSETS_KEY
from weft.lib.saved_model.constants import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from weft.lib.saved_model.constants import MAIN_OP_KEY as MAIN_OP_KEY
from weft.lib.saved_model.constants import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from weft.lib.saved_model.constants import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from weft.lib.saved_model.constants import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from weft.lib.saved_model.constants import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from weft.lib.saved_model.constants import VARIABLES_FILENAME as VARIABLES_FILENAME
