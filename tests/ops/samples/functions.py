"""Operations that call functions."""

from tests.ops.sample import skip

_REASON = "calls functions of the graph's library: see tests/passes/test_inline.py"

SAMPLES = [
    *(
        skip(op, _REASON)
        for op in (
            "Case",
            "For",
            "If",
            "PartitionedCall",
            "RemoteCall",
            "StatefulPartitionedCall",
            "StatelessCase",
            "StatelessIf",
            "StatelessWhile",
            "SymbolicGradient",
            "While",
        )
    ),
    skip("FakeParam", "its value means nothing"),
    skip("_ToBool", "weft's own: see tests/passes/test_inline.py"),
    skip("_RangeStart", "weft's own: see tests/passes/test_inline.py"),
]
