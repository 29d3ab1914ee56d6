"""Samples of weft/ops/control/debug_nodes.py."""

import numpy as np

from tests.ops.sample import Sample, f32, f64, i32, skip

ODD = f32([[1, -2, 0], [np.nan, np.inf, -np.inf]])

SAMPLES = [
    Sample("DebugIdentity", ODD, tensor_name="a:0", grad=False),
    Sample("DebugNanCount", ODD, tensor_name="a:0", grad=False),
    Sample("DebugNanCount", f64([1, 2]), tensor_name="a:0", grad=False),
    Sample("DebugNumericSummary", ODD, tensor_name="a:0", grad=False),
    Sample("DebugNumericSummary", f64([[1, 2, -3, 4]]), lower_bound=-2.5, upper_bound=3.0,
           tensor_name="a:0", grad=False),
    Sample("DebugNumericSummary", i32([4, 0, -1]), tensor_name="a:0", grad=False),
    Sample("DebugGradientIdentity", f32([1, 2]), grad=False),
    skip("Copy", "a debugger's node, which passes its input on"),
    Sample("CopyHost", f32([1, 2]), grad=False),
]  # fmt: skip
