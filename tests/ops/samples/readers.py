"""Why readers and files have no samples: what they do depends on files and queues."""

from __future__ import annotations

from tests.ops.sample import skip

_FILES = "reads or writes files: see tests/ops/queues/test_readers.py"
_MAP = "keeps tensors between steps: see tests/train/test_input.py"

_READERS = ("FixedLengthRecord", "Identity", "TFRecord", "TextLine", "WholeFile")
_CALLS = ("NumRecordsProduced", "NumWorkUnitsCompleted", "Read", "ReadUpTo", "Reset")
_STATES = ("RestoreState", "SerializeState")

SAMPLES = [
    *(skip(f"{kind}Reader{version}", _FILES) for kind in _READERS for version in ("", "V2")),
    *(
        skip(f"Reader{call}{version}", _FILES)
        for call in (*_CALLS, *_STATES)
        for version in ("", "V2")
    ),
    *(
        skip(op, _FILES)
        for op in ("LMDBReader", "MatchingFiles", "ReadFile", "RecordInput", "WriteFile")
    ),
    *(
        skip(op, _MAP)
        for op in (
            "AddManySparseToTensorsMap",
            "AddSparseToTensorsMap",
            "TakeManySparseFromTensorsMap",
        )
    ),
]
