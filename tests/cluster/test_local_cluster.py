from __future__ import annotations

import weft as tf


def test_a_cluster_for_a_test() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    workers, ps = tf.test.create_local_cluster(2, 1, worker_config=config)
    try:
        assert (len(workers), len(ps)) == (2, 1)
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0)
        with tf.device("/job:worker/task:1/cpu:1"):
            y = v + 1.0
        with tf.Session(workers[0].target) as sess:
            names = [device.name for device in sess.list_devices()]
            assert sum("/job:worker" in name for name in names) == 4
            sess.run(v.initializer)
            assert sess.run(y) == 2
    finally:
        for server in [*workers, *ps]:
            server.stop()
