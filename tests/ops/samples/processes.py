"""Collectives between processes: what one process alone can show of them is next to nothing."""

from tests.ops.sample import skip

_CHECKED = "between processes; checked in tests/processes"
SAMPLES = [
    skip(name, _CHECKED)
    for name in (
        "AllToAll CollectivePermute CrossReplicaSum _AllToAll _CollectiveBcastRecv"
        " _CollectiveBcastSend _CollectiveGather _CollectivePermute _CollectiveReduce"
        " _CrossReplicaSum"
    ).split()
]
