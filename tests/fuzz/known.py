"""Operations that the fuzzer leaves out, and why."""

from __future__ import annotations

# What they do is what a finding looks like, or they wait for somebody who is not there.
BY_DESIGN = {
    "Abort": "ends the process: that is what it is for",
    "Barrier": "takes wait until somebody inserts",
    "DebugGradientIdentity": "only within a debugged step",
    "DebugGradientRefIdentity": "only within a debugged step",
}
BY_DESIGN_PREFIXES = {
    "_": "made by the runtime alone",
    "Collective": "waits for the other members of its group",
    "Nccl": "waits for the other devices",
}

# Findings that are known and not mended yet: to be emptied.
KNOWN: dict[str, str] = {
    "AddManySparseToTensorsMap": "a size makes it go on for hours",
    "BroadcastTo": "XLA ends the process when a result cannot be allocated",
    "CTCBeamSearchDecoder": "a beam of any width is searched",
    "DynamicStitch": "an index decides how much is allocated",
    "Empty": "XLA ends the process when a result cannot be allocated",
    "Fill": "XLA ends the process when a result cannot be allocated",
    "MatrixLogarithm": "does not end on matrices that are not finite",
    "MaxPoolGrad": "windows without an end",
    "ParallelDynamicStitch": "an index decides how much is allocated",
    "RandomStandardNormal": "XLA ends the process when a result cannot be allocated",
    "RandomUniform": "XLA ends the process when a result cannot be allocated",
    "RandomUniformInt": "XLA ends the process when a result cannot be allocated",
    "RegexFullMatch": "patterns that backtrack without an end",
    "RegexReplace": "patterns that backtrack without an end",
    "StaticRegexFullMatch": "patterns that backtrack without an end",
    "StaticRegexReplace": "patterns that backtrack without an end",
    "StatelessRandomNormal": "XLA ends the process when a result cannot be allocated",
    "StatelessRandomUniform": "XLA ends the process when a result cannot be allocated",
    "StatelessRandomUniformInt": "XLA ends the process when a result cannot be allocated",
    "StatelessTruncatedNormal": "XLA ends the process when a result cannot be allocated",
    "Tile": "XLA ends the process when a result cannot be allocated",
    "TruncatedNormal": "XLA ends the process when a result cannot be allocated",
    "UnsortedSegmentJoin": "a number of segments of any size",
}

# As above, by what their text has in it.
KNOWN_TEXTS: dict[str, str] = {
    ", in output_types\n": "an attribute decides how many tensors a node has",
}


def is_known(finding: str) -> bool:
    return any(text in finding for text in KNOWN_TEXTS)


def is_left_out(op: str) -> bool:
    return op in KNOWN or op in BY_DESIGN or op.startswith(tuple(BY_DESIGN_PREFIXES))
