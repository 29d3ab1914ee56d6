# Written by `make stubs` from weft/api/random/__init__.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.graph.random_seed import get_seed as get_seed
from weft.graph.random_seed import set_random_seed as set_random_seed
from weft.ops.nn.candidate_sampling import all_candidate_sampler as all_candidate_sampler
from weft.ops.nn.candidate_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from weft.ops.random.random import categorical as categorical
from weft.ops.random.random import random_gamma as _is_gamma
from weft.ops.random.random import multinomial as multinomial
from weft.ops.random.random import random_poisson as _is_poisson
from weft.ops.random.random import random_shuffle as _is_shuffle
from weft.ops.random.random import stateless_categorical as stateless_categorical
from weft.ops.random.random import stateless_multinomial as stateless_multinomial
from weft.ops.random.random import stateless_uniform as stateless_uniform
from weft.ops.random.random import random_uniform as _is_uniform
from weft.api.random import experimental as experimental
def learned_unigram_candidate_sampler(true_classes: _Any, num_true: _builtins.int, num_sampled: _builtins.int, unique: _builtins.bool, range_max: _builtins.int, seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor, _Tensor]: ...
def log_uniform_candidate_sampler(true_classes: _Any, num_true: _builtins.int, num_sampled: _builtins.int, unique: _builtins.bool, range_max: _builtins.int, seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor, _Tensor]: ...
def uniform_candidate_sampler(true_classes: _Any, num_true: _builtins.int, num_sampled: _builtins.int, unique: _builtins.bool, range_max: _builtins.int, seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor, _Tensor]: ...
gamma = _is_gamma
def normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = ..., seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _Tensor: ...
poisson = _is_poisson
shuffle = _is_shuffle
def stateless_normal(shape: _Any, seed: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def stateless_truncated_normal(shape: _Any, seed: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def truncated_normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = ..., seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _Tensor: ...
uniform = _is_uniform
