# Written by `make stubs` from weft/api/random/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.train.random_generator import create_rng_state as create_rng_state
from weft.lib.train.random_generator import Generator as Generator
from weft.lib.train.random_generator import get_global_generator as get_global_generator
from weft.lib.train.random_generator import set_global_generator as set_global_generator
