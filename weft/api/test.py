"""tf.test: each name is loaded when it is first used, so that programs do not pay for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.core import first_use

if TYPE_CHECKING:
    from unittest import mock as mock

    from weft.lib.testing.benchmark import Benchmark as Benchmark
    from weft.lib.testing.case import TestCase as TestCase
    from weft.lib.testing.gradient_check import compute_gradient as compute_gradient

_HERE = "weft.lib.testing"
_HOMES = {
    "Benchmark": f"{_HERE}.benchmark",
    "StubOutForTesting": f"{_HERE}.stubs",
    "TestCase": f"{_HERE}.case",
    "assert_equal_graph_def": f"{_HERE}.graphs",
    "benchmark_config": f"{_HERE}.benchmark",
    "compute_gradient": f"{_HERE}.gradient_check",
    "compute_gradient_error": f"{_HERE}.gradient_check",
    "create_local_cluster": f"{_HERE}.cluster",
    "get_temp_dir": f"{_HERE}.program",
    "gpu_device_name": f"{_HERE}.devices",
    "is_built_with_cuda": f"{_HERE}.devices",
    "is_built_with_gpu_support": f"{_HERE}.devices",
    "is_built_with_rocm": f"{_HERE}.devices",
    "is_gpu_available": f"{_HERE}.devices",
    "main": f"{_HERE}.program",
    "mock": "unittest",
    "test_src_dir_path": f"{_HERE}.program",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tf.test' has no attribute {name!r}")
    if name == "mock":
        value = first_use.module("unittest.mock")
    else:
        value = getattr(first_use.module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
