# Written by `make stubs` from weft/api/config/threading.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.client.process_config import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from weft.client.process_config import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from weft.client.process_config import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from weft.client.process_config import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
