"""Why queues and their kin have no samples: what they do depends on what waits in them."""

from __future__ import annotations

from tests.ops.sample import skip

_WAITS = "holds state and may wait: see tests/runtime/test_queues.py and test_data_flow.py"

_QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")
_CALLS = ("Close", "Dequeue", "DequeueMany", "DequeueUpTo", "Enqueue", "EnqueueMany", "IsClosed")
_ACCUMULATORS = ("ApplyGradient", "NumAccumulated", "SetGlobalStep", "TakeGradient")
_MAPS = ("Clear", "IncompleteSize", "Peek", "Size", "Stage", "Unstage", "UnstageNoKey")

SAMPLES = [
    skip(name, _WAITS)
    for name in (
        *(f"{kind}{version}" for kind in _QUEUES for version in ("", "V2")),
        *(f"Queue{call}{version}" for call in (*_CALLS, "Size") for version in ("", "V2")),
        "FakeQueue",
        *("Barrier", "BarrierClose", "BarrierIncompleteSize", "BarrierInsertMany"),
        *("BarrierReadySize", "BarrierTakeMany"),
        *(f"{kind}{call}" for kind in ("Map", "OrderedMap") for call in _MAPS),
        *("Stage", "StageClear", "StagePeek", "StageSize", "Unstage"),
        *("MutexV2", "MutexLock", "ConsumeMutexLock"),
        *("ConditionalAccumulator", "ResourceConditionalAccumulator"),
        *(f"{kind}{c}" for kind in ("Accumulator", "ResourceAccumulator") for c in _ACCUMULATORS),
        *("SparseConditionalAccumulator", "SparseAccumulatorApplyGradient"),
        "SparseAccumulatorTakeGradient",
    )
]
_READS = "reads or writes files, or holds state between runs: see tests/storage and tests/ops"
_READERS = ("FixedLengthRecordReader", "IdentityReader", "TFRecordReader", "TextLineReader")
_READS_BY = ("NumRecordsProduced", "NumWorkUnitsCompleted", "Read", "ReadUpTo", "Reset")
SAMPLES += [
    skip(name, _READS)
    for name in (
        *(f"{kind}{v}" for kind in (*_READERS, "WholeFileReader") for v in ("", "V2")),
        *(
            f"Reader{c}{v}"
            for c in (*_READS_BY, "RestoreState", "SerializeState")
            for v in ("", "V2")
        ),
        *("LMDBReader", "MatchingFiles", "ReadFile", "RecordInput", "WriteFile"),
        *("AddManySparseToTensorsMap", "AddSparseToTensorsMap", "TakeManySparseFromTensorsMap"),
        "TensorArrayGradWithShape",
    )
]
SAMPLES.append(skip("_Arg", "the end of a feed: it is never computed"))
