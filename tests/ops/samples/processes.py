"""Collectives: what one process, or one device, alone can show of them is next to nothing."""

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
SAMPLES += [
    skip(name, "inside of one program over several devices; checked in tests/runtime")
    for name in (
        "_ReplicaAllToAll _ReplicaCollectiveReduce _ReplicaGather _ReplicaGroupSum _ReplicaPermute"
        " _ReplicaReduce _ReplicaSum _ReplicaValue"
    ).split()
]
