"""What the other programs of this folder that need a cluster begin with."""

from __future__ import annotations

import json
import os

import weft as tf


def start() -> tuple[tf.train.Server, tf.train.ClusterSpec, str, int]:
    """(the server of this process, the cluster, the job and the number of its task), from what
    `weft launch` has put into the environment."""
    config = json.loads(os.environ["TF_CONFIG"])
    job, index = config["task"]["type"], config["task"]["index"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    return tf.train.Server(cluster, job, index), cluster, job, index
