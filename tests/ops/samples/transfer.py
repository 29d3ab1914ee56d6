"""Ops that move tensors between devices: only a step over several devices can run them."""

from tests.ops.sample import skip

_REASON = "run by the executor between devices: tests/runtime/test_partitioned.py"

SAMPLES = [skip(op, _REASON) for op in ("_Send", "_Recv", "_HostSend", "_HostRecv")]
