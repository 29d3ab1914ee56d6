# Written by `make stubs` from weft/api/distribute/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.distribute.collective import CollectiveCommunication as CollectiveCommunication
from weft.lib.distribute.collective import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from weft.lib.distribute.parameter_server import CentralStorageStrategy as CentralStorageStrategy
from weft.lib.distribute.parameter_server import ParameterServerStrategy as ParameterServerStrategy
