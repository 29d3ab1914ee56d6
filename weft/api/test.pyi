# Written by `make stubs` from weft/api/test.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from unittest import mock as mock
from weft.lib.testing.benchmark import Benchmark as Benchmark
from weft.lib.testing.case import TestCase as TestCase
from weft.lib.testing.gradient_check import compute_gradient as compute_gradient
from weft.lib.testing.stubs import StubOutForTesting as StubOutForTesting
from weft.lib.testing.graphs import assert_equal_graph_def as assert_equal_graph_def
from weft.lib.testing.benchmark import benchmark_config as benchmark_config
from weft.lib.testing.cluster import create_local_cluster as create_local_cluster
from weft.lib.testing.program import get_temp_dir as get_temp_dir
from weft.lib.testing.devices import gpu_device_name as gpu_device_name
from weft.lib.testing.devices import is_built_with_cuda as is_built_with_cuda
from weft.lib.testing.devices import is_built_with_gpu_support as is_built_with_gpu_support
from weft.lib.testing.devices import is_built_with_rocm as is_built_with_rocm
from weft.lib.testing.devices import is_gpu_available as is_gpu_available
from weft.lib.testing.program import main as main
from weft.lib.testing.program import test_src_dir_path as test_src_dir_path
def compute_gradient_error(x: _Any, x_shape: _Any, y: _Tensor, y_shape: _Any, x_init_value: _Any = None, delta: _builtins.float = 0.001, init_targets: _Any = None, extra_feed_dict: _builtins.dict[_Any, _Any] | None = None) -> _Any: ...
