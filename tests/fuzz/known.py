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
KNOWN: dict[str, str] = {}

# As above, by what their text has in it.
KNOWN_TEXTS: dict[str, str] = {}


def is_known(finding: str) -> bool:
    return any(text in finding for text in KNOWN_TEXTS)


def is_left_out(op: str) -> bool:
    return op in KNOWN or op in BY_DESIGN or op.startswith(tuple(BY_DESIGN_PREFIXES))
