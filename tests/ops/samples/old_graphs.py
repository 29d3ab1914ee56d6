"""Operations that only old graphs have; other tests look at what samples cannot ask for."""

from __future__ import annotations

from tests.ops.sample import skip

_ARRAYS = "Close Concat Gather Grad Read Scatter Size Split Write".split()
SAMPLES = [
    *(
        skip(f"Batch{name}", f"the kernel of {name} under an older name")
        for name in (
            *(f"{way}FFT{rank}" for way in ("", "I") for rank in ("", "2D", "3D")),
            *(f"Matrix{part}" for part in ("BandPart", "Diag", "DiagPart", "SetDiag")),
        )
    ),
    *(
        skip(f"TensorArray{name}", "an object of a step: tests/ops/test_old_graphs.py")
        for name in (
            *(f"{name}{version}" for name in ("", *_ARRAYS) for version in ("", "V2")),
            *("Pack", "Unpack"),
        )
    ),
    *(
        skip(name, "an object or a server: tests/ops/test_last_operations.py")
        for name in (
            "Rpc",
            "TryRpc",
            "StatsAggregatorHandleV2",
            "StatsAggregatorSetSummaryWriter",
            "TensorForestCreateTreeVariable",
            "TensorForestTreeDeserialize",
            "TensorForestTreeIsInitializedOp",
            "TensorForestTreePredict",
            "TensorForestTreeResourceHandleOp",
            "TensorForestTreeSerialize",
            "TensorForestTreeSize",
            "TensorListPushBackBatch",
        )
    ),
    skip("AdjustContrast", "of GraphDef version 1: tests/ops/test_old_graphs.py"),
    skip("MutableDenseHashTable", "never works: tests/ops/test_old_graphs.py"),
    skip("Skipgram", "reads a file: tests/ops/nn/test_word2vec.py"),
    skip("NegTrain", "draws from a seed of the system's: tests/ops/nn/test_word2vec.py"),
    skip("StatefulStandardNormal", "of an older state: tests/ops/test_old_graphs.py"),
]
