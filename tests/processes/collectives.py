"""Programs that every process of a group runs."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from weft.core.processes import place
from weft.runtime.xla.processes import join

ops = tf.raw_ops


def every_collective() -> dict[str, list[Any]]:
    """Each collective, on the numbers 0 to 3 plus the rank, in three steps: by name, all steps.

    The step of the first process has more in it than those of the others.
    """
    me = place()
    join(me)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4])
        found = _collectives(x, me.rank, me.size)
        more = [tf.reduce_sum(found["gather"])] if me.rank == 0 else []
        with tf.Session() as session:
            steps = [
                session.run([found, more], {x: np.arange(4) + me.rank + step})[0]
                for step in range(3)
            ]
    return {name: [step[name] for step in steps] for name in found}


def _collectives(x: Any, rank: int, size: int) -> dict[str, Any]:
    group = dict(group_size=size, group_key=1)
    reduce = dict(subdiv_offsets=[0], **group)
    everyone = [list(range(size))]
    mean = ops.CollectiveReduce(
        input=x * 2, instance_key=9, merge_op="Add", final_op="Div", **reduce
    )
    whole = tf.cast(x, tf.int32) - 3
    found = {
        "mean": mean,
        "product": ops.CollectiveReduce(
            input=x + 1, instance_key=2, merge_op="Mul", final_op="Id", **reduce
        ),
        "most": ops.CollectiveReduce(
            input=x, instance_key=3, merge_op="Max", final_op="Id", **reduce
        ),
        "least": ops.CollectiveReduce(
            input=x, instance_key=4, merge_op="Min", final_op="Id", **reduce
        ),
        "whole": ops.CollectiveReduce(
            input=whole, instance_key=5, merge_op="Add", final_op="Div", **reduce
        ),
        "half": ops.CollectiveReduce(
            input=tf.cast(x, tf.half), instance_key=6, merge_op="Add", final_op="Id", **reduce
        ),
        "gather": ops.CollectiveGather(input=x + mean, instance_key=7, shape=[4 * size], **group),
        "sum": ops.CrossReplicaSum(input=x, group_assignment=everyone),
        "exchange": ops.AllToAll(
            input=x, group_assignment=everyone, concat_dimension=0, split_dimension=0,
            split_count=size,
        ),
        "ring": ops.CollectivePermute(
            input=x, source_target_pairs=[[i, (i + 1) % size] for i in range(size)]
        ),
    }  # fmt: skip
    shaped = dict(instance_key=8, shape=[4], **group)
    if rank == 0:
        found["sent"] = ops.CollectiveBcastSend(input=-x, **shaped)
    else:
        found["sent"] = ops.CollectiveBcastRecv(T=tf.float32, **shaped)
    return found
