# Written by `make stubs` from weft/api/config/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.client.process_config import experimental_list_devices as experimental_list_devices
from weft.client.process_config import get_soft_device_placement as get_soft_device_placement
from weft.client.process_config import set_soft_device_placement as set_soft_device_placement
from weft.lib.functions.polymorphic import experimental_run_functions_eagerly as experimental_run_functions_eagerly
from weft.api.config import experimental as experimental
from weft.api.config import optimizer as optimizer
from weft.api.config import threading as threading
