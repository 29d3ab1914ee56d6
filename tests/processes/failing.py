"""Processes of which one ends in the middle."""

from __future__ import annotations

import os

import weft as tf
from weft.lib.horovod import tensorflow as hvd


def _steps(last: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        total = hvd.allreduce(tf.random_uniform([8]), average=False)
        for _ in range(last):
            session.run(total)


def one_is_killed() -> None:
    """The last process is gone after two steps; what the others raise is their result."""
    hvd.init()
    if hvd.rank() == hvd.size() - 1:
        _steps(2)
        os._exit(9)
    _steps(1000)


def one_raises() -> None:
    """The last process stops by an error of its own."""
    hvd.init()
    if hvd.rank() == hvd.size() - 1:
        _steps(2)
        raise ValueError("this one has a mistake")
    _steps(1000)
