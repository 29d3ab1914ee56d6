"""Names of `tensorflow.python.framework.test_util`: decorators that say how a test is run."""

from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable
from typing import Any

import weft as tf
from weft.lib.contrib.eager.modes import (
    run_all_tests_in_graph_and_eager_modes as run_all_in_graph_and_eager_modes,
)
from weft.lib.contrib.eager.modes import (
    run_test_in_graph_and_eager_modes as run_in_graph_and_eager_modes,
)

Test = Callable[..., Any]


def _as_it_is(test: Test) -> Test:
    """The test itself: what the decorator switches off is not part of weft."""
    return test


def _told(description: Any = None, func: Test | None = None) -> Any:
    """A decorator that is given a reason, and changes nothing."""
    if callable(description):
        return description
    return _as_it_is if func is None else func


def _only_if(possible: Callable[[], bool], reason: str) -> Callable[..., Any]:
    """A decorator of tests that are skipped where something is not there."""

    def decorator(func: Test | None = None) -> Any:
        def decorate(test: Test) -> Test:
            @functools.wraps(test)
            def run(self: unittest.TestCase, *args: Any, **kwargs: Any) -> Any:
                if not possible():
                    self.skipTest(reason)
                return test(self, *args, **kwargs)

            return run

        return decorate if func is None else decorate(func)

    return decorator


def enable_control_flow_v2(fn: Test) -> Test:
    """A test whose conditions and loops are functions."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> None:
        before = tf.control_flow_v2_enabled()
        tf.enable_control_flow_v2()
        try:
            fn(*args, **kwargs)
        finally:
            if not before:
                tf.disable_control_flow_v2()

    return run


# weft is TensorFlow 1: its graphs are what these ask for.
run_deprecated_v1 = deprecated_graph_mode_only = _as_it_is
enable_c_shapes = with_c_shapes = use_deterministic_cudnn = disable_cudnn_autotune = _as_it_is
assert_no_new_tensors = assert_no_garbage_created = _as_it_is
assert_no_new_pyobjects_executing_eagerly = _as_it_is
run_v1_only = disable_xla = no_xla_auto_jit = xla_allow_fallback = _told
disable_control_flow_v2 = enable_tf_xla_constant_folding = run_all_without_tensor_float_32 = _told
run_v2_only = _only_if(lambda: False, "Test is only compatible with v2")
run_gpu_only = run_cuda_only = _only_if(tf.test.is_gpu_available, "Test requires GPU")


def is_xla_enabled() -> bool:
    """Whether tests are to be compiled as a whole: they run as programs do."""
    return False


def IsMklEnabled() -> bool:
    return False


def IsGoogleCudaEnabled() -> bool:
    return bool(tf.test.is_built_with_cuda())


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """The nodes of `expected_ops` (name -> type), after a look whether the graph has them."""
    nodes = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in nodes.items():
        wanted = expected_ops[name]
        if node.op != wanted:
            raise ValueError(f"Expected op for node {name} is different. {wanted} vs {node.op}")
    if len(nodes) < len(expected_ops):
        raise ValueError(
            "Not all expected ops are present. "
            f"Expected {expected_ops.keys()}, found {nodes.keys()}"
        )
    return nodes


class spectral:
    """Names of `tensorflow.python.ops.spectral_ops_test_util`."""

    # Only one implementation of transforms is there to choose.
    fft_kernel_label_map = contextlib.nullcontext


__all__ = ["run_all_in_graph_and_eager_modes", "run_in_graph_and_eager_modes"]
