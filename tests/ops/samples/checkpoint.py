"""Names of shards, joined strings; what touches files is tested in test_checkpoint.py."""

from __future__ import annotations

from tests.ops.sample import Sample, i32, s, skip

_FILES = "reads or writes files: see tests/ops/files/test_checkpoint.py"

SAMPLES = [
    Sample("ShardedFilename", s("model"), i32(1), i32(12)),
    Sample("ShardedFilename", s("dir/m.ckpt"), i32(123456), i32(3)),
    Sample("ShardedFilespec", s("model"), i32(12)),
    Sample("StringJoin", [s("a"), s("b")]),
    Sample("StringJoin", [s(["a", "b"]), s("/"), s(["x", "yy"])], separator="-"),
    Sample("StringJoin", [s([["a"], ["b"]])], separator=", "),
    *(
        skip(op, _FILES)
        for op in (
            "SaveV2", "RestoreV2", "MergeV2Checkpoints", "Save", "SaveSlices", "Restore",
            "RestoreSlice", "GenerateVocabRemapping", "LoadAndRemapMatrix",
        )
    ),
    skip("_RestoreVariables", "weft's own; checked in tests/passes/test_restores.py"),
]  # fmt: skip
