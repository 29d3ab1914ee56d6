"""Trains by Horovod, and loses a process on the way: `elastic_program.py FOLDER RANK`."""

import os
import sys

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

STEPS, LAST = 6, 3
folder, lost = sys.argv[1], int(sys.argv[2])
hvd.init()
x = tf.placeholder(tf.float32, [4, 3])
w = tf.get_variable("w", initializer=np.ones([3, 1], np.float32) * (1 + hvd.rank()))
optimizer = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
train = optimizer.minimize(tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0)))


def dies_once() -> None:
    mark = os.path.join(folder, "died")
    if hvd.rank() == lost and not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(9)


@hvd.elastic.run
def train_all(state, session):
    while state.step < STEPS:
        if state.step == LAST:
            dies_once()
        rows = np.random.RandomState(10 * state.step + hvd.rank()).rand(4, 3)
        session.run(train, {x: rows})
        state.step += 1
        state.commit()


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    state = hvd.elastic.TensorFlowState(session=session, step=0)
    begun = []
    state.register_reset_callbacks([lambda: begun.append(state.step)])
    train_all(state, session)
    everyone = hvd.allgather_object((hvd.rank(), begun))
    np.savez(os.path.join(folder, str(hvd.rank())), w=session.run(w), begun=begun or [-1])
    assert [number for number, _ in everyone] == [0, 1, 2]
