"""Trains by Horovod while processes come and go: `elastic_program.py FOLDER EVENT ...`.

When the group has met and made two steps, the next EVENT happens, because of which it has to meet
again; two steps after the last one it is over. `kill:RANK` kills the process of that rank, once;
`room:N` says, for the script that tells the launcher, that there is room for N processes.
"""

import os
import signal
import sys
import time

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

STEPS, MOST = 2, 2000
folder, events = sys.argv[1], sys.argv[2:]
hvd.init()
x = tf.placeholder(tf.float32, [4, 3])
w = tf.get_variable("w", initializer=np.ones([3, 1], np.float32) * (1 + hvd.rank()))
optimizer = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
train = optimizer.minimize(tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0)))


def happen(event, number):
    """The first process to come here makes it happen; a kill is for one of them."""
    mark = os.path.join(folder, f"event{number}")
    name, _, value = event.partition(":")
    if os.path.exists(mark) or hvd.rank() != (int(value) if name == "kill" else 0):
        return
    open(mark, "w").close()
    if name == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    with open(os.path.join(folder, "room.new"), "w") as file:
        file.write(f"localhost:{value}\n")
    os.rename(file.name, os.path.join(folder, "room"))


@hvd.elastic.run
def train_all(state, session):
    state.met = [*state.met, len(state.sizes)]
    while True:
        step = len(state.sizes)
        if step >= state.met[-1] + STEPS:
            if len(state.met) > len(events):
                return
            happen(events[len(state.met) - 1], len(state.met) - 1)
            time.sleep(0.1)
        assert step < MOST
        rows = np.random.RandomState(10 * step + hvd.rank()).rand(4, 3)
        session.run(train, {x: rows})
        state.sizes = [*state.sizes, hvd.size()]
        state.commit()


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    state = hvd.elastic.TensorFlowState(session=session, sizes=[], met=[])
    begun = []
    state.register_reset_callbacks([lambda: begun.append(len(state.sizes))])
    train_all(state, session)
    assert hvd.allgather_object(hvd.rank()) == list(range(hvd.size()))
    found = {"w": session.run(w), "sizes": state.sizes, "met": state.met, "begun": begun or [-1]}
    np.savez(os.path.join(folder, str(hvd.rank())), **found)
