# Written by `make stubs` from weft/api/config/optimizer.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.client.process_config import get_experimental_options as get_experimental_options
from weft.client.process_config import get_jit as get_jit
from weft.client.process_config import set_experimental_options as set_experimental_options
from weft.client.process_config import set_jit as set_jit
